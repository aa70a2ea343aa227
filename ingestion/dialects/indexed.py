"""Indexed attributes: ``prefix.N.rest`` into a list of nested objects, with the holes that limits leave."""

from __future__ import annotations

from typing import Any, Final

MISSING: Final = "missing_index"
"""The flag of a conversation with a hole in its indices."""
MAX_INDEX: Final = 100_000


def collect(attributes: dict[str, Any], prefix: str, notes: set[str]) -> list[dict[str, Any]]:
    """The items under ``prefix``, by index; keys that go on (``a.b``) stay joined. Notes a hole."""
    found: dict[int, dict[str, Any]] = {}
    start = f"{prefix}."
    for key, value in attributes.items():
        if not key.startswith(start):
            continue
        index, _, rest = key[len(start) :].partition(".")
        if index.isdecimal() and index.isascii() and len(index) < len(str(MAX_INDEX)):
            found.setdefault(int(index), {})[rest] = value
    if found and sorted(found) != list(range(len(found))):
        notes.add(MISSING)
    return [found[index] for index in sorted(found)]


def keys_under(attributes: dict[str, Any], prefixes: tuple[str, ...]) -> set[str]:
    """Keys that equal a prefix or continue it."""
    return {key for key in attributes if any(key == prefix or key.startswith(f"{prefix}.") for prefix in prefixes)}
