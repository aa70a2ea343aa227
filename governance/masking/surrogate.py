"""Surrogates: what stands in a personal value's place.

Theory. A tenant's surrogate key (``KeyName.SURROGATE``, derived by HKDF) draws the replacement from the value's
identity by HMAC-SHA256, so equal values get equal surrogates wherever and whenever they stand, other tenants get
others, and nobody without the key can recompute or test one. A surrogate has the type and form of what it replaces
(``governance.masking.makers``) and lies where no real value lies, as far as the type's specification knows such a
range. It is never the value itself. Values are equal when their identity is: white space, case and Unicode form are
folded; telephone numbers are compared by number, whatever their form; names by their words, whatever their order;
numbers of states, banks and companies by their letters and digits, whatever type a text or a field gave them.
A user id becomes the subject's hash, the name by which every other table knows that person.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import unicodedata
from typing import Final

from governance.masking import makers, words
from governance.masking.draw import Seed
from governance.masking.makers import numbers, phones
from governance.masking.makers.held import APART
from governance.ports.keys import KeyName, KeyProvider

REMEMBERED: Final = 50_000
"""Answers that are kept in memory, by keyed digest."""
_NAME: Final = re.compile(r"[^\W\d_]+")
_BY_CHARACTERS: Final = frozenset(numbers.MAKERS)
"""Types whose punctuation says nothing."""


def normalise(entity_type: str, value: str) -> str:
    """The identity of a value: equal for equal values in any form."""
    if entity_type == "PHONE_NUMBER":
        return phones.identity(value)
    text = " ".join(unicodedata.normalize("NFKC", value).casefold().split())
    if entity_type in _BY_CHARACTERS:
        return re.sub(r"[\W_]", "", text)
    if entity_type == "PERSON":
        found = _NAME.findall(text)
        return " ".join(sorted(word for word in found if word not in words.TITLES)) or text
    return text


class Surrogates:
    """Makes the surrogates and mentions of one tenant."""

    def __init__(self, keys: KeyProvider, tenant_id: str) -> None:
        """Keys are derived per tenant."""
        self._seed = Seed(keys.for_tenant(KeyName.SURROGATE, tenant_id))
        self._subject_key = keys.for_tenant(KeyName.SUBJECT, tenant_id)
        self._made: dict[bytes, str] = {}
        """Keyed digest of what was asked to what was answered: a person is named many times."""

    @property
    def seed(self) -> Seed:
        """What they are drawn from, for those who recognise them again."""
        return self._seed

    def make(self, entity_type: str, value: str) -> str:
        """The surrogate of ``value``; an unknown type keeps the value's shape, digit for digit, letter for letter."""
        if entity_type == "USER_ID":
            return self.subject(value)
        return self._remembered("make", entity_type, value)

    def subject(self, value: str) -> str:
        """The keyed hash by which a person's id is known."""
        return hmac.digest(self._subject_key, value.encode("utf-8", "surrogatepass"), hashlib.sha256).hex()

    def mention(self, entity_type: str, value: str) -> str:
        """Keyed identifier of a value, so that a person who is named somewhere can be found there."""
        if entity_type == "USER_ID":
            return self.subject(value)
        return self._remembered("mention", entity_type, value)

    def _remembered(self, what: str, entity_type: str, value: str) -> str:
        name = hmac.digest(
            self._subject_key, f"{what}\x1f{entity_type}\x1f{value}".encode("utf-8", "surrogatepass"), hashlib.sha256
        )
        known = self._made.get(name)
        if known is None:
            if len(self._made) >= REMEMBERED:
                self._made.clear()
            if what == "make":
                known = makers.make(self._seed, entity_type, value)
            else:
                kind = "NUMBER" if entity_type in _BY_CHARACTERS - APART else entity_type
                known = self.subject(f"{kind}\x1f{normalise(entity_type, value)}")
            self._made[name] = known
        return known
