"""Evaluation: run one release on held-out tasks and grade each run.

Theory. An evaluation is a set of independent runs, so it is concurrent with a bound, goes on where it was interrupted,
and one broken task never takes another down. What is stored is what is known: a grade that is a verdict is stored under
(release, task) and never made twice; a grade that is an error is returned and counted, but not stored, so the next
attempt runs the task again instead of keeping an outage as a result. A store that fails stops the evaluation; a task
that was erased meanwhile is an error of that task. An engine that does not answer is an error of the
evaluation; a run that the agent itself spoiled (unparseable, too many steps) is the agent's and goes to the verifiers.

A run that says a surrogate which nothing gave it has learned somebody's masked data by heart: its grade names the
types, and the gate counts them.

Both arms of a comparison call this with the same tasks, runner, host and engine: the harness that is served is the one
that is evaluated.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from governance.errors import NotFound
from governance.ports.engine import ChatEngine
from governance.ports.runner import AgentRunner
from governance.ports.surrogate_check import SurrogateCheck
from governance.ports.tools import ToolHost
from governance.records.message import Role
from governance.records.release import ReleaseBundle
from governance.records.rollout import AgentRequest, Grade, Rollout, StopReason
from governance.records.task import Task
from governance.records.world import StateChange

GradeFunction = Callable[[Task, Rollout, tuple[StateChange, ...]], Grade]
Progress = Callable[[int, int], None]


class GradeShelf(Protocol):
    """Where grades rest: the store's grades repository."""

    def get(self, release_digest: str, task_digest: str) -> Grade | None:
        """The grade of that release on that task, if there is one."""

    def put(self, cycle_id: str, arm: str, task_digest: str, grade: Grade, rollout: Rollout) -> None:
        """Keep a grade with its run; the same release and task keep one."""


@dataclass(frozen=True)
class Bench:
    """What runs need: a runtime, worlds, a model, a judge, a shelf."""

    runner: AgentRunner
    host: ToolHost
    engine: ChatEngine
    grade: GradeFunction
    grades: GradeShelf
    concurrency: int = 8
    attempts: int = 2
    """How often a task is tried whose engine does not answer."""
    surrogates: SurrogateCheck | None = None
    """Tells surrogates in what a run said."""


async def evaluate(
    bundle: ReleaseBundle,
    tasks: Sequence[Task],
    bench: Bench,
    *,
    cycle_id: str,
    arm: str,
    progress: Progress | None = None,
) -> tuple[Grade, ...]:
    """Grade the release on each task, in the order of ``tasks``."""
    gate = asyncio.Semaphore(bench.concurrency)
    done = 0

    async def one(task: Task) -> Grade:
        nonlocal done
        async with gate:
            grade = await _graded(bundle, task, bench, cycle_id, arm)
        done += 1
        if progress is not None:
            progress(done, len(tasks))
        return grade

    return tuple(await asyncio.gather(*(one(task) for task in tasks)))


def request_of(task: Task) -> AgentRequest:
    """The customer's message that the task asks again; it names no person."""
    return AgentRequest(
        tenant_id=task.tenant_id,
        session_id=f"eval-{task.digest()[:16]}",
        user_id=None,
        topic=task.topic,
        message=task.instruction,
        world_digest=task.world_digest,
        at=task.at,
    )


async def _graded(bundle: ReleaseBundle, task: Task, bench: Bench, cycle_id: str, arm: str) -> Grade:
    release, digest = bundle.release.digest(), task.digest()
    stored = bench.grades.get(release, digest)
    if stored is not None:
        return stored
    try:
        grade, rollout = await _run(bundle, task, bench)
    except Exception as error:  # noqa: BLE001 - whatever one task breaks stays with that task, as an error
        return _error(task, release, f"{type(error).__name__}: {error}")
    if grade.error is None:
        try:
            bench.grades.put(cycle_id, arm, digest, grade, rollout)
        except NotFound as error:
            return _error(task, release, f"the task is gone: {error}")
    return grade


async def _run(bundle: ReleaseBundle, task: Task, bench: Bench) -> tuple[Grade, Rollout]:
    """The first run that an engine answered, graded; else the last failure as an error."""
    request, release = request_of(task), bundle.release.digest()
    for attempt in range(1, bench.attempts + 1):
        session = bench.host.open(task.world_digest)
        rollout = await bench.runner.run(bundle, request, session, bench.engine)
        if rollout.stop is not StopReason.ENGINE_ERROR:
            grade = bench.grade(task, rollout, session.changes())
            return _checked(grade, task, rollout, bench.surrogates), rollout
        if attempt < bench.attempts:
            await asyncio.sleep(0)
    return _error(task, release, f"engine: {rollout.error or 'no answer'}"), rollout


def _checked(grade: Grade, task: Task, rollout: Rollout, check: SurrogateCheck | None) -> Grade:
    """The grade with the surrogates that the run said: a masked world gives it some, and those are no fault."""
    if check is None:
        return grade
    said, given = spoken(rollout), (task.instruction, *heard(rollout))
    return grade.model_copy(update={"surrogates": check.unprompted(task.tenant_id, said, given)})


def spoken(rollout: Rollout) -> str:
    """Everything that the model wrote."""
    calls = [json.dumps(call.arguments, ensure_ascii=False) for call in rollout.calls]
    return "\n".join([*(step.text for step in rollout.steps), *calls, rollout.answer or ""])


def heard(rollout: Rollout) -> list[str]:
    """Everything that the model was given: all messages but its own, and what tools answered."""
    told = [
        json.dumps(message.plain(), ensure_ascii=False)
        for step in rollout.steps
        for message in step.messages
        if message.role is not Role.ASSISTANT
    ]
    return [*told, *(json.dumps([call.result, call.error], ensure_ascii=False) for call in rollout.calls)]


def _error(task: Task, release: str, text: str) -> Grade:
    return Grade(task_digest=task.digest(), release_digest=release, reward=None, passed=(), failed=(), error=text)
