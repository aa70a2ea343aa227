"""Runs the loop job in this process, as the schedule would: same assets, same checks, same Dagster instance."""

from __future__ import annotations

import dagster as dg

from governance.records.cycle import Cycle, CycleOutcome
from governance.records.scope import Scope
from pipelines.dagster_home import instance
from pipelines.operations import turn_of
from pipelines.turn import Turn, Window
from pipelines.wiring import Mill


def run_turn(mill: Mill, scope: Scope, window: Window) -> Cycle:
    """Materialise the loop for one scope and window, and return the cycle as it ended."""
    from pipelines.definitions import SCOPE_TAG, definitions, run_config

    turn = turn_of(mill, scope, window)
    config = run_config(scope.name, window.start.isoformat(), window.end.isoformat())
    with instance(mill.settings) as held:
        result = definitions.resolve_job_def("loop").execute_in_process(
            run_config=config, instance=held, tags={SCOPE_TAG: scope.name}, raise_on_error=False
        )
    if not result.success:
        return _failed(turn, result)
    return mill.store.cycles.get(turn.id)


def _failed(turn: Turn, result: dg.ExecuteInProcessResult) -> Cycle:
    reasons = [
        f"{event.step_key}: {event.step_failure_data.error_display_string.splitlines()[-1]}"
        for event in result.all_events
        if event.is_step_failure
    ]
    return turn.close(CycleOutcome.FAILED, tuple(reasons) or ("a check blocked the run",))
