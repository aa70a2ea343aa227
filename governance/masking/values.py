"""Which values of a personal field cannot be what the field's name says.

Theory. A field that is named ``phone`` does not always hold one: programs write "none", "N/A", a placeholder or a type
name there, and replacing these changes what the program does. So a value is taken at its field's word only when it can
be one: a mail address has an "@", a phone number five digits, a date, an address of the network and every numbered
identifier a digit, a special category a letter. Names of people and user ids have no shape; for them the words that
programs write in place of a value are listed. What is refused here is still read by the detectors.
"""

from __future__ import annotations

import re
from typing import Final

from governance.masking.words import listed
from governance.records.masking_policy import SPECIAL_CATEGORIES

_NOTHING: Final = frozenset(
    listed(
        """
        none null nil nan undefined unknown n/a na n.a. empty blank missing unspecified undisclosed unavailable tbd
        todo string integer number boolean object array required optional placeholder redacted default 없음 미상
        해당없음 모름 미입력
        """
    )
) | {
    "", "not specified", "not provided", "not available", "not applicable", "not given", "not set", "not found",
    "not known", "no value", "prefer not to say", "해당 없음",
}  # fmt: skip
_BOOLEANS: Final = frozenset(listed("yes no true false y n t f on off 예 아니오 아니요 네"))
_ROLES: Final = frozenset(
    listed(
        """
        failed failure success succeeded ok error denied pending active inactive invalid valid enabled disabled
        assistant system user users tool agent bot model human developer function customer anonymous guest admin
        administrator root me self username login
        """
    )
)
_STANDS_FOR: Final = re.compile(r"<[^<>@]*>|\{\{.*\}\}|\$?\{[^{}]*\}|\[[^\[\]]*\]|%\w+%|[^\w]*", re.DOTALL)
_AT: Final = re.compile(r"[@\uff20]|%40|&(?:amp;)*(?:#0*64|#x0*40|commat);", re.IGNORECASE)
_PHONE_DIGITS: Final = 5
_CODES: Final = {
    "CVV": re.compile(r"\d{3,4}"),
    "PIN": re.compile(r"\d{4,12}"),
    "OTP": re.compile(r"(?=[A-Za-z \-]*\d)[A-Za-z\d](?:[ \-]?[A-Za-z\d]){3,11}"),
}
"""What short codes look like: a field ``pin`` may hold a place on a map, and ``passcode`` a word about it."""
_SHAPELESS: Final = frozenset({"PERSON", "LOCATION", "USER_ID", "CRYPTO", "IP_ADDRESS", "MAC_ADDRESS"})


def says_nothing(text: str) -> bool:
    """Whether a value is empty, a placeholder, a word for no value, or a bare yes or no."""
    word = " ".join(text.lower().split())
    return word in _NOTHING or word in _BOOLEANS or _STANDS_FOR.fullmatch(text.strip()) is not None


def can_be(entity: str, text: str) -> bool:
    """Whether the text can be a value of the type."""
    if says_nothing(text):
        return False
    if entity in SPECIAL_CATEGORIES:
        return any(map(str.isalpha, text))
    if entity == "EMAIL_ADDRESS":
        return _AT.search(text) is not None
    if entity == "PHONE_NUMBER":
        return sum(map(str.isdigit, text)) >= _PHONE_DIGITS
    if entity in _CODES:
        return _CODES[entity].fullmatch(text.strip()) is not None
    if entity == "USER_ID":
        return " ".join(text.lower().split()) not in _ROLES
    return entity in _SHAPELESS or any(char.isdigit() for char in text)
