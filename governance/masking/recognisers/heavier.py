"""An optional heavier model from a local folder, as one more recogniser.

Theory. The folder says which library reads it (``model_folder``); nothing is ever downloaded, and a folder that cannot
be used is an error when the detectors are loaded, never a detector that quietly finds nothing. Presidio's own
recognisers for such models answer a failed prediction with no findings and look models up on the internet, so they are
not used. All texts of a part are read together, ahead, and kept until the next part. Types come marked: ``modelled``
says what they count for.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from presidio_analyzer import RecognizerResult

from governance.errors import MaskingError
from governance.masking.model_folder import Kind, ModelFolder
from governance.masking.modelled import MARK
from governance.masking.profile import TextProfile
from governance.masking.recognisers.kit import Listed, Reader
from governance.masking.spans import Hit

_LONE: Final = re.compile("[\ud800-\udfff]")


class Tagger(ABC):
    """A model that is loaded."""

    @abstractmethod
    def tag(self, texts: Sequence[str]) -> list[list[Hit]]:
        """What it sees in each text, by places in the text; no text has a half of a surrogate pair."""


class HeavierRecognizer(Reader):
    """What the model of a folder finds."""

    def __init__(self, folder: ModelFolder) -> None:
        """The model is loaded at once, so that one that cannot be used is known before the first text."""
        self._folder = folder
        self._tagger: Tagger
        self._ahead: dict[str, list[Hit]] = {}
        super().__init__(
            supported_entities=[MARK + entity for entity in folder.entities],
            supported_language="en",
            name=type(self).__name__,
        )

    def load(self) -> None:
        """Load it; called when the recogniser is made."""
        _stay_offline()
        try:
            self._tagger = self._made()
        except MaskingError:
            raise
        except Exception as error:
            kind, path = self._folder.kind.value, self._folder.path
            raise MaskingError(f"{kind} cannot load the model in {path} ({type(error).__name__}: {error})") from error

    def _made(self) -> Tagger:
        if self._folder.kind is Kind.GLINER:
            from governance.masking.recognisers.heavier_gliner import GlinerTagger

            return GlinerTagger(self._folder)
        from governance.masking.recognisers.heavier_tokens import TokenTagger

        return TokenTagger(self._folder)

    def read(self, texts: Sequence[str]) -> None:
        """Read these, and forget what was read before."""
        wanted = list(dict.fromkeys(texts))
        self._ahead = dict(zip(wanted, self._tagger.tag([_LONE.sub("\ufffd", text) for text in wanted]), strict=True))

    def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = None) -> list[Any]:  # noqa: ARG002 - Presidio's
        """Its findings in the text, read ahead or now."""
        hits = self._ahead.get(text)
        if hits is None:
            [hits] = self._tagger.tag([_LONE.sub("\ufffd", text)])
        metadata = {
            RecognizerResult.RECOGNIZER_NAME_KEY: self.name,
            RecognizerResult.RECOGNIZER_IDENTIFIER_KEY: self.id,
        }
        return [
            RecognizerResult(MARK + hit.entity_type, hit.start, hit.end, hit.score, recognition_metadata=dict(metadata))
            for hit in hits
        ]


def _stay_offline() -> None:
    """No library that a model is read with asks its hub for anything, whatever the environment says."""
    from huggingface_hub import constants

    constants.HF_HUB_OFFLINE = True


def _has_letter_or_digit(profile: TextProfile) -> bool:
    return any(map(str.isalnum, profile.text))


def build(model: Path) -> list[Listed]:
    """The recogniser of a folder.

    Raises:
        MaskingError: when the folder holds no model that can be used.

    """
    return [Listed(HeavierRecognizer(ModelFolder.read(model)), _has_letter_or_digit, words_only=True)]
