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
    masked_store,
    no_rebuild_overdue,
    nothing_masked_otherwise,
    nothing_overdue,
    rights_in_service,
    spool_ledger_balances,
    swept_store,
)
from pipelines.evidence import anchored_audit, audit_is_whole
from pipelines.operations import last_window
from pipelines.settings import load_settings
from pipelines.wiring import shared_mill

SCOPE_TAG = "tidemill/scope"

loop_job = dg.define_asset_job(
    "loop",
    selection=dg.AssetSelection.assets(*LOOP_ASSETS, anchored_audit),
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


rescan_job = dg.define_asset_job(
    "rescan", selection=dg.AssetSelection.assets(masked_store), executor_def=dg.in_process_executor
)

hourly = dg.ScheduleDefinition(
    name="hourly", job=rescan_job, cron_schedule="15 * * * *", default_status=dg.DefaultScheduleStatus.RUNNING
)
"""A policy that changed reaches what is stored; where nothing changed, a look into the store is all."""


retention_job = dg.define_asset_job(
    "retention", selection=dg.AssetSelection.assets(rights_in_service, swept_store), executor_def=dg.in_process_executor
)

daily = dg.ScheduleDefinition(
    name="daily", job=retention_job, cron_schedule="30 1 * * *", default_status=dg.DefaultScheduleStatus.RUNNING
)
"""Before the night's turn, so that it learns from nothing that is overdue."""


audit_job = dg.define_asset_job(
    "audit", selection=dg.AssetSelection.assets(anchored_audit), executor_def=dg.in_process_executor
)

each_hour = dg.ScheduleDefinition(
    name="each_hour", job=audit_job, cron_schedule="45 * * * *", default_status=dg.DefaultScheduleStatus.RUNNING
)
"""What was written since the last checkpoint is what a chain that was written anew could leave out."""


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
    assets=[drained_spool, masked_store, rights_in_service, swept_store, anchored_audit, *LOOP_ASSETS],
    asset_checks=[
        spool_ledger_balances,
        nothing_masked_otherwise,
        nothing_overdue,
        no_rebuild_overdue,
        audit_is_whole,
        *LOOP_CHECKS,
    ],
    jobs=[intake_job, rescan_job, retention_job, audit_job, loop_job],
    schedules=[frequently, hourly, daily, each_hour, nightly],
    sensors=[rights_changed],
    resources={"turn": TurnResource()},
)
