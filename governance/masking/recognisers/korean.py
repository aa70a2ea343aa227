"""Korean numbers: from their published formats, in the spellings that people write.

Theory. A resident or foreigner registration number is a birth date, a digit for sex and century, and six digits that
were a region, a serial number and a check digit until October 2020 and are random since: so the checksum is never
required, and where nothing else speaks for the number it is what decides. A hyphen between birth date and the rest is
sure together with the checksum, and in a Korean text without it. Thirteen digits in one run are a time stamp or an
order as often as a person: without a word they need the check digit and a birth that neither a time since 1970 nor an
order of these years begins like (1931 to 2013). Corporate numbers (13 digits, check digit), business numbers (10, check
digit), driver licences (region, year, serial, check), passports (letter and 8 digits, or since 2021 with a letter in
the middle) and vehicle plates have their formats from the offices that issue them; a bank account is digits in groups
beside the name of a bank, a word for account or what somebody asks to be paid (``110-234-567890으로 환불``).
"""

from __future__ import annotations

import re
from datetime import date
from typing import Any, Final

from ko_pii.checksum.corp_reg_checksum import is_valid_checksum
from presidio_analyzer import Pattern, PatternRecognizer
from presidio_analyzer.predefined_recognizers import (
    KrBrnRecognizer,
    KrDriverLicenseRecognizer,
    KrFrnRecognizer,
    KrPassportRecognizer,
    KrRrnRecognizer,
)

from governance.masking.profile import TextProfile
from governance.masking.recognisers.evidence import Evidenced, is_labelled
from governance.masking.recognisers.kit import Finder, Listed
from governance.masking.recognisers.national import SHARED, listed
from governance.masking.weights import CHECKED

_DATE: Final = r"(?<![\d-])\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
_GAP: Final = r"(?: ?- ?| )?"
_PAIRS: Final = [("-", ""), (" ", ""), (".", "")]
_BANKS: Final = (
    "국민은행|신한은행|우리은행|하나은행|기업은행|농협은행|농협|수협은행|수협|제일은행|씨티은행|외환은행|카카오뱅크|"
    "카뱅|토스뱅크|케이뱅크|부산은행|대구은행|경남은행|광주은행|전북은행|제주은행|산업은행|우체국|새마을금고|신협|"
    "국민|신한|우리|하나|기업|im뱅크|kb|nh|ibk|keb|sc|mg|kdb"
)
_BORN: Final = (1931, 2013)
_BANK_WORDS: Final = ("계좌번호", "계좌", "입금", "송금", "이체", "예금주", "통장", "환불계좌", "bank account")
_RESIDENT: Final = ("주민등록번호", "주민번호", "주민등록", "주민 번호", "resident registration number", "rrn",
                    "resident number", "korean rrn")  # fmt: skip
_FOREIGNER: Final = ("외국인등록번호", "외국인번호", "외국인 등록", "거소신고번호", "foreigner registration number",
                     "alien registration number", "frn", "korean frn")  # fmt: skip


class CorporateNumberRecognizer(PatternRecognizer):  # type: ignore[misc] # Presidio's types are not followed
    """Corporate registration numbers (법인등록번호): six digits, seven digits, the last one a check digit."""

    def __init__(self) -> None:
        """For every text."""
        shapes = [Pattern("corporate number", rf"(?<![\d-])\d{{6}}{_GAP}\d{{7}}(?![\d-])", 0.1)]
        super().__init__(supported_entity="KR_CRN", patterns=shapes, supported_language="en", name="KrCrnRecognizer")

    def validate_result(self, pattern_text: str) -> bool:
        """Whether the check digit is right."""
        return bool(is_valid_checksum(re.sub(r"\D", "", pattern_text)))


class AccountRecognizer(PatternRecognizer):  # type: ignore[misc] # Presidio's types are not followed
    """Bank accounts: 10 to 16 digits, in the groups that Korean banks print, or in one run."""

    def __init__(self) -> None:
        """For every text."""
        shapes = [
            Pattern("grouped account", r"(?<![\d-])\d{2,6}-\d{2,6}-\d{2,7}(?:-\d{1,3})?(?![\d-])", 0.1),
            Pattern("bare account", r"(?<![\d-])\d{10,16}(?![\d-])", 0.01),
        ]
        super().__init__(
            supported_entity="KR_BANK_ACCOUNT", patterns=shapes, supported_language="en", name="KrAccountRecognizer"
        )

    def invalidate_result(self, pattern_text: str) -> bool:
        """Whether it has too few or too many digits."""
        return not 10 <= sum(char.isdigit() for char in pattern_text) <= 16


class BankEvidenced(Evidenced):
    """Accounts, whose words may be a bank's name right before or behind the number."""

    _any: Final = re.compile(_BANKS)
    _bank: Final = re.compile(rf"(?:{_BANKS})(?:\s?은행)?(?:\s?계좌)?(?:번호)?\s?[:(]?\s?$")
    _behind: Final = re.compile(
        rf"\s?[(/]?\s?(?:{_BANKS})(?![a-z])|(?:으로|로)\s?(?:[가-힣]{{1,6}}\s)?(?:환불|입금|송금|이체|보내|돌려|부쳐)"
    )

    def counts(self, profile: TextProfile) -> bool:
        """False only where neither a word nor a bank's name is in the text."""
        return super().counts(profile) or profile.hangul or self._any.search(profile.lowered) is not None

    def _score(self, text: str, result: Any) -> float:
        near = self._bank.search(text[max(0, result.start - 20) : result.start]) or (
            self._behind.match(text[result.end : result.end + 16]) and not is_labelled(text, result.start)
        )
        return 0.75 if near else super()._score(text, result)


