"""Makers of surrogates, one file a family: each turns a value into a made-up one of the same type and form.

A maker is ``(seed, value) -> surrogate``: it draws from the tenant's keys (``governance.masking.draw``) and knows the
range of its type in which no real value lies. Where a specification has no such range, the maker's docstring says so.
``MAKERS`` names the maker of each entity type; a type without one keeps the value's shape.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from governance.masking.draw import Seed
from governance.masking.makers import contacts, dates, kinds, names, numbers, phones, places, secrets
from governance.masking.makers.shape import shaped

Maker = Callable[[Seed, str], str]
MAKERS: Final[Mapping[str, Maker]] = {
    **names.MAKERS,
    **places.MAKERS,
    **contacts.MAKERS,
    **phones.MAKERS,
    **dates.MAKERS,
    **numbers.MAKERS,
    **secrets.MAKERS,
    **kinds.MAKERS,
}


def make(seed: Seed, entity_type: str, value: str) -> str:
    """The surrogate of a value, never the value itself; of an empty text it is empty."""
    if not value:
        return value
    maker = MAKERS.get(entity_type)
    made = maker(seed, value) if maker else shaped(seed, entity_type, value)
    return made if made != value else shaped(seed, f"{entity_type}\x1fagain", value)
