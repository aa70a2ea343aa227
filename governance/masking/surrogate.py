"""Surrogates: what stands in a personal value's place.

Theory. ``HMAC-SHA256(tenant key, entity type || normalised value)`` seeds the replacement, so equal values (white
space, case and Unicode form folded) get equal surrogates, other tenants get others, and nobody without the key can
recompute or test one. A surrogate has the type of what it replaces and lies where no real value lies: names of made-up
syllables; mail at ``example.com`` (RFC 2606); phone numbers at 555-01xx (NANP, reserved for fiction) or under the
unassigned country code 999; addresses in 198.18.0.0/15 (RFC 2544) and 2001:db8::/32 (RFC 3849); card numbers under
the unassigned prefix 999999; IBANs of the user-assigned country XX; social security numbers in a range never issued.
A name is replaced word by word and an address part by part, so that "Anna" and "Anna Miller" stay the same person.
A user id becomes the subject's hash, the name by which every other table knows that person.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import unicodedata
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import Final

from governance.masking import words
from governance.ports.keys import KeyName, KeyProvider

_WORD: Final = re.compile(r"[^\W\d_]+")
_NANP_DIGITS: Final = 10
_MONTHS: Final = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
                  "November", "December")  # fmt: skip
_FIRST_BIRTH: Final = date(1940, 1, 1)
_BIRTH_DAYS: Final = 24_000
_DATE_PARTS: Final = re.compile(r"\d+|[^\W\d_]{3,}")


def normalise(entity_type: str, value: str) -> str:
    """The form under which equal values are equal."""
    text = " ".join(unicodedata.normalize("NFKC", value).casefold().split())
    if entity_type in {"PHONE_NUMBER", "CREDIT_CARD", "US_SSN", "IBAN_CODE", "KR_RRN"}:
        text = re.sub(r"[^0-9a-z]", "", text)
    if entity_type == "PHONE_NUMBER" and len(text) == _NANP_DIGITS + 1 and text.startswith("1"):
        return text[1:]
    return text


class Draw:
    """A stream of keyed choices for one value."""

    def __init__(self, key: bytes, label: str) -> None:
        """The same key and label draw the same choices."""
        self._state = int.from_bytes(hmac.digest(key, label.encode("utf-8", "surrogatepass"), hashlib.sha256), "big")

    def below(self, limit: int) -> int:
        """A number from 0 to ``limit - 1``."""
        self._state, rest = divmod(self._state, limit)
        return rest

    def pick(self, options: Sequence[str]) -> str:
        """One of the options."""
        return options[self.below(len(options))]

    def digits(self, count: int) -> str:
        """That many decimal digits."""
        return "".join(str(self.below(10)) for _ in range(count))

    def hex(self, count: int) -> str:
        """That many hex digits."""
        return "".join("0123456789abcdef"[self.below(16)] for _ in range(count))


class Surrogates:
    """Makes the surrogates and mentions of one tenant."""

    def __init__(self, keys: KeyProvider, tenant_id: str) -> None:
        """Keys are derived per tenant."""
        self._key = keys.for_tenant(KeyName.SURROGATE, tenant_id)
        self._subject_key = keys.for_tenant(KeyName.SUBJECT, tenant_id)
        self._makers: dict[str, Callable[[str], str]] = {
            "PERSON": self._person,
            "LOCATION": self._location,
            "USER_ID": self.subject,
            "EMAIL_ADDRESS": self._email,
            "PHONE_NUMBER": self._phone,
            "DATE_OF_BIRTH": self._birth,
            "IP_ADDRESS": self._ip,
            "CREDIT_CARD": self._card,
            "IBAN_CODE": self._iban,
            "US_SSN": self._ssn,
            "KR_RRN": self._rrn,
        }

    def make(self, entity_type: str, value: str) -> str:
        """The surrogate of ``value``; an unknown type keeps the value's shape, digit for digit, letter for letter."""
        maker = self._makers.get(entity_type)
        return maker(value) if maker else self._shape(entity_type, value)

    def subject(self, value: str) -> str:
        """The keyed hash by which a person's id is known."""
        return hmac.digest(self._subject_key, value.encode("utf-8", "surrogatepass"), hashlib.sha256).hex()

    def mention(self, entity_type: str, value: str) -> str:
        """Keyed identifier of a value, so that a person who is named somewhere can be found there."""
        if entity_type == "USER_ID":
            return self.subject(value)
        return self.subject(f"{entity_type}\x1f{normalise(entity_type, value)}")

    def _draw(self, entity_type: str, value: str) -> Draw:
        return Draw(self._key, f"{entity_type}\x1f{normalise(entity_type, value)}")

    def _person(self, value: str) -> str:
        return _WORD.sub(lambda match: self._name(match.group()), value)

    def _name(self, word: str) -> str:
        folded = word.casefold()
        if folded in words.PARTICLES or folded in words.TITLES or (len(word) == 1 and word.islower()):
            return word
        draw = self._draw("PERSON", word)
        if folded in words.GIVEN:
            name = draw.pick(words.GIVEN_STARTS) + draw.pick(words.GIVEN_MIDDLES) + draw.pick(words.GIVEN_ENDS)
        else:
            name = draw.pick(words.FAMILY_STARTS) + draw.pick(words.FAMILY_ENDS)
        if len(word) == 1:
            return name[0]
        return name.upper() if word.isupper() else name.lower() if word.islower() else name

    def _email(self, value: str) -> str:
        return f"user-{self._draw('EMAIL_ADDRESS', value).hex(12)}@example.com"

    def _phone(self, value: str) -> str:
        digits = normalise("PHONE_NUMBER", value)
        draw = self._draw("PHONE_NUMBER", value)
        foreign = value.lstrip(" (").startswith("+") and re.match(r"\+[\s(]*1", value.lstrip(" (")) is None
        if len(digits) != _NANP_DIGITS or foreign:
            return f"+999 {draw.digits(3)} {draw.digits(3)} {draw.digits(4)}"
        fresh = f"{2 + draw.below(8)}{draw.below(9)}{draw.below(10)}55501{draw.digits(2)}"
        return _refill(value, fresh if sum(c.isdigit() for c in value) == _NANP_DIGITS else f"1{fresh}")

    def _location(self, value: str) -> str:
        return ", ".join(self._place(part) for part in re.split(r"\s*[,\n]\s*", value.strip()) if part)

    def _place(self, part: str) -> str:
        draw = self._draw("LOCATION", part)
        if not any(c.isdigit() for c in part):
            return draw.pick(words.FAMILY_STARTS) + draw.pick(words.FAMILY_ENDS)
        if re.fullmatch(r"[\w-]{2,6}([ -][\w-]{2,6})?", part):
            return self._shape("LOCATION", part)
        street = draw.pick(words.FAMILY_STARTS) + draw.pick(words.FAMILY_ENDS)
        return f"{1 + draw.below(998)} {street} {draw.pick(words.STREET_ENDS)}"

    def _birth(self, value: str) -> str:
        draw = self._draw("DATE_OF_BIRTH", value)
        day = _FIRST_BIRTH + timedelta(days=draw.below(_BIRTH_DAYS))
        return _DATE_PARTS.sub(lambda match: _date_part(match, value, day), value)

    def _ip(self, value: str) -> str:
        draw = self._draw("IP_ADDRESS", value)
        if ":" in value:
            return "2001:db8:" + ":".join(draw.hex(4) for _ in range(6))
        return f"198.{18 + draw.below(2)}.{draw.below(256)}.{draw.below(256)}"

    def _card(self, value: str) -> str:
        count = sum(c.isdigit() for c in value)
        draw = self._draw("CREDIT_CARD", value)
        if count < 12:
            return self._shape("CREDIT_CARD", value)
        body = "999999" + draw.digits(count - 7)
        return _refill(value, body + _luhn(body))

    def _iban(self, value: str) -> str:
        count = len(normalise("IBAN_CODE", value))
        body = self._draw("IBAN_CODE", value).digits(max(count - 4, 11))
        check = 98 - int(f"{body}333300") % 97  # X is 33 in ISO 13616
        return f"XX{check:02d}{body}"

    def _ssn(self, value: str) -> str:
        draw = self._draw("US_SSN", value)
        fresh = f"9{draw.digits(2)}0{1 + draw.below(9)}{draw.digits(3)}{1 + draw.below(9)}"
        return _refill(value, fresh) if sum(c.isdigit() for c in value) == len(fresh) else fresh

    def _rrn(self, value: str) -> str:
        draw = self._draw("KR_RRN", value)
        return _refill(value, f"{draw.digits(2)}13{draw.digits(2)}9{draw.digits(6)}")  # there is no month 13

    def _shape(self, entity_type: str, value: str) -> str:
        draw = self._draw(entity_type, value)
        return "".join(_like(char, draw) for char in value)


