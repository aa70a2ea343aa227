"""Dates of birth: any other date stays."""

from __future__ import annotations

import re
from typing import Final

from governance.masking.profile import TextProfile
from governance.masking.recognisers.kit import Finder, Listed

MONTH: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
DATE: Final = re.compile(
    r"\b(?:(?:19|20)\d{2}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:19|20)?\d{2}|"
    rf"{MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+(?:19|20)\d{{2}}|"
    rf"\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{MONTH},?\s+(?:19|20)\d{{2}})\b",
    re.IGNORECASE,
)
_BIRTH: Final = re.compile(r"\b(?:born|birth|birthday|birthdate|dob|d\.o\.b)\b|생년월일", re.IGNORECASE)
_ELSE: Final = (
    r"(?:flights?|leav\w+|depart\w*|arriv\w+|reservations?|bookings?|book(?:ed)?|appointments?|orders?|ordered|events?|"
    r"trips?|part(?:y|ies)|gifts?|cakes?|presents?|dinner|celebrat\w+|certificates?|control|rates?|plans?|issued|"
    r"expir\w+|due|deliver\w*|ship\w*|meetings?|visit\w*|hotel|tickets?|return\w*|check[ -]?(?:in|out)|moved|joined|"
    r"married|hired|died|started|created|updated|discounts?|offers?|coupons?|vouchers?|sale)"
)
_BREAKS: Final = re.compile(
    rf"[;!?\n]|\.\s|\b(?:and|but|so|while|when|because|then|or|before|after|until|by)\b|\b{_ELSE}\b", re.IGNORECASE
)
_BEHIND: Final = re.compile(
    rf"[ (,]{{0,4}}(?:\b(?:date of )?(?:born|birth|birthday|birthdate|dob|d\.o\.b)\b|생년월일)(?!\s{_ELSE}\b)",
    re.IGNORECASE,
)
_YEAR: Final = r"(?:(?:19|20)?\d{2})"
_DAY: Final = r"(?:0?[1-9]|[12]\d|3[01])"
_MONTH_NUMBER: Final = r"(?:0?[1-9]|1[0-2])"
_PACKED: Final = r"(?:(?:19|20)?\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))"
_KOREAN: Final = (
    rf"(?<![\d.\-/])(?:{_YEAR}\s?년\s?{_MONTH_NUMBER}\s?월\s?{_DAY}\s?일|"
    rf"\d{{1,2}} \d{{1,2}} (?:19|20)\d{{2}}(?!\d)|"
    rf"{_YEAR}\s?(?P<dot>[.\-/])\s?{_MONTH_NUMBER}\s?(?P=dot)\s?{_DAY}(?![\d\-])|{_PACKED}(?!\d|-\d|[.,]\d))"
)
_TOLD_BEFORE: Final = re.compile(
    r"(?:주민(?:등록)?\s?번호(?:\s?의)?\s앞\s?(?:6\s?)?(?:자리|번호)|"
    r"생년월일|출생일자?|출생연월일|생일|태어난\s?날|date of birth|birth ?date|dob)(?:은|는|이|가|도)?"
    rf"[\s:=()\[\]\"']{{0,4}}(?:is )?(?P<date>{_KOREAN})",
    re.IGNORECASE,
)
_TOLD_BEHIND: Final = re.compile(
    rf"(?P<date>{_KOREAN})\.?\s?(?:생(?!산|성|일\s?쿠폰|방송|중계)|출생|에\s?(?:태어|출생))"
)
"""What Korean writes behind a date of birth; other words begin with the same syllable (생산, 생성)."""


def _governed(before: str) -> bool:
    """Whether the last word of birth is said of the date behind the text."""
    births = list(_BIRTH.finditer(before))
    return bool(births) and _BREAKS.search(before, births[-1].end()) is None


def _heads_a_column(text: str, match: re.Match[str]) -> bool:
    """Whether the word is the last head of a table and the date stands in the line below: under the first one."""
    line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
    return (
        "\n" in text[match.start() : match.start("date")]
        and not line.isspace()
        and re.search(r"[,;|\t]", line) is not None
    )


class BirthRecognizer(Finder):
    """Dates of birth: the first date that a word of birth governs, or a date with such a word right behind it.

    Between the two stands no end of a clause, no conjunction and no word for what else has a date.

    In Korean, and in six or eight digits (``900405``), the word stands right beside the date.
    """

    entity = "DATE_OF_BIRTH"

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Dates with their context; any other date stays."""
        found, last = [], 0
        for match in DATE.finditer(text):
            before = text[max(last, match.start() - 40) : match.start()]
            if _governed(before) or _BEHIND.match(text, match.end()):
                found.append(match.span())
            last = match.end()
        told = [match.span("date") for match in _TOLD_BEFORE.finditer(text) if not _heads_a_column(text, match)]
        told += [match.span("date") for match in _TOLD_BEHIND.finditer(text)]
        return [*found, *(span for span in told if not any(span[0] < end and start < span[1] for start, end in found))]


def _may_date(profile: TextProfile) -> bool:
    return profile.digits >= 4  # a day, a month and two digits of a year


def build() -> list[Listed]:
    """The finder."""
    return [Listed(BirthRecognizer(), _may_date)]
