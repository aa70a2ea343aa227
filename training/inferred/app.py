"""The app of an inferred world: answers a call as it was recorded, and says so where nothing supports an answer.

Theory. A read is answered when it was seen, gave one result, and speaks of nothing that this session wrote since; a
write that returns the new state of an entry puts that in its place. A write is answered when the very same one was seen
on ids that this session has not touched. Everything else raises ``Unrecorded``: the run is invalid then, and no score
is made of it. So what such a world says may be incomplete and is never made up.

The writes of a session stand in the table ``DONE``, each with its count among equal ones, so that a state difference of
two runs that wrote the same is the same, whatever the order.

What ties a read to a write is an id that both speak of; a read that speaks of none is answered before the first write
alone. A service whose reads depend on writes in another way (a total of a day, a refused call that changed something)
is beyond this: where runs show it the read is ambiguous; where they do not, only the fidelity of held-out runs tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from governance.ports.tools import App, ToolRefusal, Unrecorded, WorldState
from governance.records.base import digest_json
from governance.records.harness import Effect, ToolSpec
from training.inferred.entries import AMBIGUOUS, DONE, KEY, SINCE, Row, call_key, find, ids_of
from training.inferred.learning import RETURNS, is_state_of, touched_by
from training.state import copy_json
from training.values import leaves


class InferredApp(App):
    """The tools of an agent, over what its traces showed."""

    def __init__(self, tools: Sequence[ToolSpec]) -> None:
        """``tools`` as the agent's harness names them, each a read or a write."""
        self._tools = tuple(tools)
        self._effects = {tool.name: tool.effect for tool in tools}

    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools."""
        return self._tools

    def call(self, state: WorldState, name: str, arguments: dict[str, Any]) -> Any:
        """The recorded result.

        Raises:
            ToolRefusal: as the real tool refused this call.
            Unrecorded: when nothing that was recorded supports an answer.

        """
        if self._effects.get(name) is Effect.ANSWER:
            return None
        row = find(state.tables.get(name, ()), call_key(name, arguments))
        if row is None:
            raise Unrecorded(f"{name}: no such call was recorded")
        if row.get(AMBIGUOUS):
            raise Unrecorded(f"{name}: this call gave different results from the same state")
        if not self._stands(state, row):
            raise Unrecorded(f"{name}: it speaks of what this run has written")
        if "error" in row:
            raise ToolRefusal(row["error_type"], row["error"])
        if self._effects[name] is Effect.WRITE:
            self.note(state, name, arguments, row["result"])
        return copy_json(row["result"])

    def note(self, state: WorldState, name: str, arguments: dict[str, Any], result: Any) -> None:
        """Write down that a session made a write that gave ``result``."""
        done = state.tables[DONE]
        same = sum(row["name"] == name and row["arguments"] == arguments for row in done)
        key = digest_json([name, arguments, same])[:32]
        done.append({KEY: key, "name": name, "arguments": copy_json(arguments), "result": copy_json(result)})
        for rule in state.tables.get(RETURNS, ()):
            if rule["write"] == name:
                for row in state.tables[rule["read"]]:
                    if is_state_of(row, result):
                        row["result"], row[SINCE] = copy_json(result), key

    def _stands(self, state: WorldState, row: Row) -> bool:
        """Whether nothing that the session wrote since the entry was made touches what it speaks of."""
        done = state.tables[DONE]
        since = next((place for place, one in enumerate(done, 1) if one[KEY] == row.get(SINCE)), 0)
        later = done[since:]
        if not later:
            return True
        reads = [entry for name, effect in self._effects.items() if effect is Effect.READ
                 for entry in state.tables.get(name, ())]  # fmt: skip
        known = frozenset(leaf for entry in reads for leaf in leaves(entry["arguments"]))
        mine = ids_of(row, known)
        return bool(mine) and all(mine.isdisjoint(touched_by(one, reads, known)) for one in later)
