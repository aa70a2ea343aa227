"""Typed placeholders: what stands for a person's values in a text that is made from traces and goes out.

A fact, a prompt or a memory must hold neither a value nor its surrogate: the first is somebody's, the second means
nothing to a customer. Each surrogate becomes ``{person.1}``: its type, and a number that is the same for the same
surrogate in one text, so that the text still says who is who. The agent's app fills a placeholder, or leaves the
sentence out. Where the surrogates stand is told by recorded marks, by a check of surrogates, or both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from governance.masking.annotations import text_name
from governance.ports.surrogate_check import SurrogateCheck
from governance.records.mark import Mark

PLACEHOLDER: Final = re.compile(r"\{[a-z_]+(?:\.[a-z0-9_]+)*\}")
"""The form of a placeholder, those that an app names itself (``{customer.name}``) included."""
_Place = tuple[int, int, str]


def templated(text: str, tenant_id: str, check: SurrogateCheck | None = None, marks: Iterable[Mark] = ()) -> str:
    """The text with a typed placeholder for each surrogate in it."""
    places = [(one.start, one.end, one.entity_type) for one in marks if one.text == text_name(text)]
    if check is not None:
        known = [(start, end) for start, end, _ in places]
        places += [
            (one.start, one.end, one.entity_type)
            for one in check.places(tenant_id, text)
            if not any(one.start < end and start < one.end for start, end in known)
        ]
    return _filled(text, _joined(text, sorted(places)))


def filled(text: str, values: Mapping[str, str]) -> str:
    """The text with its placeholders filled as far as ``values`` knows them (``person.1`` to the value)."""
    return PLACEHOLDER.sub(lambda match: values.get(match.group()[1:-1], match.group()), text)


def _joined(text: str, places: list[_Place]) -> list[_Place]:
    """The words of one name are one place."""
    made: list[_Place] = []
    for start, end, kind in places:
        if made and kind == made[-1][2] == "PERSON" and text[made[-1][1] : start] == " ":
            made[-1] = (made[-1][0], end, kind)
        else:
            made.append((start, end, kind))
    return made


def _filled(text: str, places: list[_Place]) -> str:
    parts, done = [], 0
    numbers: dict[str, dict[str, int]] = {}
    for start, end, kind in places:
        known = numbers.setdefault(kind, {})
        number = known.setdefault(text[start:end].casefold(), len(known) + 1)
        parts += [text[done:start], f"{{{kind.lower()}.{number}}}"]
        done = end
    return "".join([*parts, text[done:]])
