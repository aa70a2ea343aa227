"""From what recognisers say to the findings of a text: who wins where they overlap, and which guesses count.

Theory. Three classes, the stronger first. What identifies by its shape or its context (an address, a number) is sure.
Names of people follow from guesses and their evidence (``people``). What describes (a company, a town, a date, an age:
``DETECTED_ONLY``) is found too, and has only what the others leave, because a policy keeps it by default: were it to
win, what identifies would stay in clear inside of it. Findings of an optional heavier model stand behind those of
patterns (``modelled``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from governance.masking import words
from governance.masking.identifiers import FAMILY_OF, told_by_value
from governance.masking.lexicon import is_ordinary
from governance.masking.modelled import is_modelled, left_of, modelled, unmarked
from governance.masking.people import beside, names_in, spread
from governance.masking.spans import Hit, outside, protected, resolve, unprotected, without_hosts
from governance.masking.weights import of_shared_words
from governance.records.masking_policy import DETECTED_ONLY

_ALSO_WORDS: Final = frozenset({"ORGANIZATION", "GPE", "NRP", "LOCATION"})
"""Types whose values are names of other things, too."""
GUESSED: Final = frozenset({"PERSON", "ORGANIZATION", "GPE", "NRP"})
"""What the language model reads texts for."""
TOLD: Final = {"KR_PERSON": "PERSON", "KR_ADDRESS": "LOCATION", "URL_PERSON": "PERSON", "TOLD_PERSON": "PERSON"}
"""Names and places that their surroundings tell: reported under the general type, and firm where a guess is not."""


_KOREAN_WORD: Final = re.compile(r"[가-힣]{1,4}")


def settle(text: str, hits: Iterable[Hit], *, guesses: bool, strict: bool) -> tuple[Hit, ...]:
    """The findings without overlap, in order.

    ``guesses``: whether guesses count at all. ``strict``: whether the text is data, where names need known ones and
    nothing is described.
    """
    seen = [_told_by_value(text, hit) for hit in without_hosts(unprotected(text, hits))]
    known = [hit for hit in seen if not is_modelled(hit)]
    model = modelled(seen if guesses else (), GUESSED, strict=strict)
    guessed = [hit for hit in known if hit.entity_type in GUESSED]
    firm = [replace(hit, entity_type=general(hit.entity_type)) for hit in known if hit.entity_type not in GUESSED]
    sure = resolve(hit for hit in firm if hit.entity_type not in DETECTED_ONLY)
    added = left_of(text, model.firm, sure)
    people = [hit for hit in added if hit.entity_type == "PERSON"]
    sure = resolve([*sure, *(hit for hit in added if hit.entity_type not in DETECTED_ONLY | {"PERSON"})])
    guessed += model.guesses
    names = _names(text, guessed, sure, people, strict=strict) if guesses else ()
    taken = [*sure, *names]
    described = [hit for hit in firm if hit.entity_type in DETECTED_ONLY]
    described += outside([hit for hit in added if hit.entity_type in DETECTED_ONLY], resolve(described))
    if guesses and not strict:
        described += outside([hit for hit in guessed if hit.entity_type in DETECTED_ONLY], resolve(described))
    return resolve([*taken, *outside(resolve(described), taken)])


def settle_name(name: str, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """What of a field's name is a value: an address anywhere in it, else what the whole of it is.

    Nothing of one short Korean word: a person's name looks like any other there.
    """
    if _KOREAN_WORD.fullmatch(name):
        return ()
    addresses = tuple(hit for hit in hits if hit.entity_type == "EMAIL_ADDRESS")
    return addresses or tuple(hit for hit in hits if _is_whole(name, hit) and _is_certain(name, hit))


def _is_whole(name: str, hit: Hit) -> bool:
    return not any(map(str.isalnum, name[: hit.start] + name[hit.end :]))


def _is_certain(name: str, hit: Hit) -> bool:
    """A person's name begins with a given name that is nothing else, or ends with no word of English."""
    if hit.entity_type != "PERSON":
        return hit.entity_type not in _ALSO_WORDS
    parts = name.casefold().split()
    if len(parts) < 2 or parts[0] not in words.GIVEN:
        return False
    return parts[0] in words.GIVEN_ALONE or not is_ordinary(parts[-1])


def general(entity_type: str) -> str:
    """The type under which a finding is reported."""
    return TOLD.get(entity_type, unmarked(entity_type))


def _told_by_value(text: str, hit: Hit) -> Hit:
    """An identifier that only shared words tell has the type that its value has in a field."""
    if hit.entity_type not in FAMILY_OF or not of_shared_words(hit.score):
        return hit
    return replace(hit, entity_type=told_by_value(hit.entity_type, text[hit.start : hit.end]))


def _names(
    text: str, guessed: Sequence[Hit], sure: Sequence[Hit], people: Sequence[Hit], *, strict: bool
) -> tuple[Hit, ...]:
    """The names that guesses are evidence of, joined with those that need none."""
    taken = [*sure, *protected(text)]
    names = [name for hit in outside(guessed, taken) for name in names_in(text, hit, strict=strict)]
    found = list(resolve(outside([*people, *names], taken)))
    if not strict:
        found += outside(beside(text, found), [*taken, *found])
    return resolve([*found, *outside(spread(text, found), [*taken, *found])])
