"""Numbers of money: cards and bank accounts.

Theory. A card number has 12 to 19 digits, begins with digits that ISO/IEC 7812 gives to a scheme, and ends in a Luhn
check digit. Written in groups as a card prints them it is sure; bare, one in ten of a scheme's numbers is right by
chance, so it needs words beside it, and the short ones of Maestro need a word for a card: an order or a trace has as
many digits. A word does not count where another label stands between (``evidence``).
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from presidio_analyzer import Pattern, PatternRecognizer
from presidio_analyzer.predefined_recognizers import CreditCardRecognizer, IbanRecognizer
from stdnum import luhn

from governance.masking.profile import TextProfile
from governance.masking.recognisers.evidence import Evidenced
from governance.masking.recognisers.kit import Listed, Parting

_GROUPED: Final = re.compile(r"[\s().\-]")
_CARD_WORDS: Final = (
    "card;cards;card number;card no;credit card;debit card;bank card;cc;pan;visa;mastercard;amex;american express;"
    "discover;diners;jcb;maestro;unionpay;rupay;카드;카드번호;신용카드;체크카드"
)
_PAYING_WORDS: Final = "credit;debit;charge;charged;pay;paid;payment;결제"


class _Range(NamedTuple):
    """Numbers of one scheme."""

    first: str
    last: str
    """The same number of leading digits, both included."""
    lengths: frozenset[int]

    def holds(self, digits: str) -> bool:
        """Whether a number is one of them."""
        return len(digits) in self.lengths and self.first <= digits[: len(self.first)] <= self.last


def _lengths(first: int, last: int) -> frozenset[int]:
    return frozenset(range(first, last + 1))


_SIXTEEN: Final = frozenset({16})
_LONG: Final = _lengths(16, 19)
_MAESTRO: Final = _lengths(12, 19)
RANGES: Final = (
    _Range("4", "4", frozenset({13, 16, 19})),  # Visa
    _Range("51", "55", _SIXTEEN),  # Mastercard
    _Range("2221", "2720", _SIXTEEN),  # Mastercard, second series
    _Range("2200", "2204", _LONG),  # Mir
    _Range("34", "34", frozenset({15})),  # American Express
    _Range("37", "37", frozenset({15})),
    _Range("300", "305", _lengths(14, 19)),  # Diners Club
    _Range("36", "36", _lengths(14, 19)),
    _Range("38", "39", _lengths(14, 19)),
    _Range("3528", "3589", _LONG),  # JCB
    _Range("1800", "1800", frozenset({15})),  # JCB, first series
    _Range("2131", "2131", frozenset({15})),
    _Range("6011", "6011", _LONG),  # Discover
    _Range("644", "659", _LONG),
    _Range("62", "62", _LONG),  # UnionPay
    _Range("81", "81", _LONG),  # UnionPay, RuPay
    _Range("50", "50", _MAESTRO),  # Maestro
    _Range("56", "58", _MAESTRO),
    _Range("6", "6", _MAESTRO),
)
"""Which schemes have which numbers: their issuer ranges under ISO/IEC 7812, as the schemes publish them."""


class CardRecognizer(CreditCardRecognizer):  # type: ignore[misc] # Presidio's types are not followed
    """Presidio's shape of 13 to 17 digits in their usual groups; Luhn decides.

    A leading 1 is airlines' (ISO/IEC 7812), whose numbers have 15 digits; times since 1970 begin with it too.
    """

    def validate_result(self, pattern_text: str) -> bool:
        """Whether the check digit is right."""
        digits = re.sub(r"\D", "", pattern_text)
        return bool(super().validate_result(pattern_text)) and (digits[0] != "1" or len(digits) == 15)


class IssuedCardRecognizer(PatternRecognizer):  # type: ignore[misc] # Presidio's types are not followed
    """Numbers of an issuer's range, bare or in groups of four; Luhn decides."""

    def __init__(self, *, short: bool) -> None:
        """``short``: those of fewer digits than 16 instead of the others."""
        groups = r"\d{4}([ \-])\d{4}\1\d{4}\1\d{4}(?:\1\d{1,3})?"
        regex = r"\d{12,15}" if short else rf"(?:\d{{16,19}}|{groups})"
        regex = rf"(?<![\w.\-])(?<!\d )(?:{regex})(?![\w\-]|[.]\d| \d)"
        super().__init__("CREDIT_CARD", patterns=[Pattern("issued card", regex, 0.3)], supported_language="en")

    def validate_result(self, pattern_text: str) -> bool:
        """Whether the number is in a range and its check digit right."""
        digits = re.sub(r"[ \-]", "", pattern_text)
        return any(one.holds(digits) for one in RANGES) and bool(luhn.is_valid(digits))


class _Iban(Parting, IbanRecognizer):  # type: ignore[misc] # Presidio's types are not followed
    pass


def _sure(matched: str, checked: bool) -> float | None:  # noqa: FBT001 - the signature of Sure
    """Grouping tells a card, beside its check digit."""
    return 1.0 if checked and _GROUPED.search(matched) else None


def _may_card(profile: TextProfile) -> bool:
    return profile.digits >= 12


def _may_iban(profile: TextProfile) -> bool:
    return profile.digits >= 2


def build() -> list[Listed]:
    """All of them."""
    own, paying = _CARD_WORDS.split(";"), _PAYING_WORDS.split(";")
    cards = [
        Evidenced(CardRecognizer(), own, paying, sure=_sure),
        Evidenced(IssuedCardRecognizer(short=False), own, paying, sure=_sure),
        Evidenced(IssuedCardRecognizer(short=True), own),
    ]
    return [*(Listed(card, _may_card) for card in cards), Listed(_Iban(), _may_iban)]
