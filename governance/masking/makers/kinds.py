"""Kinds of words: what is no value but a category (belief, health, a title) becomes a tag that says so.

A policy quarantines special categories unless it says otherwise; one that masks them instead gets ``[health 3f9a0c]``:
the kind, and six keyed digits so that equal words stay equal. Titles become another title.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from governance.masking.draw import Seed
from governance.masking.makers.names import family_word
from governance.records.masking_policy import SPECIAL_CATEGORIES

_TITLES: Final = ("Dr", "Miss", "Mr", "Mrs", "Ms", "Mx", "Prof")


def tagged(seed: Seed, value: str, *, kind: str) -> str:
    """The kind and six keyed digits."""
    folded = " ".join(value.casefold().split())
    return f"[{kind.lower().replace('_', ' ')} {seed.draw(kind, folded).hex(6)}]"


def title(seed: Seed, value: str) -> str:
    """Another title."""
    others = [one for one in _TITLES if one.casefold() != value.casefold().rstrip(".")]
    made = seed.draw("TITLE", value.casefold()).pick(others)
    return made + "." if value.endswith(".") else made


def group(seed: Seed, value: str) -> str:
    """A made-up nation or group."""
    return family_word(seed, "NRP", value)


MAKERS: Final[Mapping[str, Callable[[Seed, str], str]]] = {
    **{kind: partial(tagged, kind=kind) for kind in SPECIAL_CATEGORIES},
    "TITLE": title,
    "NRP": group,
}
