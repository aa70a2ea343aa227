"""A GLiNER model: told in words what to look for, through the package ``gliner`` where it is installed.

Theory. GLiNER reads a bounded number of words (``max_len`` of its configuration) and drops the rest, so a text is cut
by GLiNER's own idea of a word into windows of half of that, which share words; the same finding of two windows is one.
Its places are those of the window, and so of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any, Final

from governance.errors import MaskingError
from governance.masking.model_folder import ModelFolder
from governance.masking.recognisers.heavier import Tagger
from governance.masking.spans import THRESHOLD, Hit, resolve
from governance.masking.token_spans import DIGITS

BATCH: Final = 8
"""Windows that are read together."""
LONGEST: Final = 384
"""Words that a model reads whose configuration does not say so."""
SHARED: Final = 32
"""Words that stand in two windows; a quarter of a window that is short."""
_WORD: Final = re.compile(r"\w+(?:[-_]\w+)*|\S")


class GlinerTagger(Tagger):
    """The model, loaded."""

    def __init__(self, folder: ModelFolder) -> None:
        """Read it from the folder alone."""
        if find_spec("gliner") is None:
            raise MaskingError(f"{folder.path} holds a GLiNER model, and the package gliner is not installed")
        from gliner import GLiNER

        self._model: Any = GLiNER.from_pretrained(str(folder.path), local_files_only=True)
        self._model.eval()
        self._types = dict(folder.types)
        self._asked = [label for label in folder.labels if self._types[label]]
        self._words = max(4, int(getattr(self._model.config, "max_len", None) or LONGEST) // 2)

    def tag(self, texts: Sequence[str]) -> list[list[Hit]]:
        """What it sees in each text."""
        windows = [(owner, *window) for owner, text in enumerate(texts) for window in _windows(text, self._words)]
        found: list[list[Hit]] = [[] for _ in texts]
        for first in range(0, len(windows), BATCH):
            chosen = windows[first : first + BATCH]
            said = self._model.inference([part for _, _, part in chosen], self._asked, threshold=THRESHOLD)
            for (owner, start, _), ones in zip(chosen, said, strict=True):
                found[owner] += [self._hit(one, start) for one in ones]
        return [list(resolve(hits)) for hits in found]

    def _hit(self, one: dict[str, Any], start: int) -> Hit:
        entity = self._types[one["label"]]
        return Hit(start + one["start"], start + one["end"], entity, round(float(one["score"]), DIGITS))


def _windows(text: str, size: int) -> Iterator[tuple[int, str]]:
    """Parts of a text of bounded words, each with its place."""
    words = [match.span() for match in _WORD.finditer(text)]
    step = size - min(SHARED, size // 4)
    for first in range(0, len(words), step):
        last = min(first + size, len(words))
        yield words[first][0], text[words[first][0] : words[last - 1][1]]
        if last == len(words):
            return
