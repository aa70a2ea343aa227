"""Grades: what a task's verifiers say of a run, in a fixed order, and the reward that is made of it.

Theory. The outcome is 1.0 when every verifier of the world and the answer passes and 0.0 when one fails; the policy is
the same of the process rules. The reward is what the reduction makes of both (``reward``). A run that the engine broke,
or whose world could not answer, has no reward: an error is never a zero, because errors are not spread evenly and would
turn a ranking. Values in the answer are matched as ``training.values`` says, whole answers as ``equivalence`` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from governance.errors import RecordError
from governance.records.rollout import INVALID, Grade, Rollout, RolloutCall
from governance.records.task import GoldAction, Task
from governance.records.verifier import (
    AnswerAvoids,
    AnswerContains,
    Answered,
    AnswerEquals,
    Calls,
    Reduction,
    RewardVector,
    SideEffects,
    StateDiff,
    VerifierSpec,
)
from governance.records.world import StateChange
from training.values import fold, states
from training.verifiers.changes import effects_hold, same_changes
from training.verifiers.equivalence import equal
from training.verifiers.reward import reduced

DEFAULT: Final = Reduction()


def holds(
    verifier: VerifierSpec,
    answer: str | None,
    changes: Sequence[StateChange],
    gold: Iterable[GoldAction],
    calls: Sequence[RolloutCall] = (),
) -> bool:
    """Whether one verifier passes."""
    said = answer or ""
    match verifier:
        case StateDiff():
            return same_changes(verifier.changes, changes, gold)
        case SideEffects():
            return effects_hold(verifier, changes)
        case AnswerContains():
            return all(states(said, value) for value in verifier.values)
        case AnswerAvoids():
            return not any(states(said, value) for value in verifier.values)
        case AnswerEquals():
            return equal(verifier.form, verifier.expected, said, verifier.tolerance)
        case Calls():
            return kept(verifier, calls)
        case Answered():
            return bool(fold(said))


def kept(rule: Calls, calls: Sequence[RolloutCall]) -> bool:
    """Whether a run kept a process rule. What was tried and refused was tried."""
    names = [call.name for call in calls]
    if not set(rule.forbidden).isdisjoint(names):
        return False
    first = next((place for place, name in enumerate(names) if name in rule.writes), len(names))
    done = {call.name for call in calls[:first] if call.error is None}
    return first == len(names) or done >= set(rule.before_writing)


def judge(
    task: Task, answer: str | None, changes: Sequence[StateChange], calls: Sequence[RolloutCall] = ()
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The kinds of the verifiers that pass and of those that fail."""
    passed: list[str] = []
    failed: list[str] = []
    for verifier in task.verifiers:
        (passed if holds(verifier, answer, changes, task.gold, calls) else failed).append(verifier.kind)
    return tuple(passed), tuple(failed)


def grade(task: Task, rollout: Rollout, changes: Sequence[StateChange], reduction: Reduction = DEFAULT) -> Grade:
    """What the task's verifiers say of a run that left ``changes`` in its world."""
    names = {"task_digest": task.digest(), "release_digest": rollout.release_digest}
    if rollout.stop in INVALID:
        why = rollout.error or f"the run ended with {rollout.stop}"
        return Grade(**names, reward=None, passed=(), failed=(), error=why)
    if not task.verifiers:
        return Grade(**names, reward=None, passed=(), failed=(), error="the task has no verifier")
    try:
        passed, failed = judge(task, rollout.answer, changes, rollout.calls)
    except RecordError as error:  # the task is wrong, and no answer to it
        return Grade(**names, reward=None, passed=(), failed=(), error=str(error))
    vector = RewardVector(outcome=_side(passed, failed, rules=False), policy=_side(passed, failed, rules=True))
    return Grade(**names, reward=reduced(vector, reduction), passed=passed, failed=failed)


def _side(passed: Iterable[str], failed: Iterable[str], *, rules: bool) -> float | None:
    """1.0 where all verifiers of one side pass, 0.0 where one fails; None without any."""
    rule = Calls.model_fields["kind"].default
    mine = [[kind for kind in kinds if (kind == rule) is rules] for kinds in (passed, failed)]
    return None if not any(mine) else 0.0 if mine[1] else 1.0
