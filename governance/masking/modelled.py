"""What the findings of the optional heavier model count for.

Theory. Its findings come marked (``MODEL_PERSON``), so that rules can tell them from those of patterns and of the small
language model. What a pattern found wins over them; they keep what lies outside. Then:

1. In somebody's words a finding of a score of ``FIRM`` or more counts by itself, without the evidence that the small
   model's guesses need: whoever installs a heavier model wants what those rules cannot see (names in lower case, names
   in other scripts). Below it, a name, a company, a place or a nationality is a guess like those of the small model;
   anything else is no finding.
2. In a field of data only its names count, as guesses: most of such values are data, and a model that was trained on
   prose takes many of them for names.
3. In a value of one word it counts for nothing.

Ids (``spans.PROTECTED``) inside of a finding stay. An identifier whose country the model does not say has the type that
its value has in a field.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from governance.masking.identifiers import FAMILIES, of_value
from governance.masking.spans import Hit, outside, protected

MARK: Final = "MODEL_"
"""What the types of its findings begin with until they are settled."""
FIRM: Final = 0.8
"""The score from which a finding needs no other evidence."""


class Modelled(NamedTuple):
    """The findings of the heavier model, by what they count for."""

    firm: list[Hit]
    guesses: list[Hit]


def unmarked(entity_type: str) -> str:
    """The type without the mark."""
    return entity_type.removeprefix(MARK)


def modelled(hits: Iterable[Hit], guessed: frozenset[str], *, strict: bool) -> Modelled:
    """The marked ones among ``hits``, without their mark; ``guessed`` are the types of which guesses exist."""
    found = [replace(hit, entity_type=unmarked(hit.entity_type)) for hit in hits if is_modelled(hit)]
    firm = [hit for hit in found if hit.score >= FIRM and not strict]
    return Modelled(firm, [hit for hit in found if hit not in firm and hit.entity_type in guessed])


def is_modelled(hit: Hit) -> bool:
    """Whether the heavier model found it."""
    return hit.entity_type.startswith(MARK)


def left_of(text: str, hits: Iterable[Hit], taken: Sequence[Hit]) -> list[Hit]:
    """What firm findings keep outside of ``taken`` and of ids, under their types; a cut leaves no signs and spaces."""
    left = []
    for hit in hits:
        for piece in outside([hit], [*taken, *protected(text)]):
            kept = piece if piece == hit else _trimmed(text, piece)
            if kept.start < kept.end:
                left.append(_typed(text, kept))
    return left


def _trimmed(text: str, hit: Hit) -> Hit:
    start, end = hit.start, hit.end
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and not text[end - 1].isalnum():
        end -= 1
    return replace(hit, start=start, end=end)


def _typed(text: str, hit: Hit) -> Hit:
    if hit.entity_type not in FAMILIES:
        return hit
    return replace(hit, entity_type=of_value(hit.entity_type, text[hit.start : hit.end]))
