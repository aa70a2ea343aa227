"""The loop as Dagster assets: each takes the turn, runs one step, returns the step's report as metadata.

What a step does stands in ``pipelines.steps``; what it decides stands in the packages. Assets pass nothing to each
other but order: results lie in the store, named by digest.

Annotations are evaluated: Dagster reads a context's type at run time.
"""

from collections.abc import Callable
from typing import Any

import dagster as dg

from pipelines.authority import asset as acted
from pipelines.ledger import books, table
from pipelines.operations import scope_named, turn_of, window_of
from pipelines.rebuilds import rebuilds
from pipelines.settings import load_settings
from pipelines.steps import gating, improving, intake, releasing, training
from pipelines.steps import rights as rights_steps
from pipelines.turn import Output, Turn
from pipelines.wiring import Mill, shared_mill

LOOP = "loop"
RECENT_LINES = 31
"""Lines of the ledger that a check shows; all are checked."""


class TurnResource(dg.ConfigurableResource[Turn]):
    """Which turn a run works on: a scope and a window; an empty window is the last seven whole days."""

    scope: str = ""
    window_start: str = ""
    window_end: str = ""

    def mill(self) -> Mill:
        """The wired parts of this process."""
        return shared_mill(load_settings())

    def turn(self) -> Turn:
        """The turn of the configured scope and window."""
        mill = self.mill()
        window = window_of(mill, self.window_start or None, self.window_end or None)
        return turn_of(mill, scope_named(mill, self.scope), window)


Step = Callable[[Mill, Turn], Output]


def step_asset(step: Step, *deps: dg.AssetsDefinition) -> dg.AssetsDefinition:
    """The asset of a step, after the assets of ``deps``; the step's docstring is its description."""

    @dg.asset(name=step.__name__, group_name=LOOP, deps=deps, description=step.__doc__)
    def materialise(context: dg.AssetExecutionContext, turn: TurnResource) -> dg.MaterializeResult[Any]:
        mill, working = turn.mill(), turn.turn()
        with mill.narrate(context.log.info), acted(mill, step.__name__):
            report = step(mill, working)
        shown = {key: _metadata(value) for key, value in report.items()}
        return dg.MaterializeResult(metadata={"cycle": working.id, **shown})

    return materialise


def _metadata(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool) else dg.MetadataValue.json(value)


base_model = step_asset(intake.base_model)
trajectories = step_asset(intake.trajectories, base_model)
worlds = step_asset(intake.worlds, trajectories)
patterns = step_asset(improving.patterns, trajectories)
proposals = step_asset(improving.proposals, patterns)
tasks = step_asset(gating.tasks, worlds, trajectories)
dataset = step_asset(improving.dataset, proposals, worlds, tasks)
adapter = step_asset(training.adapter, dataset)
candidate = step_asset(improving.candidate, adapter)
evaluation = step_asset(gating.evaluation, candidate, tasks)
gate_report = step_asset(gating.gate_report, evaluation)
registration = step_asset(releasing.registration, gate_report)
promotion = step_asset(releasing.promotion, registration)

LOOP_ASSETS: list[dg.AssetsDefinition] = [
    base_model, trajectories, worlds, patterns, proposals, tasks, dataset, adapter, candidate, evaluation,
    gate_report, registration, promotion,
]  # fmt: skip


@dg.asset(group_name="intake")
def drained_spool(context: dg.AssetExecutionContext, turn: TurnResource) -> dg.MaterializeResult[Any]:
    """The spool's sealed segments in the store: raw spans never wait for the night."""
    mill = turn.mill()
    with mill.narrate(context.log.info), acted(mill, "drained_spool"):
        report = intake.drained(mill)
    return dg.MaterializeResult(metadata={key: _metadata(value) for key, value in report.items()})


@dg.asset(group_name="intake")
def masked_store(context: dg.AssetExecutionContext, turn: TurnResource) -> dg.MaterializeResult[Any]:
    """Stored traces that were masked under another version of their policy, masked again."""
    mill = turn.mill()
    with acted(mill, "masked_store"):
        report = mill.rescan().run(context.log.info)
    return dg.MaterializeResult(metadata={key: _metadata(value) for key, value in report.plain().items()})