def _registration(matched: str, checked: bool) -> float | None:  # noqa: FBT001 - the signature of Sure
    if not checked:
        return None
    return 0.85 if not matched.isdecimal() or _is_born(matched) else None


def _is_born(run: str) -> bool:
    """Whether thirteen digits in one run begin with a birth and with nothing else that is usual."""
    try:
        born = date((1900 if run[6] in "1256" else 2000) + int(run[:2]), int(run[2:4]), int(run[4:6]))
    except ValueError:
        return False
    return _BORN[0] <= born.year <= _BORN[1]


class BackHalfFinder(Finder):
    """The seven digits behind the birth, where a text tells them apart (``주민번호 앞자리 900101 뒷자리 1234568``)."""

    entity = "KR_RRN"
    _told: Final = re.compile(r"[뒷뒤]\s?(?:7\s?)?(?:자리|번호)(?:은|는|이|가)?[\s:=]{0,3}(?P<digits>[1-8]\d{6})(?!\d)")
    _near: Final = 40

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Those that a word for the number stands before."""
        return [
            match.span("digits")
            for match in self._told.finditer(text)
            if "주민" in text[max(0, match.start() - self._near) : match.start()]
        ]


class RegistrationEvidenced(Evidenced):
    """Registration numbers, which count without a checksum when hyphenated in a Korean text."""

    _reference: Final = re.compile(r"주문|송장|운송장|예약|접수|관리\s?번호|문서\s?번호|전화|연락처|계좌")

    _unit: Final = re.compile(r"\s?(?:ms|msec|millis|us|µs|ns|s|bytes|b|kb|원|건|개)(?![a-z가-힣])")

    def _score(self, text: str, result: Any) -> float:
        score = super()._score(text, result)
        if text[result.start : result.end].isdecimal() and not self.is_told(text, result):
            return min(score, CHECKED) if self._is_other(text, result) else score
        if score >= 0.4 or "-" not in text[result.start : result.end]:
            return score
        around = text[max(0, result.start - 30) : result.end + 30]
        korean = any("\uac00" <= char <= "\ud7a3" for char in around)
        return 0.45 if korean and not self._reference.search(around) else score

    def _is_other(self, text: str, result: Any) -> bool:
        """Whether a number in one run is of something else: with a unit, a label, a word for a reference."""
        around = text[max(0, result.start - 30) : result.end + 30]
        return (
            self._unit.match(text, result.end) is not None
            or is_labelled(text, result.start)
            or self._reference.search(around) is not None
        )


def _may_half(profile: TextProfile) -> bool:
    return profile.digits >= 7 and "주민" in profile.text


def _may_plate(profile: TextProfile) -> bool:
    return profile.hangul


def _inner(kind: Any, shape: str, score: float) -> Any:
    return kind(patterns=[Pattern(kind.__name__, shape, score)], supported_language="en", replacement_pairs=_PAIRS)


def build() -> list[Listed]:
    """All of them."""
    rrn = _inner(KrRrnRecognizer, rf"{_DATE}{_GAP}[1-4]\d{{6}}(?![\d-])", 0.3)
    frn = _inner(KrFrnRecognizer, rf"{_DATE}{_GAP}[5-8]\d{{6}}(?![\d-])", 0.3)
    licence = _inner(KrDriverLicenseRecognizer, r"(?<![\d-])\d{2}[- ]?\d{2}[- ]?\d{6}[- ]?\d{2}(?![\d-])", 0.05)
    plate = PatternRecognizer(
        "KR_LICENSE_PLATE",
        patterns=[Pattern("plate", r"(?<![\d가-힣])(?:[가-힣]{2})?\d{2,3}\s?[가-힣]\s?\d{4}(?!\d)", 0.2)],
    )
    own = {
        "licence": ("운전면허번호", "운전면허", "면허번호", "면허증", "korean driver license"),
        "passport": ("여권번호", "여권", "대한민국 여권", "korean passport"),
        "business": ("사업자등록번호", "사업자번호", "사업자", "brn", "korean brn"),
        "plate": ("차량번호", "차량 번호", "번호판", "자동차번호", "차번호", "차량", "제 차"),
    }
    corporate = ("법인등록번호", "법인번호", "법인 등록")
    return [
        Listed(BackHalfFinder(), _may_half),
        listed(RegistrationEvidenced(rrn, _RESIDENT, SHARED["identity"], _registration), 13),
        listed(RegistrationEvidenced(frn, _FOREIGNER, SHARED["identity"], _registration), 13),
        listed(Evidenced(CorporateNumberRecognizer(), corporate, SHARED["company"]), 13),
        listed(Evidenced(licence, own["licence"], SHARED["driver"]), 12),
        listed(Evidenced(KrPassportRecognizer(supported_language="en"), own["passport"], SHARED["passport"]), 7),
        listed(Evidenced(KrBrnRecognizer(supported_language="en"), own["business"], SHARED["company"]), 10),
        listed(BankEvidenced(AccountRecognizer(), _BANK_WORDS, SHARED["bank"]), 10),
        listed(Evidenced(plate, own["plate"], SHARED["plate"]), 6, _may_plate),
    ]
