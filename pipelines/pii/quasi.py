"""Quasi-identifiers of people: one row a person, from the JSON leaves of their runs.

What a tool was given and what it answered is structured, so a leaf's field name says what it is. A person with several
values of a field has them all. Values stand as masking left them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from governance.masking.fields import fold
from governance.records.trajectory import Trajectory

NAMES: Final = (
    "birth_year", "year_of_birth", "age", "gender", "sex", "city", "town", "state", "region", "province", "country",
    "postcode", "postal_code", "zip", "zip_code", "nationality", "occupation", "job_title", "marital_status",
)  # fmt: skip
"""Names of fields that are looked for where none are declared."""
_DEEPEST: Final = 40


def people(trajectories: Iterable[Trajectory], names: Sequence[str]) -> list[dict[str, str]]:
    """One row for each person who has any of the fields."""
    found: dict[tuple[str, str], dict[str, set[str]]] = {}
    for run in trajectories:
        row = found.setdefault((run.tenant_id, run.subject), {})
        for call in run.calls:
            for value in (call.arguments, call.result):
                _collect(value, _folded(names), row)
    return [_joined(row) for row in found.values() if row]


def flat(rows: Iterable[dict[str, Any]], names: Sequence[str]) -> list[dict[str, str]]:
    """Rows of a table or a file, each a person, by the same rules."""
    made: list[dict[str, set[str]]] = []
    for row in rows:
        made.append({})
        _collect(row, _folded(names), made[-1])
    return [_joined(row) for row in made]


def _folded(names: Iterable[str]) -> frozenset[str]:
    return frozenset(fold(name)[-1] for name in names if fold(name))


def _collect(value: Any, names: frozenset[str], row: dict[str, set[str]]) -> None:
    for name, text in _leaves(value, "", _DEEPEST):
        if name in names:
            row.setdefault(name, set()).add(text)


def _joined(row: dict[str, set[str]]) -> dict[str, str]:
    return {name: " | ".join(sorted(texts)) for name, texts in row.items()}


def _leaves(value: Any, name: str, depth: int) -> Iterator[tuple[str, str]]:
    """Field name, folded, and text of each leaf, through JSON inside strings."""
    if isinstance(value, str) and value.lstrip()[:1] in {"{", "["}:
        value = _parsed(value)
    if depth == 0 or value is None or value == "":
        return
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, (fold(str(key)) or ("",))[-1], depth - 1)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item, name, depth - 1)
    elif name:
        yield name, value if isinstance(value, str) else json.dumps(value)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
