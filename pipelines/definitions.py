"""What Dagster runs: the loop as one job, on a nightly schedule, and at once when rights change.

The demo materialises this very job. One process runs a turn's assets in order (``in_process_executor``), since they
share the tokenizer and the model server; turns of different scopes run beside each other.

Annotations are evaluated: Dagster reads a context's type at run time.
"""

from collections.abc import Iterator
from datetime import timedelta

import dagster as dg

from pipelines.assets import (
    LOOP_ASSETS,
    LOOP_CHECKS,
    TurnResource,
    drained_spool,
    nothing_overdue,
    spool_ledger_balances,
    swept_store,
)
from pipelines.operations import last_window
from pipelines.settings import load_settings
from pipelines.wiring import shared_mill

SCOPE_TAG = "tidemill/scope"

loop_job = dg.define_asset_job(
    "loop",
    selection=dg.AssetSelection.assets(*LOOP_ASSETS),
    executor_def=dg.in_process_executor,
    description="One turn of the loop for a scope.",
)


intake_job = dg.define_asset_job(
    "intake", selection=dg.AssetSelection.assets(drained_spool), executor_def=dg.in_process_executor
)
"""Runs without an agent, too: a fresh install keeps the structure of its spans and says what it withholds."""

frequently = dg.ScheduleDefinition(
    name="frequently", job=intake_job, cron_schedule="*/2 * * * *", default_status=dg.DefaultScheduleStatus.RUNNING
)


retention_job = dg.define_asset_job(
    "retention", selection=dg.AssetSelection.assets(swept_store), executor_def=dg.in_process_executor
)

daily = dg.ScheduleDefinition(
    name="daily", job=retention_job, cron_schedule="30 1 * * *", default_status=dg.DefaultScheduleStatus.RUNNING
)
"""Before the night's turn, so that it learns from nothing that is overdue."""


def run_config(scope: str, start: str, end: str) -> dg.RunConfig:
    """Which turn a run works on."""
    return dg.RunConfig(
        resources={"turn": TurnResource(scope=scope, window_start=start, window_end=end)},
        loggers={"console": {"config": {"log_level": "WARNING"}}},
    )


def run_request(scope: str, start: str, end: str, key: str) -> dg.RunRequest:
    """A turn of ``scope`` over a window."""
    return dg.RunRequest(run_key=key, run_config=run_config(scope, start, end), tags={SCOPE_TAG: scope})


@dg.schedule(
    job=loop_job,
    cron_schedule="0 2 * * *",
    execution_timezone="UTC",
    default_status=dg.DefaultScheduleStatus.RUNNING,
)
def nightly(context: dg.ScheduleEvaluationContext) -> Iterator[dg.RunRequest]:
    """Each night, one turn per scope over the last seven whole days."""
    midnight = context.scheduled_execution_time.replace(hour=0, minute=0, second=0, microsecond=0)
    start, end = (midnight - timedelta(days=7)).isoformat(), midnight.isoformat()
    for scope in shared_mill(load_settings()).scopes():
        yield run_request(scope.name, start, end, key=f"{scope.name}:{end}")


@dg.sensor(job=loop_job, minimum_interval_seconds=30, default_status=dg.DefaultSensorStatus.RUNNING)
def rights_changed(context: dg.SensorEvaluationContext) -> Iterator[dg.RunRequest | dg.SkipReason]:
    """A consent, a withdrawal or an erasure starts a turn: what was built with the row is rebuilt without it."""
    mill = shared_mill(load_settings())
    state = mill.store.rights.state()
    if context.cursor is None or context.cursor == state:
        context.update_cursor(state)
        yield dg.SkipReason("no change of rights")
        return
    context.update_cursor(state)
    for scope in mill.scopes():
        window = last_window(mill, scope.name)
        if window is not None:
            start, end = window.start.isoformat(), window.end.isoformat()
            yield run_request(scope.name, start, end, key=f"{scope.name}:{end}:{state}")


definitions = dg.Definitions(
    assets=[drained_spool, swept_store, *LOOP_ASSETS],
    asset_checks=[spool_ledger_balances, nothing_overdue, *LOOP_CHECKS],
    jobs=[intake_job, retention_job, loop_job],
    schedules=[frequently, daily, nightly],
    sensors=[rights_changed],
    resources={"turn": TurnResource()},
)
