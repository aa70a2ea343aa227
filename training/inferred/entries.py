"""Entries: one recorded call and what came back, as a row of a world's table, and the ids that it speaks of.

A world that was inferred has one table for each tool, of the calls that were seen and their results, and the table
``DONE`` of the writes that a session made. So it is restored, masked, named by its digest, and left by an erased person
like any other world.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from governance.records.base import digest_json
from training.values import leaves

Row = dict[str, Any]
DONE: Final = "done"
"""The table of what a session wrote."""
KEY: Final = "key"
SINCE: Final = "since"
"""In an entry that a write replaced: the key of that write in ``DONE``."""
AMBIGUOUS: Final = "ambiguous"
"""In an entry whose call gave different results though nothing was written before."""


def call_key(name: str, arguments: Any) -> str:
    """The name of a call: equal for equal arguments."""
    return digest_json([name, arguments])[:32]


def entry(name: str, arguments: Any, outcome: Mapping[str, Any]) -> Row:
    """A row; ``outcome`` is ``{"result"}``, or ``{"error", "error_type"}`` of a refused call."""
    return {KEY: call_key(name, arguments), "arguments": arguments, **outcome}


def find(rows: Iterable[Row], key: str) -> Row | None:
    """The row of that key."""
    return next((row for row in rows if row[KEY] == key), None)


def ids_in(value: Any, known: frozenset[str]) -> frozenset[str]:
    """The leaves of a value that are known ids."""
    return frozenset(leaf for leaf in leaves(value) if leaf in known)


def ids_of(row: Row, known: frozenset[str]) -> frozenset[str]:
    """The known ids that an entry speaks of, in what was asked and in what came back."""
    return ids_in(row["arguments"], known) | ids_in(row.get("result"), known)
