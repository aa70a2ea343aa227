"""Finds the personal values of a text: explicit recognisers behind one engine, and rules that keep data whole.

Theory. One pass per distinct text, in batches, with only the parts of the language model that names need (tokens and
entities; the parser and tagger cost half the time and decide nothing here). Three kinds of text differ in what a guess
may do: in ``TEXT`` (somebody's words) the model's names count; in ``FIELD`` (a value of several words in a JSON field
that nothing marks as personal) they count only with a known given name; in ``CODE`` (one word in such a field) only
patterns count, so that identifiers, codes and enums survive byte for byte (``settling``). Only the recognisers that
can find something in a text are asked (``Listed.may_find``), and the language model reads a text only when one of them
needs it. A long text is cut and a large batch is read in parts, so memory is bounded by a part. Any error inside a
detector is a ``MaskingError``: nothing goes on unmasked.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, NamedTuple

from governance.errors import MaskingError
from governance.masking.profile import TextProfile, plain
from governance.masking.settling import GUESSED, general, settle, settle_name
from governance.masking.spans import PROTECTED, Hit, resolve

BATCH: Final = 64
"""Texts that the language model reads together."""
LONGEST: Final = 100_000
"""Characters of one analysis, and of one reading: a longer text is cut, so memory stays bounded."""
OVERLAP: Final = 400
"""Characters that stand in both parts of a cut text, so that no value is lost at the cut."""
_LONE: Final = re.compile("[\ud800-\udfff]")
"""Halves of surrogate pairs: no text, and nothing can encode them."""


class TextKind(StrEnum):
    """What a text is, and so how much a guess may do to it."""

    TEXT = "text"
    FIELD = "field"
    CODE = "code"
    NUMBERING = "numbering"
    """Four numbers in a field that holds a version or a section: an address by their look alone."""
    NAME = "name"
    """The name of a field, which is a value by exception (``field_names``)."""


_STRICT: Final = frozenset({TextKind.FIELD, TextKind.NAME})
"""What is data, where names need known ones."""


class TextDetector(ABC):
    """Finds personal values in texts, wherever the work is done."""

    @abstractmethod
    def find(self, texts: Sequence[tuple[str, TextKind]]) -> list[tuple[Hit, ...]]:
        """The findings of each text, without overlap, in order.

        Raises:
            MaskingError: when a detector cannot be loaded, fails, or takes too long; nothing is found then.

        """

    def load(self) -> None:  # noqa: B027 - nothing to load is a good answer
        """Load what it needs; without it the first text waits for that."""

    def close(self) -> None:  # noqa: B027 - nothing to end is a good answer
        """Give back what it holds."""


class _Piece(NamedTuple):
    """A part of a text that is analysed at once."""

    place: int
    """Which text it is of."""
    start: int
    text: str
    kind: TextKind
    asked: list[Any]
    """The listed recognisers that can find something in it."""


class Detector(TextDetector):
    """The recognisers in this process, loaded once on first use."""

    def __init__(self, *, prefilter: bool = True, model: Path | None = None) -> None:
        """``model`` is the folder of a heavier model, beside what is here anyway.

        ``prefilter=False`` asks every recogniser about every text: it exists to prove the filter changes nothing.
        """
        self._prefilter = prefilter
        self._model = model
        self._engine: Any = None

    def find(self, texts: Sequence[tuple[str, TextKind]]) -> list[tuple[Hit, ...]]:
        """The findings of each text, without overlap, in order."""
        try:
            self.load()
            return self._analyse(texts)
        except MaskingError:
            raise
        except Exception as error:
            raise MaskingError(f"a detector failed ({type(error).__name__}); nothing was masked") from error

    def candidates(self, text: str, *, floor: float = 0.0) -> tuple[Hit, ...]:
        """Every match of every recogniser that scores more than ``floor``, overlapping, before any rule of this module.

        A shape without words beside it scores below the threshold and is no finding; here it is seen.

        Raises:
            MaskingError: when a detector cannot be loaded or fails.

        """
        try:
            self.load()
            [artifacts] = self._engine.read([plain(text)], 1)
            results = self._engine.analyze(plain(text), artifacts, self._engine.listed, floor=floor)
        except Exception as error:
            raise MaskingError(f"a detector failed ({type(error).__name__})") from error
        hits = {Hit(one.start, one.end, general(one.entity_type), one.score) for one in results}
        return tuple(sorted(hits, key=lambda hit: (hit.start, -hit.end, hit.entity_type)))

    def load(self) -> None:
        """Load the recognisers and the model; without it the first text waits for that."""
        if self._engine is None:
            from governance.masking.engine import Engine

            self._engine = Engine(self._model)

    def _analyse(self, texts: Sequence[tuple[str, TextKind]]) -> list[tuple[Hit, ...]]:
        found: list[list[Hit]] = [[] for _ in texts]
        for part in _parts(self._pieces(texts)):
            for piece, artifacts in self._read(part):
                hits = self._judge(piece.text, artifacts, piece.kind, piece.asked)
                at = piece.start
                found[piece.place] += [Hit(hit.start + at, hit.end + at, hit.entity_type, hit.score) for hit in hits]
        return [resolve(hits) for hits in found]

    def _pieces(self, texts: Sequence[tuple[str, TextKind]]) -> Iterator[_Piece]:
        for place, (whole, kind) in enumerate(texts):
            for start, text in _cuts(plain(_LONE.sub("\ufffd", whole))):
                if asked := self._asked(text, kind):
                    yield _Piece(place, start, text, kind, asked)

    def _read(self, part: Sequence[_Piece]) -> Iterator[tuple[_Piece, Any]]:
        """Each piece with what the language model says about it; most need its tokens only.

        What reads many texts together has read the part when its first piece is given.
        """
        deep = [place for place, piece in enumerate(part) if self._is_deep(piece)]
        made = dict(zip(deep, self._engine.read([part[place].text for place in deep], BATCH), strict=True))
        self._engine.read_ahead([(piece.text, piece.asked) for piece in part])
        for place, piece in enumerate(part):
            yield piece, made.get(place) or self._engine.language.tokens_only(piece.text)

    def _is_deep(self, piece: _Piece) -> bool:
        """Whether the language model must read it: guesses count in it, and it can hold one."""
        return _guesses(piece.text, piece.kind) and any(
            GUESSED & set(one.recogniser.supported_entities) for one in piece.asked
        )

    def _asked(self, text: str, kind: TextKind) -> list[Any]:
        """The recognisers that can find something in the text."""
        listed: list[Any] = self._engine.listed
        if not self._prefilter:
            return listed
        if PROTECTED.fullmatch(text):
            return []
        profile = TextProfile(text)
        code = not _guesses(text, kind)
        return [one for one in listed if not (code and one.words_only) and one.may_find(profile)]

    def _judge(self, text: str, artifacts: Any, kind: TextKind, asked: list[Any]) -> tuple[Hit, ...]:
        hits = [
            Hit(one.start, one.end, one.entity_type, one.score) for one in self._engine.analyze(text, artifacts, asked)
        ]
        if kind is TextKind.NUMBERING:
            hits = [hit for hit in hits if hit.entity_type != "IP_ADDRESS"]
        found = settle(text, hits, guesses=_guesses(text, kind), strict=kind in _STRICT)
        return settle_name(text, found) if kind is TextKind.NAME else found


def _guesses(text: str, kind: TextKind) -> bool:
    """Whether guesses count; of the names of fields, where they are several words."""
    return any(map(str.isspace, text)) if kind is TextKind.NAME else kind is not TextKind.CODE


def _parts(pieces: Iterator[_Piece]) -> Iterator[list[_Piece]]:
    """The pieces in parts of bounded size."""
    part: list[_Piece] = []
    size = 0
    for piece in pieces:
        if part and (size + len(piece.text) > LONGEST or len(part) >= 8 * BATCH):
            yield part
            part, size = [], 0
        part.append(piece)
        size += len(piece.text)
    if part:
        yield part


def _cuts(text: str) -> Iterator[tuple[int, str]]:
    """The text in pieces of bounded length that overlap, cut at white space where there is any."""
    start = 0
    while len(text) - start > LONGEST:
        end = _space(text, start + LONGEST - OVERLAP, start + LONGEST)
        yield start, text[start:end]
        start = _space(text, end - OVERLAP, end - OVERLAP // 2)
    yield start, text[start:]


def _space(text: str, low: int, high: int) -> int:
    """Behind the last white space between ``low`` and ``high``, or ``high``."""
    return max((place + 1 for place in range(low, high) if text[place].isspace()), default=high)
