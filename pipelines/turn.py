"""One turn of the loop for a scope: its cycle record and the memory of its steps.

1. A turn's id is derived from scope, window and the state of rights at its beginning, so the same work found again has
   the same id; one that is under way is gone on with.
2. ``step`` runs a function once per input: its result is recorded with the digest of what it depended on. Interrupted
   and run again, a turn takes recorded results and goes on with the first step that has none.
3. Every result is a small JSON value of counts and digests; bulky things lie in the store under their own digests.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from governance.errors import NotFound
from governance.ports.clock import Clock
from governance.records.base import digest_json
from governance.records.cycle import Cycle, CycleOutcome, StepResult
from governance.records.scope import Scope
from governance.store import Store
from pipelines.errors import StepError

Output = dict[str, Any]


@dataclass(frozen=True)
class Window:
    """The time whose traces a turn works on: start included, end not."""

    start: datetime
    end: datetime


class Turn:
    """A cycle and its steps."""

    def __init__(
        self,
        *,
        store: Store,
        clock: Clock,
        scope: Scope,
        window: Window,
        rights_state: str,
        under_way: str | None = None,
    ) -> None:
        """Go on with the cycle that is under way, else find that of this state of rights, or begin it."""
        self.scope = scope
        self.window = window
        self._store = store
        self._clock = clock
        self.id = (
            under_way or digest_json([scope.name, window.start.isoformat(), window.end.isoformat(), rights_state])[:16]
        )
        try:
            store.cycles.get(self.id)
        except NotFound:
            self._put(CycleOutcome.RUNNING, ())

    def step(self, name: str, inputs: Any, work: Callable[[], Output]) -> Output:
        """The recorded result of ``name`` for these inputs, or the result of doing the work now."""
        key = digest_json(inputs)
        held = self._store.steps.get(self.id, name, key)
        if held is not None:
            return held.output
        started = time.monotonic()
        output = work()
        seconds = round(time.monotonic() - started, 2)
        self._store.steps.put(
            StepResult(
                cycle_id=self.id, step=name, input_digest=key, output=output, seconds=seconds, at=self._clock.now()
            )
        )
        return output

    def output(self, name: str) -> Output:
        """The newest recorded result of a step.

        Raises:
            StepError: when the step has not run in this turn.
        """
        found = [result for result in self._store.steps.list(self.id) if result.step == name]
        if not found:
            raise StepError(f"cycle {self.id} ({self.scope.name}): step {name} has not run yet; run it first")
        return max(found, key=lambda result: result.at).output

    def close(self, outcome: CycleOutcome, reasons: tuple[str, ...]) -> Cycle:
        """End the cycle."""
        return self._put(outcome, reasons)

    def _put(self, outcome: CycleOutcome, reasons: tuple[str, ...]) -> Cycle:
        cycle = Cycle(
            id=self.id,
            scope=self.scope.name,
            window_start=self.window.start,
            window_end=self.window.end,
            outcome=outcome,
            reasons=reasons,
        )
        self._store.cycles.put(cycle)
        return cycle
