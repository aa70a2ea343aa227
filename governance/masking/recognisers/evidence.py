"""What makes a shape count: the words around it, its check digits, a structure that nothing else has.

Theory. A passing checksum alone is weak evidence: one in ten of all numbers of a length passes. So a number found by
its shape alone scores below the threshold, with its check digits a little more, and only words beside it lift it over:
words of its own kind ("Steuer-ID", "주민번호") more than words that several countries share ("passport number"). Where
both stand, the own words decide between countries. A word does not count when another label stands between it and the
number ("passport ... order 123456789"), nor one behind it where such a label stands right before. Words are looked for
in the characters around the match, not in tokens: Korean particles stick to a word ("주민번호는"), labels have several
words, and field names join them (``passport_number``). A number ends where a particle begins (``4111로``), unless its
shape itself has letters of a script that writes them together. A few structures are sure by themselves (``Sure``), and
say so in the table that lists them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from presidio_analyzer import EntityRecognizer, LocalRecognizer, RecognizerResult

from governance.masking.profile import UNSPACED, TextProfile, lower, parted
from governance.masking.weights import weigh

_BEFORE: Final = 48
_AFTER: Final = 26
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_JOINED: Final = re.compile(f"[{UNSPACED}]")
_OTHER: Final = re.compile(
    r"(?<![^\W_])(?:orders?|tracking|parcel|invoice|ticket|reservation|booking|confirmation|serial|page|flight|item|"
    r"product|sku|version|timestamp|epoch|created|updated|trace|span|request)(?![^\W\d_])|주문|송장|운송장|예약|접수"
)
_LABELLED: Final = re.compile(
    rf"(?:{_OTHER.pattern})(?:[\s_\-]+(?:number|num|no|nr|id|code|ref|reference|is)|\s?번호|[은는이가])*[\s:#=.\"']*$"
)
"""What is labelled as something else, right before a number."""


def is_labelled(text: str, start: int) -> bool:
    """Whether what begins there is labelled as something else, in a text in lower case."""
    return _LABELLED.search(text[max(0, start - _BEFORE) : start]) is not None


Sure = Callable[[str, bool], float | None]
"""From the matched text and whether its check digits are valid to the score it has by itself, or None."""


@dataclass(frozen=True)
class Words:
    """Words that may stand beside a number, as they stand in texts and in field names, in lower case."""

    pattern: re.Pattern[str]
    heads: frozenset[str]
    """The letters that a word begins with: one of them is a run of letters of every text with a word."""
    parts: tuple[str, ...]
    """The same for the scripts that write words together, where it may stand inside a run."""

    @classmethod
    def of(cls, listed: Iterable[str]) -> Words:
        """From the words, in any case."""
        every = sorted({lower(word.strip()) for word in listed if word.strip()}, key=lambda word: (-len(word), word))
        spelled = [one for word in every for one in _spellings(word)]
        return cls(
            pattern=re.compile("|".join(map(_expression, spelled)) or r"(?!)"),
            heads=frozenset(_LETTERS.match(word).group() for word in spelled if not _JOINED.search(word)),  # type: ignore[union-attr]
            parts=tuple(sorted({re.split(r"[\s_\-]+", word)[0] for word in spelled if _JOINED.search(word)})),
        )

    @classmethod
    def parted(cls, line: str) -> Words:
        """From one line, parted by semicolons."""
        return cls.of(line.split(";"))

    def may_stand_in(self, profile: TextProfile) -> bool:
        """False only where none of the words is in the text."""
        return not self.heads.isdisjoint(profile.words) or any(part in profile.text for part in self.parts)

    def beside(self, text: str, start: int, end: int) -> bool:
        """Whether one stands right before or behind, in a text in lower case, and no other label in between."""
        before = text[max(0, start - _BEFORE) : start]
        last = max((match.end() for match in self.pattern.finditer(before)), default=-1)
        if last >= 0 and not _OTHER.search(before, last):
            return True
        after = text[end : end + _AFTER]
        behind = self.pattern.search(after)
        if behind is None or re.search(r"\d|\n", after[: behind.start()]):
            return False
        return not _LABELLED.search(before)


def _spellings(word: str) -> list[str]:
    """The word, and its parts written together."""
    together = re.sub(r"[\s_\-]+", "", word)
    return [word] if together == word else [word, together]


def _expression(word: str) -> str:
    body = r"[\s_\-.]+".join(re.escape(part) for part in re.split(r"[\s_\-]+", word) if part)
    return body if _JOINED.search(word) else rf"(?<![^\W_]){body}(?![^\W\d_])"


class Evidenced(LocalRecognizer):  # type: ignore[misc] # Presidio's types are not followed
    """Another recogniser's matches, each with the score that its evidence gives it."""

    def __init__(
        self, inner: EntityRecognizer, own: Iterable[str], shared: Iterable[str] = (), sure: Sure | None = None
    ) -> None:
        """``inner`` knows shapes and check digits; its score 1.0 says that the check digits are valid."""
        super().__init__(
            supported_entities=inner.supported_entities, supported_language="en", name=type(inner).__name__
        )
        self.inner, self._own, self._shared, self._sure = inner, Words.of(own), Words.of(shared), sure
        self._read = str if any(_JOINED.search(one.regex) for one in getattr(inner, "patterns", ())) else parted

    def counts(self, profile: TextProfile) -> bool:
        """False only where nothing in the text can score more than a shape does."""
        return self._sure is not None or self._own.may_stand_in(profile) or self._shared.may_stand_in(profile)

    def load(self) -> None:
        """Nothing to load."""

    def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = None) -> list[Any]:
        """The matches, each at its score."""
        found: list[Any] = self.inner.analyze(self._read(text), entities, nlp_artifacts) or []
        lowered = lower(text) if found else ""
        for result in found:
            result.score = self._score(lowered, result)
            result.recognition_metadata = {
                RecognizerResult.RECOGNIZER_NAME_KEY: self.name,
                RecognizerResult.RECOGNIZER_IDENTIFIER_KEY: self.id,
            }
        return found

    def is_told(self, text: str, result: Any) -> bool:
        """Whether a word stands beside a match, in a text in lower case."""
        return any(one.beside(text, result.start, result.end) for one in (self._own, self._shared))

    def _score(self, text: str, result: Any) -> float:
        """The score of a match in a text in lower case."""
        checked = result.score >= EntityRecognizer.MAX_SCORE
        own = self._own.beside(text, result.start, result.end)
        shared = not own and self._shared.beside(text, result.start, result.end)
        score = weigh(result.score, checked=checked, own=own, shared=shared)
        by_itself = self._sure(text[result.start : result.end], checked) if self._sure else None
        return score if by_itself is None else max(score, by_itself)
