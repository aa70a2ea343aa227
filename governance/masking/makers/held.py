"""What a number is by itself: the published forms and check digits that it has, whatever somebody called it.

Theory. One number is called an SSN in a sentence, a tax id in one field and a national id in another. Its surrogate
must be one, so it follows from the letters and digits alone: the check digits that the number holds of any type here,
and the form of the first type that it fits and whose range is never issued. Types of institutions, whose words no other
type shares (``APART``), and short codes are left out: they keep a range of their own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from governance.masking.makers.checks import CHECKS

APART: Final = frozenset(
    {"CREDIT_CARD", "IBAN_CODE", "US_NPI", "ABA_ROUTING_NUMBER", "CARD_LAST4", "CVV", "PIN", "OTP"}
)
"""Numbers with a range of their own under their own type."""
_LENGTHS: Final[Mapping[str, int]] = {"IN_AADHAAR": 12, "NG_NIN": 11, "DE_VAT_ID": 11}
"""Where the check itself takes any length, or less than the whole."""
_BIRTH: Final = r"\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
SHAPES: Final[Mapping[str, str]] = {
    "KR_RRN": rf"{_BIRTH}[1-4]\d{{6}}",
    "KR_FRN": rf"{_BIRTH}[5-8]\d{{6}}",
    "UK_NINO": r"[A-Z]{2}\d{6}[A-D]",
    "US_MBI": r"[1-9][A-Z][A-Z0-9]\d[A-Z][A-Z0-9]\d[A-Z]{2}\d{2}",
    "KR_LICENSE_PLATE": r"(?:[가-힣]{2})?\d{2,3}[가-힣]\d{4}",
    "US_SSN": r"\d{9}",
}
"""Types that a form tells: their numbers hold no check digit, or not all of them do."""


@lru_cache(maxsize=4096)
def held(body: str) -> tuple[str, ...]:
    """The types whose check digits the letters and digits hold."""
    return tuple(kind for kind in CHECKS if kind not in APART and holds(kind, body))


def holds(kind: str, body: str) -> bool:
    """Whether they hold those of one type."""
    return _LENGTHS.get(kind, len(body)) == len(body) and CHECKS[kind](body)


def shaped_like(body: str) -> tuple[str, ...]:
    """The types whose form alone they have."""
    return tuple(kind for kind, form in SHAPES.items() if re.fullmatch(form, body))


def form_of(body: str, forms: Mapping[str, Mapping[int, str]]) -> tuple[str, str | None]:
    """The first type in the order of ``forms`` that they fit, and its form for that length; none where none has one."""
    known = {*held(body), *shaped_like(body)}
    for kind, by_length in forms.items():
        if kind in known and len(body) in by_length:
            return kind, by_length[len(body)]
    return "", None
