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
        if _is_index(index):
            found.setdefault(int(index), {})[rest] = value
    if found and sorted(found) != list(range(len(found))):
        notes.add(MISSING)
    return [found[index] for index in sorted(found)]


def keys_under(attributes: dict[str, Any], prefixes: tuple[str, ...]) -> set[str]:
    """Keys that equal a prefix or continue it."""
    starts = tuple(f"{prefix}." for prefix in prefixes)
    return {key for key in attributes if key in prefixes or key.startswith(starts)}


def indexed_keys(attributes: dict[str, Any], prefixes: tuple[str, ...]) -> set[str]:
    """Keys of the items under these prefixes: ``prefix.N`` and ``prefix.N.rest``."""
    starts = tuple(f"{prefix}." for prefix in prefixes)
    return {key for key in attributes if key.startswith(starts) and any(_under(key, start) for start in starts)}


def _under(key: str, start: str) -> bool:
    return key.startswith(start) and _is_index(key[len(start) :].partition(".")[0])


def _is_index(text: str) -> bool:
    """Whether a piece of a key is an index, in its one spelling."""
    plain = text.isascii() and text.isdecimal() and len(text) < len(str(MAX_INDEX))
    return plain and text == str(int(text))
