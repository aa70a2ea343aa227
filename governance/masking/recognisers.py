"""The recognisers, explicit: what Presidio's registry would load by default is not relied on.

Theory. A shape alone is weak evidence and scores below the threshold; a context word beside it (Presidio's enhancer) or
a structure that only such values have (grouping, country code, checksum together with grouping) lifts it over. So a
10-digit page id that happens to be a valid phone number stays, and so does a 16-digit id that passes Luhn.
This module imports Presidio and is imported when an engine is loaded, not before.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from typing import Any, Final

from presidio_analyzer import EntityRecognizer, LocalRecognizer, Pattern, PatternRecognizer, RecognizerResult
from presidio_analyzer.predefined_recognizers import (
    CreditCardRecognizer,
    IbanRecognizer,
    IpRecognizer,
    KrRrnRecognizer,
    PhoneRecognizer,
    SpacyRecognizer,
    UsSsnRecognizer,
)

from governance.masking import words

_MONTH: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE: Final = re.compile(
    r"\b(?:(?:19|20)\d{2}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:19|20)?\d{2}|"
    rf"{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+(?:19|20)\d{{2}}|"
    rf"\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH},?\s+(?:19|20)\d{{2}})\b",
    re.IGNORECASE,
)
_BIRTH: Final = re.compile(r"\b(?:born|birth|birthday|birthdate|dob|d\.o\.b)\b|생년월일", re.IGNORECASE)
_STREET: Final = (
    r"(?-i:\b\d{1,5}[A-Za-z]?\s+(?:[NSEW]\.?\s+)?(?:[A-Z][\w'\u2019]*\s+){1,3}"
    r"(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Way|Court|Ct|Place|Pl|Row|Square|Sq|Terrace|"
    r"Close|Parkway|Pkwy|Highway|Hwy)\b\.?(?:,?\s+(?:Apt|Suite|Unit|Flat)\.?\s*#?\w+)?(?:,\s+[A-Z][a-z]+(?:\s[A-Z][a-z]+)?)?)"
)
_CAPITAL: Final = r"[A-Z][^\W\d_]*(?:['\u2019\-][^\W\d_]+)*\.?"
_NAME: Final = rf"{_CAPITAL}(?:[ \u00a0]+(?:(?:de|la|van|von|der|da|del|di|bin)[ ]+)*{_CAPITAL}){{0,3}}"
_SURE: Final = re.compile(
    rf"(?:(?i:\bmy (?:full )?name is|\bname's|\bname ?:\**|\bcalled me|\bmr\.?|\bmrs\.?|\bms\.?|\bdr\.?))\s+({_NAME})"
)
_LIKELY: Final = re.compile(
    r"(?:(?i:\bthis is|\bi am|\bi['\u2019]m|\bdear|\bhello|\bhi|\bregards|\bsincerely|\bthanks|\bthank you|\bcheers|"
    rf"\bbest|\bpassengers?\b[^\w\n]{{0,6}}|\bcustomer))[,:]?\s+({_NAME})"
)
_PAIR: Final = re.compile(rf"\b({_CAPITAL})[ \u00a0]+(?:{_CAPITAL}[ \u00a0]+)?{_CAPITAL}")
_MAILBOX: Final = re.compile(r"([^\W\d_]{2,})[._-]([^\W\d_]{2,})\d*@")
_PHONE_SHAPE: Final = re.compile(r"\+?\(?\d[\d\s().\-/]{5,}\d")
_GROUPED: Final = re.compile(r"[\s().\-]")
_CONTEXT_ONLY: Final = 0.3


class GroupedCardRecognizer(CreditCardRecognizer):  # type: ignore[misc] # Presidio's types are not followed
    """Cards: Luhn with grouping is sure, Luhn without needs a context word."""

    def validate_result(self, pattern_text: str) -> bool | None:
        """False without Luhn, None (the pattern's own score) without grouping."""
        valid = super().validate_result(pattern_text)
        return (True if _GROUPED.search(pattern_text) else None) if valid else False


class GroupedPhoneRecognizer(PhoneRecognizer):  # type: ignore[misc] # as above
    """Phone numbers: written as one is sure enough, bare digits need a context word."""

    def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = None) -> list[Any]:
        """Numbers that are valid in one of the regions."""
        if not _PHONE_SHAPE.search(text):
            return []
        results: list[Any] = super().analyze(text, entities, nlp_artifacts)
        for result in results:
            found = text[result.start : result.end]
            sure = found.startswith(("+", "(")) or len(re.findall(r"\d{2,}", found)) >= 3
            result.score = 0.7 if sure else _CONTEXT_ONLY
        return results