@dg.asset_check(asset=masked_store)
def nothing_masked_otherwise(turn: TurnResource) -> dg.AssetCheckResult:
    """Check that nothing is stored under another version of its policy than the one of now."""
    found = turn.mill().rescan().left()
    return dg.AssetCheckResult(
        passed=not any(found.values()), metadata={key: _metadata(one) for key, one in found.items()}
    )


@dg.asset(group_name="retention")
def swept_store(turn: TurnResource) -> dg.MaterializeResult[Any]:
    """What is overdue, deleted; what production still stands on, renewed first."""
    mill = turn.mill()
    with acted(mill, "swept_store"):
        swept = mill.store.sweep(mill.clock.now())
    return dg.MaterializeResult(metadata={"rows": sum(swept.values()), "tables": _metadata(swept)})


@dg.asset_check(asset=swept_store)
def nothing_overdue(turn: TurnResource) -> dg.AssetCheckResult:
    """Check that no row outlives its time."""
    mill = turn.mill()
    overdue = mill.store.overdue(mill.clock.now())
    return dg.AssetCheckResult(passed=not overdue, metadata={"overdue": _metadata(overdue)})


@dg.asset(group_name="retention")
def rights_in_service(context: dg.AssetExecutionContext, turn: TurnResource) -> dg.MaterializeResult[Any]:
    """Champions whose data may not be used any more: to be rebuilt by a deadline, or out of service when it is over."""
    mill = turn.mill()
    with acted(mill, "rights_in_service"):
        report = rights_steps.check_service(mill, context.log.info)
    return dg.MaterializeResult(metadata={key: _metadata(value) for key, value in report.items()})


@dg.asset_check(asset=rights_in_service)
def no_rebuild_overdue(turn: TurnResource) -> dg.AssetCheckResult:
    """Check that no champion serves past the deadline of its rebuild."""
    found = rebuilds(turn.mill())
    return dg.AssetCheckResult(
        passed=not any(one["overdue"] for one in found.values()), metadata={"rebuilds": _metadata(found)}
    )


def ledger_check(asset: dg.AssetsDefinition, name: str, *, blocking: bool) -> dg.AssetChecksDefinition:
    """The check that the books balance, after ``asset``."""

    @dg.asset_check(asset=asset, name=name, blocking=blocking)
    def check(turn: TurnResource) -> dg.AssetCheckResult:
        """Check that every received span has one fate, and that quarantine holds what the ledger says."""
        found = books(turn.mill().store)
        shown = {"lines": len(found.lines), "wrong": found.wrong, "last_days": table(found, last=RECENT_LINES)}
        return dg.AssetCheckResult(passed=found.balance, metadata={key: _metadata(one) for key, one in shown.items()})

    return check


ledger_balances = ledger_check(trajectories, "ledger_balances", blocking=True)
spool_ledger_balances = ledger_check(drained_spool, "spool_ledger_balances", blocking=False)


@dg.asset_check(asset=dataset)
def every_row_has_a_right(turn: TurnResource) -> dg.AssetCheckResult:
    """Say at this moment whether each row may still be trained on; one that may not drops before training starts."""
    report = training.recheck_rights(turn.mill(), turn.turn())
    return dg.AssetCheckResult(passed=report["denied"] == 0, metadata=report)


@dg.asset_check(asset=gate_report)
def gate_passes(turn: TurnResource) -> dg.AssetCheckResult:
    """Show the gate's verdict as a check; a candidate that does not pass is not promoted."""
    report = turn.turn().output("gate_report")
    metadata = {"verdict": report["verdict"], "reasons": report["reasons"]}
    return dg.AssetCheckResult(passed=report["verdict"] in {"pass", "no_candidate"}, metadata=metadata)


LOOP_CHECKS: list[dg.AssetChecksDefinition] = [ledger_balances, every_row_has_a_right, gate_passes]