def _like(char: str, draw: Draw) -> str:
    if char.isdigit():
        return str(draw.below(10))
    if not char.isalpha():
        return char
    letter = "abcdefghijklmnopqrstuvwxyz"[draw.below(26)]
    return letter.upper() if char.isupper() else letter


def _refill(value: str, digits: str) -> str:
    """``value`` with its digits replaced in order, its punctuation kept."""
    fresh = iter(digits)
    return "".join(next(fresh, "0") if char.isdigit() else char for char in value)


def _luhn(body: str) -> str:
    total = 0
    for place, char in enumerate(reversed(body)):
        double = int(char) * (2 if place % 2 == 0 else 1)
        total += double - 9 if double > 9 else double
    return str(-total % 10)


def _date_part(match: re.Match[str], value: str, day: date) -> str:
    """One part of a date written like the original: four digits are the year, letters the month."""
    part = match.group()
    if not part.isdigit():
        month = _MONTHS[day.month - 1]
        return month if part.casefold() in {name.casefold() for name in _MONTHS} else month[: len(part)]
    if len(part) > 2:
        return f"{day.year:04d}"[: len(part)] if len(part) == 4 else f"{day:%Y%m%d}"[: len(part)]
    numbers = [found.start() for found in _DATE_PARTS.finditer(value) if len(found.group()) <= 2]
    first = bool(numbers) and match.start() == numbers[0]
    named_month = any(not found.group().isdigit() for found in _DATE_PARTS.finditer(value))
    number = day.day if named_month or not first else day.month
    return f"{number:0{len(part)}d}" if number >= 10 or len(part) == 2 else str(number)
