"""What describes people without naming them: titles, ages, dates and times, postal codes on their own.

A policy keeps all of it unless told otherwise. Dates of birth have a recogniser of their own.
"""

from __future__ import annotations

import re
from typing import Final

from governance.masking import words
from governance.masking.profile import TextProfile
from governance.masking.recognisers import address_words
from governance.masking.recognisers.births import DATE, MONTH
from governance.masking.recognisers.kit import Finder, Listed

_CLOCK: Final = r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:\s?(?:[ap]\.?m\.?|Z|UTC|GMT|[+-]\d{2}:?\d{2}))?"
_TIMES: Final = re.compile(
    rf"{DATE.pattern}(?:[T ,]+(?:at )?{_CLOCK})?|\b(?:{_CLOCK}|\d{{1,2}}\s?[ap]\.?m\b)|"
    rf"\b{MONTH},?\s+(?:19|20)\d{{2}}\b|\b{MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?\b|\b\d{{1,2}}(?:st|nd|rd|th)?\s+{MONTH}(?!\w)|"
    r"\b(?:in|since|during|until|by|of|from|before|after|early|late|the)\s+((?:19|20)\d{2}s?)\b|"
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:19|20)\d{2}s\b",
    re.IGNORECASE,
)
_AGES: Final = re.compile(
    r"\b(\d{1,3})(?=[\s\-]?(?:years?|yrs?|months?|weeks?)?[\s\-]?old\b|\s?(?:y/?o|yrs)\b|[\s\-]year[\s\-]old)|"
    r"\b(?:aged?|turn(?:s|ed|ing)?|age (?:is|of))[: ]\s*(\d{1,3})\b(?!\s?(?:%|minutes|hours|days))",
    re.IGNORECASE,
)
_TITLES: Final = re.compile(rf"(?<!\w)((?i:{'|'.join(sorted(words.TITLES))})\.?)(?=\s+[^\W\d_])")
_POSTCODES: Final = re.compile(
    r"\b(?i:zip|zip ?code|postal ?code|post ?code)\b[\s:]*(?:(?i:is|was|to|of|number)[\s:]*)*"
    rf"({address_words.POSTCODE.pattern}|\d{{4,6}}\b)",
)


class _Describing(Finder):
    pattern: re.Pattern[str]

    def spans(self, text: str) -> list[tuple[int, int]]:
        """What the pattern's group matches, or all of it."""
        return [match.span(match.lastindex or 0) for match in self.pattern.finditer(text)]


class MomentRecognizer(_Describing):
    """Dates, times of a day, years after a word that makes them one."""

    entity = "DATE_TIME"
    pattern = _TIMES


class AgeRecognizer(_Describing):
    """Numbers that are somebody's age."""

    entity = "AGE"
    pattern = _AGES


class TitleRecognizer(_Describing):
    """Forms of address before a name."""

    entity = "TITLE"
    pattern = _TITLES


class PostalCodeRecognizer(_Describing):
    """Postal codes that are called so; inside an address they are part of it."""

    entity = "ZIP_CODE"
    pattern = _POSTCODES


def _may_date(profile: TextProfile) -> bool:
    return profile.digits >= 1 or "day" in profile.folded


def _may_number(profile: TextProfile) -> bool:
    return profile.digits >= 1


def _may_title(profile: TextProfile) -> bool:
    return any(title in profile.folded for title in words.TITLES)


def build() -> list[Listed]:
    """The finders."""
    return [
        Listed(MomentRecognizer(), _may_date),
        Listed(AgeRecognizer(), _may_number),
        Listed(TitleRecognizer(), _may_title),
        Listed(PostalCodeRecognizer(), _may_number),
    ]
