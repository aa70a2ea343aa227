"""What recognisers are made of: an entry with the cheap test that says where it can find anything, and two makers.

Theory. Most texts hold nothing that most recognisers look for, and asking each of them is what detection costs. So
every recogniser is listed with a necessary condition on a few facts of the text (``TextProfile``): where it is false,
the recogniser is certain to find nothing that reaches the threshold, and is not asked. A test proves each condition:
what is found with the conditions is what is found without them.
This package imports Presidio and is imported when an engine is loaded, not before.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from presidio_analyzer import EntityRecognizer, LocalRecognizer, Pattern, PatternRecognizer, RecognizerResult

from governance.masking.profile import TextProfile, parted

CONTEXT_ONLY: Final = 0.3
"""The score of a shape that counts with a context word only."""


def always(profile: TextProfile) -> bool:  # noqa: ARG001 - the condition of a recogniser without one
    """No condition."""
    return True


def never(profile: TextProfile) -> bool:  # noqa: ARG001 - the same
    """Of a recogniser whose matches are candidates and never reach the threshold."""
    return False


@dataclass(frozen=True)
class Listed:
    """A recogniser, and where it can find anything."""

    recogniser: EntityRecognizer
    may_find: Callable[[TextProfile], bool] = always
    """False only where the recogniser is certain to find nothing that reaches the threshold."""
    words_only: bool = False
    """Whether what it finds counts for nothing in a value of one word, so that it is not asked about those."""


class Reader(LocalRecognizer):  # type: ignore[misc] # Presidio's types are not followed
    """A recogniser that reads many texts together, ahead of being asked about each of them."""

    @abstractmethod
    def read(self, texts: Sequence[str]) -> None:
        """Read these, and forget what was read before."""


class Parting(EntityRecognizer):  # type: ignore[misc] # Presidio's types are not followed
    """Before one of Presidio's: its values end where a particle of Korean or Japanese begins."""

    def analyze(self, text: str, *args: Any, **kwargs: Any) -> Any:
        """The values as results."""
        return super().analyze(parted(text), *args, **kwargs)


class Finder(LocalRecognizer):  # type: ignore[misc] # Presidio's types are not followed
    """A recogniser of one entity that is a function from a text to spans."""

    entity = ""
    score = 0.6

    def __init__(self) -> None:
        """For English."""
        super().__init__(supported_entities=[self.entity], supported_language="en", name=type(self).__name__)

    def load(self) -> None:
        """Nothing to load."""

    @abstractmethod
    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where the entity stands."""

    def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = None) -> list[Any]:  # noqa: ARG002 - Presidio's
        """The spans as results."""
        metadata = {
            RecognizerResult.RECOGNIZER_NAME_KEY: self.name,
            RecognizerResult.RECOGNIZER_IDENTIFIER_KEY: self.id,
        }
        return [
            RecognizerResult(self.entity, start, end, self.score, recognition_metadata=metadata)
            for start, end in self.spans(text)
        ]


def pattern(entity: str, patterns: list[tuple[str, float]], context: list[str]) -> Any:
    """A recogniser of shapes, each with its score, that context words lift."""
    listed = [Pattern(f"{entity} {place}", regex, score) for place, (regex, score) in enumerate(patterns)]
    return PatternRecognizer(
        supported_entity=entity, patterns=listed, context=context, supported_language="en", name=f"{entity}_pattern"
    )