class _Finder(LocalRecognizer):  # type: ignore[misc] # as above
    """A recogniser of one entity that is a function from a text to spans."""

    entity = ""

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
            RecognizerResult(self.entity, start, end, 0.6, recognition_metadata=metadata)
            for start, end in self.spans(text)
        ]


class NameRecognizer(_Finder):
    """Names by their surroundings: how people introduce themselves, given names, and the names in mailboxes."""

    entity = "PERSON"

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Candidates; ``spans.name_spans`` drops the words that name nobody."""
        found = [match.span(1) for match in _SURE.finditer(text)]
        found += [match.span(1) for match in _LIKELY.finditer(text) if _likely(match.group(1))]
        found += [match.span() for match in _PAIR.finditer(text) if match.group(1).casefold() in words.GIVEN]
        for mailbox in _MAILBOX.finditer(text):
            pair = re.compile(rf"\b{mailbox.group(1)}\s+{mailbox.group(2)}\b", re.IGNORECASE)
            found += [match.span() for match in pair.finditer(text)]
        return found


class BirthRecognizer(_Finder):
    """Dates of birth: the first date after a word of birth, or a date with such a word right behind it."""

    entity = "DATE_OF_BIRTH"

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Dates with their context; any other date stays."""
        found, last = [], 0
        for match in _DATE.finditer(text):
            before = text[max(last, match.start() - 40) : match.start()]
            if _BIRTH.search(before) or _BIRTH.match(text[match.end() :].lstrip(" (,")):
                found.append(match.span())
            last = match.end()
        return found


def _likely(name: str) -> bool:
    """Whether words after a greeting are a name: two words in capitals, or one that is a given name."""
    return " " in name.strip() or name.casefold().strip(".") in words.GIVEN


def _pattern(entity: str, patterns: list[tuple[str, float]], context: list[str]) -> Any:
    listed = [Pattern(f"{entity} {place}", regex, score) for place, (regex, score) in enumerate(patterns)]
    return PatternRecognizer(
        supported_entity=entity, patterns=listed, context=context, supported_language="en", name=f"{entity}_pattern"
    )


def _email() -> Any:
    """Mail addresses at any host: those that no public suffix list knows are somebody's too."""
    local = r"[\w!#$%&'*+\-/=?^`{|}~]+(?:\.[\w!#$%&'*+\-/=?^`{|}~]+)*"
    return _pattern("EMAIL_ADDRESS", [(rf"{local}@\w+(?:-+\w+)*(?:\.\w+(?:-+\w+)*)+", 0.9)], ["email"])


def _user_id() -> Any:
    given = "|".join(sorted(words.GIVEN, key=lambda word: (-len(word), word)))
    shapes = [
        (rf"\b(?:{given})_[a-z]+_\d{{4,6}}\b", 0.6),
        (r"\b[a-z]+_[a-z]+_\d{4,5}\b", 0.1),
        (
            r"(?:(?<=user id is )|(?<=user id: ))(?-i:[\w.\-]*[a-z][\w\-]*\d)|(?<=username is )[\w.\-]*\w",
            0.6,
        ),
    ]
    return _pattern("USER_ID", shapes, ["user", "username", "userid", "user_id", "login", "account", "profile"])


def build() -> list[EntityRecognizer]:
    """All recognisers, for English texts and for numbers in any."""
    phone_words = ["phone", "telephone", "tel", "cell", "cellphone", "mobile", "call", "fax", "sms", "whatsapp"]
    card_words = ["card", "credit", "debit", "visa", "mastercard", "amex", "discover", "cc", "charge", "pay", "payment"]
    return [
        SpacyRecognizer(supported_entities=["PERSON", "LOCATION", "ORGANIZATION"]),
        NameRecognizer(),
        _email(),
        GroupedPhoneRecognizer(supported_regions=("US", "GB", "DE", "FR", "KR", "JP"), context=phone_words),
        GroupedCardRecognizer(context=card_words),
        IbanRecognizer(),
        UsSsnRecognizer(),
        IpRecognizer(),
        KrRrnRecognizer(supported_language="en", context=["rrn", "resident", "주민번호", "주민등록번호"]),
        BirthRecognizer(),
        _user_id(),
        _pattern("LOCATION", [(_STREET, 0.6)], ["address", "street", "live"]),
    ]
