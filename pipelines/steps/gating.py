"""Evals from traces, champion and candidate on them, and the paired test."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from governance.records.gate import GateReport, GateVerdict
from governance.records.manifest import UseKind, UseOutcome
from governance.records.release import ReleaseBundle
from governance.records.rights import Purpose
from governance.records.rollout import Grade
from governance.records.task import Split, Task
from pipelines.operations import start_engine
from pipelines.steps import rows_report
from pipelines.turn import Output, Turn
from pipelines.wiring import Mill
from training import gate
from training.evaluation import Bench, evaluate
from training.gate import GateConfig, grades_by_task
from training.split import Wall
from training.tasks import build
from training.verifiers import grade

NO_CANDIDATE = "no_candidate"


def cutoff_of(mill: Mill, turn: Turn) -> datetime:
    """What lies before is learned from, what lies after is measured on."""
    return turn.window.start + (turn.window.end - turn.window.start) * mill.settings.train_share


def wall_of(mill: Mill, turn: Turn) -> Wall:
    """The division of the window's runs between learning and measuring."""
    found = mill.store.trajectories.list(Purpose.EVALUATE, turn.scope.tenants, turn.window.start, turn.window.end)
    learned = mill.store.trajectories.list(
        Purpose.TRAIN_WEIGHTS, turn.scope.tenants, turn.window.start, turn.window.end
    )
    known = {one.id: one for one in (*found.rows, *learned.rows)}
    return Wall(known.values(), cutoff_of(mill, turn))


def tasks(mill: Mill, turn: Turn) -> Output:
    """Rebuild tasks from the window's runs and admit them."""
    found = mill.store.trajectories.list(Purpose.EVALUATE, turn.scope.tenants, turn.window.start, turn.window.end)
    inputs = [[one.digest() for one in found.rows], turn.output("worlds")]

    def work() -> Output:
        signals = mill.store.signals.list(Purpose.EVALUATE, turn.scope.tenants, turn.window.start, turn.window.end)
        host = mill.host(Purpose.EVALUATE)
        made = build(found.rows, signals, host, mill.store.worlds.by_source, cutoff_of(mill, turn))
        mill.store.tasks.put_all(turn.id, made.tasks)
        report = rows_report(
            len(found.rows) + len(found.excluded), len(made.tasks), (*found.excluded, *made.exclusions)
        )
        held_out = made.of(Split.EVAL)
        return {
            **report,
            "train": len(made.of(Split.TRAIN)),
            "eval": len(held_out),
            "families": dict(sorted(Counter(task.family for task in held_out).items())),
            "root": made.root(Split.EVAL),
        }

    return turn.step("tasks", inputs, work)


def held_out(mill: Mill, turn: Turn) -> tuple[Task, ...]:
    """The tasks that both arms run: all, or as many as the settings allow, chosen by digest."""
    found = mill.store.tasks.list(turn.id, Purpose.EVALUATE, Split.EVAL).tasks
    ranked = sorted(found, key=lambda task: hashlib.sha256(task.digest().encode()).digest())
    return tuple(ranked[: mill.settings.eval_tasks])


def run_arm(mill: Mill, turn: Turn, bundle: ReleaseBundle, arm: str, chosen: Sequence[Task]) -> tuple[Grade, ...]:
    """Run one whole release on the tasks through the harness runtime and vLLM."""
    start_engine(mill)
    adapter = bundle.release.adapter
    if adapter is not None:
        _, path, _ = mill.store.adapters.get(adapter.content_digest)
        mill.admin.load(adapter.served_name, Path(path))
    bench = Bench(
        runner=mill.runner,
        host=mill.host(Purpose.EVALUATE),
        engine=mill.engine,
        grade=grade,
        grades=mill.store.grades,
        concurrency=mill.settings.concurrency,
        surrogates=mill.surrogates,
    )
    say = _sparse(mill, arm)
    return asyncio.run(evaluate(bundle, chosen, bench, cycle_id=turn.id, arm=arm, progress=say))


def evaluation(mill: Mill, turn: Turn) -> Output:
    """Champion and candidate on the same held-out tasks."""
    report = turn.output("candidate")

    def work() -> Output:
        if not report["changed"]:
            return {"tasks": 0, "champion": 0.0, "candidate": 0.0, "errors": 0}
        chosen = held_out(mill, turn)
        rates, errors = {}, 0
        for arm in ("champion", "candidate"):
            bundle = mill.store.releases.get(report["release" if arm == "candidate" else "champion"])
            grades = run_arm(mill, turn, bundle, arm, chosen)
            known = [one.reward for one in grades if one.reward is not None]
            errors += len(grades) - len(known)
            rates[arm] = round(sum(known) / len(known), 4) if known else 0.0
        return {"tasks": len(chosen), **rates, "errors": errors}

    return turn.step("evaluation", [report, turn.output("tasks")["root"]], work)


def gate_report(mill: Mill, turn: Turn) -> Output:
    """Judge the candidate by the paired test."""
    report = turn.output("candidate")

    def work() -> Output:
        if not report["changed"]:
            reasons = ["no lever moved: there is nothing to compare"]
            return {"verdict": NO_CANDIDATE, "reasons": reasons, "tasks": 0}
        made = _with_rights(mill, compared(mill, turn, report["champion"], report["release"]))
        mill.store.gates.put(turn.id, made)
        return made.plain()

    return turn.step("gate_report", [report, turn.output("evaluation")], work)


def _with_rights(mill: Mill, made: GateReport) -> GateReport:
    """The report with what asking for rights again came to: what may not be used now does not pass."""
    rights = mill.rights_at_use.of_candidate(mill.store.releases.get(made.candidate))
    mill.rights_at_use.note(UseKind.GATE, rights)
    if rights.outcome is UseOutcome.WENT_ON:
        return made
    said = {"reasons": (*made.reasons, f"rights: {rights.outcome.value}: {'; '.join(rights.reasons)}")}
    stopped = {"verdict": GateVerdict.FAIL} if rights.outcome is UseOutcome.STOPPED else {}
    return made.model_copy(update=said | stopped)


def compared(mill: Mill, turn: Turn, first: str, second: str) -> GateReport:
    """The paired comparison of two releases on the held-out tasks, from the stored grades.

    The set was frozen when its tasks were built: what left it since (expiry, erasure, withdrawal) is missing on both
    sides, and the report says that it shrank.
    """
    chosen = held_out(mill, turn)
    frozen = min(turn.output("tasks")["eval"], mill.settings.eval_tasks)
    return gate.compare(
        scope=turn.scope.name,
        champion=first,
        candidate=second,
        tasks=chosen,
        champion_grades=grades_by_task(_stored(mill, first, chosen)),
        candidate_grades=grades_by_task(_stored(mill, second, chosen)),
        config=GateConfig(minimum_tasks=mill.settings.gate_tasks),
        at=mill.clock.now(),
        frozen_tasks=frozen,
    )


def _stored(mill: Mill, release: str, chosen: Sequence[Task]) -> list[Grade]:
    found = (mill.store.grades.get(release, task.digest()) for task in chosen)
    return [one for one in found if one is not None]


def _sparse(mill: Mill, arm: str, every: int = 16) -> Callable[[int, int], None]:
    """Say how far an arm is, now and then."""

    def say(done: int, total: int) -> None:
        if done % every == 0 or done == total:
            mill.tell(f"{arm}: {done}/{total} tasks")

    return say
