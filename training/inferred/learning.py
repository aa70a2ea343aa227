"""Learning a world from recorded runs.

Theory. Runs that start from one state of a service show parts of it. A read shows what the service holds, as long as
nothing was written before it in its run that it could depend on; then equal calls must have given equal results, and
one that did not is marked as ambiguous rather than decided. What a read may depend on is told by ids: the arguments
that reads are asked with. A write touches the ids in its arguments and its result, and one step further: what the
entries of those ids name (a reservation names its owner). A read that speaks of no id (a list of everything) may depend
on every write. Where a later read of the same run gave exactly what the
write had returned, the write is known to return the new state of that entry; one that ever did otherwise is not.

Nothing is guessed beyond that: a call that these rules do not support is ``Unrecorded``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from governance.records.base import canonical_json
from governance.records.harness import Effect, ToolSpec
from governance.records.trajectory import ToolInvocation
from governance.records.world import World, WorldSchema
from training.inferred.entries import AMBIGUOUS, DONE, KEY, Row, call_key, entry, ids_in, ids_of
from training.values import leaves

RETURNS: Final = "returns"
"""The table of which writes return the new state of which read."""
Run = Sequence[ToolInvocation]


def schema_of(tools: Iterable[ToolSpec]) -> WorldSchema:
    """How a world that was inferred for these tools is read."""
    keys = {tool.name: KEY for tool in tools if tool.effect is not Effect.ANSWER}
    return WorldSchema(primary_keys={**keys, DONE: KEY, RETURNS: KEY}, subject_fields={}, personal_fields={})


def outcome_of(call: ToolInvocation) -> Mapping[str, Any]:
    """What came back, as an entry holds it."""
    if call.error is not None:
        return {"error": call.error, "error_type": call.error_type or "error"}
    return {"result": call.result}


def infer(runs: Iterable[Run], tools: Sequence[ToolSpec], at: datetime) -> World:
    """The world that recorded runs show; each run is its calls in order, and all began in the same state."""
    effects = {tool.name: tool.effect for tool in tools if tool.effect is not Effect.ANSWER}
    kept = [[call for call in run if call.name in effects] for run in runs]
    known = known_ids(call for run in kept for call in run if effects[call.name] is Effect.READ)
    seen = _Seen(effects, known)
    for run in kept:
        seen.learn(run)
    return World(tables={name: tuple(rows) for name, rows in seen.tables().items()}, documents={}, at=at)


def known_ids(reads: Iterable[ToolInvocation]) -> frozenset[str]:
    """What reads are asked with."""
    return frozenset(leaf for call in reads for leaf in leaves(call.arguments))


def touched_by(written: Row, entries: Iterable[Row], known: frozenset[str]) -> frozenset[str]:
    """The ids that a write touches: its own, and what the entries of those name."""
    own = ids_of(written, known)
    near = (ids_of(row, known) for row in entries if (asked := ids_in(row["arguments"], known)) and asked <= own)
    return own.union(*near)


def is_state_of(row: Row, result: Any) -> bool:
    """Whether a write's result has the form of what an entry holds, and names what the entry was asked with."""
    held = row.get("result")
    if not isinstance(result, dict) or not isinstance(held, dict) or result.keys() != held.keys():
        return False
    return set(leaves(row["arguments"])) <= set(leaves(result))


class _Seen:
    """What runs showed so far."""

    def __init__(self, effects: Mapping[str, Effect], known: frozenset[str]) -> None:
        self._effects, self._known = effects, known
        self._results: dict[tuple[str, str], tuple[Any, Counter[bytes]]] = {}
        self._outcomes: dict[bytes, Mapping[str, Any]] = {}
        self._returns: dict[tuple[str, str], bool] = {}

    def learn(self, run: Run) -> None:
        """Take what a run showed before it could depend on what the run itself wrote."""
        dirty: frozenset[str] = frozenset()
        wrote = False
        last: dict[str, tuple[str, Any]] = {}
        entries: list[Row] = []
        for call in run:
            row = entry(call.name, call.arguments, outcome_of(call))
            if self._effects[call.name] is Effect.READ:
                self._confirm(call, last)
                speaks_of = ids_of(row, self._known)
                if dirty.isdisjoint(speaks_of) and (speaks_of or not wrote):
                    self._note(call)
                    entries.append(row)
                continue
            if dirty.isdisjoint(ids_of(row, self._known)):
                self._note(call)
            if call.error is None:
                wrote = True
                dirty |= touched_by(row, entries, self._known)
                last = dict.fromkeys(ids_of(row, self._known), (call.name, call.result))

    def _confirm(self, call: ToolInvocation, last: Mapping[str, tuple[str, Any]]) -> None:
        """Compare a read with what the last write returned, where that speaks of the same thing."""
        asked = ids_in(call.arguments, self._known)
        writes = {last[id_][0]: last[id_][1] for id_ in asked if id_ in last}
        for name, result in writes.items():
            if is_state_of({"arguments": call.arguments, "result": call.result}, result):
                same = canonical_json(result) == canonical_json(call.result)
                self._returns[name, call.name] = self._returns.get((name, call.name), True) and same

    def _note(self, call: ToolInvocation) -> None:
        key = call.name, call_key(call.name, call.arguments)
        outcome = outcome_of(call)
        form = canonical_json(outcome)
        self._outcomes[form] = outcome
        self._results.setdefault(key, (call.arguments, Counter()))[1][form] += 1

    def tables(self) -> dict[str, list[Row]]:
        """Everything as rows, sorted."""
        found: dict[str, list[Row]] = {name: [] for name in self._effects}
        for (name, _), (arguments, forms) in sorted(self._results.items()):
            row = entry(name, arguments, self._outcomes[max(forms, key=lambda form: (forms[form], form))])
            found[name].append({**row, AMBIGUOUS: True} if len(forms) > 1 else row)
        found[RETURNS] = list(_returning(self._returns))
        found[DONE] = []
        return found


def _returning(returns: Mapping[tuple[str, str], bool]) -> Iterator[Row]:
    for (write, read), always in sorted(returns.items()):
        if always:
            yield {KEY: f"{write} {read}", "write": write, "read": read}
