"""Short codes that prove who somebody is: of cards (CVV, CVC), PINs, codes for one use; only where they are announced.

Theory. Three to eight digits are anything; the word before them is the whole evidence. A card's code and a PIN have
names of their own. ``code`` has not: it counts as one for one use with a word that says what it proves (verification,
one-time, login) or where it is yours or mine and no word stands between, so codes of orders, bookings, vouchers and
areas stay; a ``number`` that proves something must be said to be it. ``pin`` is a verb, a leg of a chip and a variable
too: it counts where it is somebody's or something is said to be it, and no code sets or compares it. A PIN code of six
digits is where post goes in India: it must be somebody's.
"""

from __future__ import annotations

import re
from typing import Any, Final

from presidio_analyzer import LocalRecognizer, RecognizerResult

from governance.masking.profile import TextProfile, plain
from governance.masking.recognisers.kit import Listed
from governance.masking.weights import ANNOUNCED

_IS: Final = (
    r"(?:[\s:=#\-(\[\]*\"'`]|\b(?:is|was|are|it is|it's|code|number|no\.?|on the back|of|"
    r"(?:for|of|on) (?:it|my card|this card|the card))\b|은|는|이|가){1,8}"
)
_END: Final = (
    r"(?![A-Za-z\d_%]|[.,:/\-]\d|자리|개|회|번째|분|일|원| ?(?:digits|numbers|times|orders|items|days|minutes|hours))"
)
_WHOSE: Final = (
    r"(?:my|your|his|her|their|our|the|a|an|new|old|current|atm|card|debit|credit|account|bank|sim|security|"
    r"4[ -]digit|four[ -]digit)"
)
_CARD: Final = (
    r"cvv2?|cvc2?|cvn|csc|card (?:verification|security|validation) (?:code|value|number)|"
    r"security code(?: (?:on|of) (?:the|my) (?:back|card))?|code on the back(?: of (?:it|(?:the|my|this) card))?|"
    r"(?:three|3)[ -]digit (?:security )?code|씨브이씨|"
    r"카드 ?보안 ?(?:코드|번호)"
)
_PROVING: Final = (
    r"otp|one[ -]?time[ -](?:code|pin|password|passcode|pass)|(?:verification|authentication|authenticator|2fa|mfa|"
    r"two[ -]factor|login|log[ -]in|sign[ -]in|security|sms|identity|recovery|reset)[ -](?:code|passcode)|"
    r"(?:verification|authentication|2fa|mfa|login|sms)[ -]number(?=\s?(?:is|was|:|=))|pass ?code|auth code|"
    r"(?:your|my) code(?=\s?(?:is|was|:|=))|인증 ?(?:번호|코드)|일회용 ?(?:비밀번호|번호|코드)|보안 ?(?:코드|번호)"
)
_STATED: Final = r"pin[ -]?(?:code|number|no\.?)"
_PIN: Final = (
    rf"(?-i:PIN)(?![ -]?(?:code|number|no\b)){_IS}|\b{_WHOSE} pin(?:[ -]?(?:code|number))?{_IS}|pin(?:\s*[:=]\s*| is )|"
    rf"(?:{_STATED})(?:\s*[:=]\s*| is )(?!\d{{6}}(?!\d))|"
    rf"(?:{_STATED})[\s:=#]{{1,3}}(?=\d{{4}}(?!\d))|(?:핀|비밀) ?번호(?:는|은|가|를|을)?[\s:=\"']{{1,4}}"
)
_CODES: Final = (
    ("CVV", re.compile(rf"(?<![^\W_])(?:{_CARD}){_IS}(?P<value>\d{{3,4}}){_END}", re.IGNORECASE)),
    ("PIN", re.compile(rf"(?<![^\W_])(?:{_PIN})(?P<value>\d{{4,8}}){_END}", re.IGNORECASE)),
    ("OTP", re.compile(
        rf"(?<![^\W_])(?:{_PROVING}){_IS}(?P<value>\d{{4,10}}|\d{{3}}[ -]\d{{3}}|(?:[A-Z]-)\d{{4,8}}){_END}",
        re.IGNORECASE,
    )),
    ("OTP", re.compile(
        rf"(?<![\w.\-/])(?:[A-Z]-)?(?P<value>\d{{4,8}}) is (?:your|my|the) (?:[A-Za-z]+ ){{0,2}}?(?:{_PROVING})",
        re.IGNORECASE,
    )),
)  # fmt: skip
_DECLARED: Final = re.compile(
    r"(?:\b(?:const|let|var|val|int|long|short|byte|u?int\d+(?:_t)?|auto|static|final|def|public|private|readonly|self)"
    r"[\s.]+|\b(?!(?:card|user|account|bank|atm|my|new|old|customer)_)[a-z]+_)$",
    re.IGNORECASE,
)
_STATEMENT: Final = re.compile(r"[ \t]*;[ \t]*(?:$|//|/\*)|[ \t]+(?:#|//|/\*)", re.MULTILINE)
_WORDS: Final = re.compile(
    r"cvv|cvc|cvn|csc|code|pin|otp|one.?time|(?:verification|security|validation) (?:number|value)|"
    r"(?:authentication|authenticator|2fa|mfa|factor|log.?in|sign.?in|sms|identity|recovery|reset).number|번호|코드|씨브이씨",
    re.IGNORECASE,
)


class CodeRecognizer(LocalRecognizer):  # type: ignore[misc] # Presidio's types are not followed
    """Announced codes."""

    def __init__(self) -> None:
        """For every text."""
        kinds = sorted({kind for kind, _ in _CODES})
        super().__init__(supported_entities=kinds, supported_language="en", name="CodeRecognizer")

    def load(self) -> None:
        """Nothing to load."""

    def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = None) -> list[Any]:  # noqa: ARG002
        """The codes as results."""
        metadata = {
            RecognizerResult.RECOGNIZER_NAME_KEY: self.name,
            RecognizerResult.RECOGNIZER_IDENTIFIER_KEY: self.id,
        }
        return [
            RecognizerResult(kind, *match.span("value"), ANNOUNCED, recognition_metadata=metadata)
            for kind, form in _CODES
            for match in form.finditer(plain(text))
            if not _is_program(text, *match.span(), match.start("value"))
        ]


def _is_program(text: str, start: int, end: int, value: int) -> bool:
    """Whether a program sets or compares a variable of that name there: what it is set to is nobody's code."""
    said = text[start:value]
    if "==" in said or "!=" in said:
        return True
    if "=" not in said:
        return False
    return _DECLARED.search(text[max(0, start - 24) : start]) is not None or _STATEMENT.match(text, end) is not None


def _may_code(profile: TextProfile) -> bool:
    return profile.digits >= 3 and _WORDS.search(profile.text) is not None


def build() -> list[Listed]:
    """The recogniser."""
    return [Listed(CodeRecognizer(), _may_code)]
