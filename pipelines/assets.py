"""The loop as Dagster assets: each takes the turn, runs one step, returns the step's report as metadata.

What a step does stands in ``pipelines.steps``; what it decides stands in the packages. Assets pass nothing to each
other but order: results lie in the store, named by digest.

Annotations are evaluated: Dagster reads a context's type at run time.
"""

from collections.abc import Callable
from typing import Any

import dagster as dg

from pipelines.operations import scope_named, turn_of, window_of
from pipelines.settings import load_settings
from pipelines.steps import gating, improving, intake, releasing
from pipelines.turn import Output, Turn
from pipelines.wiring import Mill, shared_mill

LOOP = "loop"


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


def _run(context: dg.AssetExecutionContext, resource: TurnResource, step: Step) -> dg.MaterializeResult[Any]:
    """Run a step and report it."""
    mill, turn = resource.mill(), resource.turn()
    with mill.narrate(context.log.info):
        report = step(mill, turn)
    return dg.MaterializeResult(metadata={"cycle": turn.id, **{key: _metadata(value) for key, value in report.items()}})


def _metadata(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool) else dg.MetadataValue.json(value)


@dg.asset(group_name=LOOP)
def base_model(context: dg.AssetExecutionContext, turn: TurnResource) -> dg.MaterializeResult[Any]:
    """The frozen base as a local folder, by digest, and the first champion of each scope."""
    return _run(context, turn, intake.base_model)


@dg.asset(group_name=LOOP, deps=[base_model])
def trajectories(context: dg.AssetExecutionContext, turn: TurnResource) -> dg.MaterializeResult[Any]:
    """The spool drained through the door: spans, trajectories, signals, ledger."""
    return _run(context, turn, intake.trajectories)


@dg.asset(group_name=LOOP, deps=[trajectories])
def worlds(context: dg.AssetExecutionContext, turn: TurnResource) -> dg.MaterializeResult[Any]:
    """The snapshots that the window's runs started from, masked."""
    return _run(context, turn, intake.worlds)


@dg.asset(group_name=LOOP, deps=[trajectories])
def patterns(context: dg.AssetExecutionContext, turn: TurnResource) -> dg.MaterializeResult[Any]:
    """Failures that belong together, each with its lever and the reason for it."""
    return _run(context, turn, improving.patterns)


@dg.asset(group_name=LOOP, deps=[patterns])
def proposals(context: dg.AssetExecutionContext, turn: TurnResource) -> dg.MaterializeResult[Any]:
    """One change per lever that a pattern asks for."""
    return _run(context, turn, improving.proposals)


@dg.asset(group_name=LOOP, deps=[worlds, trajectories])
def tasks(context: dg.AssetExecutionContext, turn: TurnResource) -> dg.MaterializeResult[Any]:
    """Evals rebuilt from traces, admitted, split by subject and time."""
    return _run(context, turn, gating.tasks)


@dg.asset(group_name=LOOP, deps=[proposals, worlds, tasks])
def dataset(context: dg.AssetExecutionContext, turn: TurnResource) -> dg.MaterializeResult[Any]:
    """Training rows with a verdict each, and every exclusion with its reason."""
    return _run(context, turn, improving.dataset)


@dg.asset(group_name=LOOP, deps=[dataset])
def adapter(context: dg.AssetExecutionContext, turn: TurnResource) -> dg.MaterializeResult[Any]:
    """A LoRA adapter trained from the frozen base on the rows that are still allowed."""
    return _run(context, turn, improving.adapter)


@dg.asset(group_name=LOOP, deps=[adapter])
def candidate(context: dg.AssetExecutionContext, turn: TurnResource) -> dg.MaterializeResult[Any]:
    """One candidate release: base, adapter, harness and context by digest."""
    return _run(context, turn, improving.candidate)


@dg.asset(group_name=LOOP, deps=[candidate, tasks])
def evaluation(context: dg.AssetExecutionContext, turn: TurnResource) -> dg.MaterializeResult[Any]:
    """Champion and candidate on the held-out tasks, as whole releases, in restored worlds."""
    return _run(context, turn, gating.evaluation)


@dg.asset(group_name=LOOP, deps=[evaluation])
def gate_report(context: dg.AssetExecutionContext, turn: TurnResource) -> dg.MaterializeResult[Any]:
    """The paired test: pass, fail or inconclusive, with an interval."""
    return _run(context, turn, gating.gate_report)


@dg.asset(group_name=LOOP, deps=[gate_report])
def registration(context: dg.AssetExecutionContext, turn: TurnResource) -> dg.MaterializeResult[Any]:
    """The candidate in MLflow, with its run, dataset and metrics."""
    return _run(context, turn, releasing.registration)


@dg.asset(group_name=LOOP, deps=[registration])
def promotion(context: dg.AssetExecutionContext, turn: TurnResource) -> dg.MaterializeResult[Any]:
    """On pass: adapter loaded, probe answered, champion switched. The cycle ends with its outcome."""
    return _run(context, turn, releasing.promotion)


LOOP_ASSETS: list[dg.AssetsDefinition] = [
    base_model, trajectories, worlds, patterns, proposals, tasks, dataset, adapter, candidate, evaluation,
    gate_report, registration, promotion,
]  # fmt: skip


@dg.asset_check(asset=trajectories, blocking=True)
def ledger_balances(turn: TurnResource) -> dg.AssetCheckResult:
    """Check that received = stored + updated + duplicate + rejected + quarantined, for every tenant and day."""
    lines = turn.mill().store.ledger.lines()
    wrong = [f"{line.tenant_id} {line.day}" for line in lines if not line.balances]
    return dg.AssetCheckResult(passed=not wrong, metadata={"lines": len(lines), "unbalanced": wrong})


@dg.asset_check(asset=dataset, blocking=True)
def every_row_has_a_right(turn: TurnResource) -> dg.AssetCheckResult:
    """Check at this moment that each training row may still be trained on."""
    report = improving.recheck_rights(turn.mill(), turn.turn())
    return dg.AssetCheckResult(passed=report["denied"] == 0, metadata=report)


@dg.asset_check(asset=gate_report)
def gate_passes(turn: TurnResource) -> dg.AssetCheckResult:
    """Show the gate's verdict as a check; a candidate that does not pass is not promoted."""
    report = turn.turn().output("gate_report")
    metadata = {"verdict": report["verdict"], "reasons": report["reasons"]}
    return dg.AssetCheckResult(passed=report["verdict"] in {"pass", "no_candidate"}, metadata=metadata)


LOOP_CHECKS: list[dg.AssetChecksDefinition] = [ledger_balances, every_row_has_a_right, gate_passes]
