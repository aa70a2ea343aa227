"""Names of fields that are values: a map by mail address, by telephone number, by person.

Theory. Most names of fields are words that a program gives, and those are never replaced. A name can be a value when it
is written as no program writes one: with an "@", with four digits or more, or as a name of a person is. It is a value
when one of these says so (of one short Korean word, the first two only):

1. the field above: ``by_phone``, ``users_by_email`` and ``emails`` say the type of the names in them, and a name can be
   of that type (``values``);
2. the same value in another place of the same record (``same_values``);
3. the detectors, of the whole name; as a person's name where its words leave no doubt (``settling.settle_name``):
   ``Grace Okafor``, not ``Grace Period``.

What is a value is replaced by the same surrogate as that value anywhere else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from governance.masking import fields
from governance.masking.mapped import meant
from governance.masking.values import can_be

_ORDINARY: Final = re.compile(r"[A-Za-z_.\-/$:]*(?:\d[A-Za-z_.\-/$:]*){0,3}")
"""A name as a program gives it: fewer than four digits, and nothing beside letters and signs."""
_FULL_NAME: Final = re.compile(r"[^\W\d_][^\W\d_.'\u2019\-]*(?:[ \u00a0]+[^\W\d_][^\W\d_.'\u2019\-]*){1,3}")
_KOREAN_NAME: Final = re.compile(r"[가-힣]{2,4}")
_BY: Final = re.compile(r"(?:.*_)?by_(?P<what>\w+)")
_DIGITS: Final = 4
_SHAPELESS: Final = frozenset({"PERSON", "USER_ID", "LOCATION"})
"""Types of which only ``by_`` tells: a field that is called after one holds a record of it as well."""


def is_address(name: str) -> bool:
    """Whether a name holds an address."""
    return "@" in name


def is_korean(name: str) -> bool:
    """Whether a name is one short Korean word, as names of people are and most names of fields."""
    return _KOREAN_NAME.fullmatch(name) is not None


def may_be_value(name: str) -> bool:
    """Whether a field's name is offered for replacement."""
    if _ORDINARY.fullmatch(name):
        return False
    said = meant(name)
    if is_korean(said):
        return not fields.is_known(said)
    return is_address(said) or sum(map(str.isdigit, said)) >= _DIGITS or _FULL_NAME.fullmatch(said) is not None


def type_below(path: Sequence[str]) -> str | None:
    """The type that a field says of the names in it; ``path`` (folded) leads to it."""
    by = _BY.fullmatch(path[-1]) if path else None
    if by is not None:
        return "PERSON" if by.group("what") == "name" else fields.TYPES.get(by.group("what"))
    told = fields.TYPES.get(path[-1]) if path else None
    return None if told in _SHAPELESS else told


def forced_type(told: str, name: str) -> str | None:
    """The type of a name in a field that says ``told`` of it; None for one that a program gives."""
    if not can_be(told, name):
        return None
    if told == "PERSON":
        return told if _FULL_NAME.fullmatch(name) or _KOREAN_NAME.fullmatch(name) else None
    if told == "USER_ID":
        return told if any(map(str.isdigit, name)) else None
    return fields.of_family(told, name) if is_address(name) or not name.isidentifier() else None
