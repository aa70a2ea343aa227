"""Replays: a demonstration's calls in a restored world, and whether they give what was recorded.

Theory. A world that replays faithfully gives back every recorded result. Where the app makes up keys, a recorded and a
replayed result may differ in such a key and in nothing else; that is tried only when they differ at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from governance.ports.tools import ToolSession
from governance.records.base import Record, canonical_json
from governance.records.trajectory import ToolInvocation
from governance.records.world import StateChange
from training.state import copy_json
from training.values import leaves, states
from training.worlds import WorldHost


class Replay(Record):
    """What a replay gave."""

    calls: tuple[ToolInvocation, ...]
    results: tuple[Any, ...]
    changes: tuple[StateChange, ...]
    faithful: bool


def replay(session: ToolSession, calls: Sequence[ToolInvocation]) -> Replay:
    """Make the recorded calls and compare.

    Raises:
        ToolRefusal: when the world refuses a call that succeeded in production.

    """
    results = [session.call(call.name, copy_json(call.arguments)) for call in calls]
    changes = session.changes()
    made_up = {change.key for change in changes if change.before is None}
    same = all(_same(call.result, result, made_up) for call, result in zip(calls, results, strict=True))
    return Replay(calls=tuple(calls), results=tuple(results), changes=changes, faithful=same)


def _same(recorded: Any, replayed: Any, made_up: set[str]) -> bool:
    if canonical_json(recorded) == canonical_json(replayed):
        return True
    if isinstance(replayed, dict) and isinstance(recorded, dict):
        return recorded.keys() == replayed.keys() and all(_same(recorded[k], replayed[k], made_up) for k in replayed)
    if isinstance(replayed, list) and isinstance(recorded, list | tuple):
        return len(recorded) == len(replayed) and all(
            _same(left, right, made_up) for left, right in zip(recorded, replayed, strict=True)
        )
    return isinstance(recorded, str | int) and str(replayed) in made_up


def _keys(host: WorldHost, world_digest: str) -> Iterable[tuple[str, str]]:
    world = host.world(world_digest)
    for table, field in host.schema.primary_keys.items():
        for row in world.tables.get(table, ()):
            if field in row:
                yield table, str(row[field])


def leaves_out(instruction: str, host: WorldHost, world_digest: str, played: Replay) -> bool:
    """Whether the request names a row, of a table that the calls name rows of, which no call and no result holds."""
    touched = {leaf for call in played.calls for leaf in leaves(call.arguments)}
    touched |= {leaf for result in played.results for leaf in leaves(result)}
    named = [(table, key) for table, key in _keys(host, world_digest) if states(instruction, key)]
    tables = {table for table, key in _keys(host, world_digest) if key in touched}
    return any(table in tables and key not in touched for table, key in named)
