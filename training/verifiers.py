"""Verifiers: what must be true after a run, checked by code alone, in a fixed order.

Theory. A grade is 1.0 when every verifier passes and 0.0 when one fails. A run that the engine broke, or whose world
could not answer, has no reward: an error is never a zero, because errors are not spread evenly and would turn a
ranking. A state difference must be exactly the demonstrated one, as a multiset of changes. A key that the app made up
itself (one that the demonstration did not pass in) is compared by structure: the rows must be the same with such keys
replaced by a mark, so that two runs which create the same rows in another order are equal. Values in the answer are
matched as ``training.values`` says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from governance.records.base import canonical_json
from governance.records.rollout import INVALID, Grade, Rollout
from governance.records.task import AnswerAvoids, AnswerContains, Answered, GoldAction, StateDiff, Task, VerifierSpec
from governance.records.world import StateChange
from training.values import fold, leaves, states


def _given(gold: Iterable[GoldAction]) -> frozenset[str]:
    return frozenset(leaf for action in gold for leaf in leaves(action.arguments))


def generated_keys(changes: Iterable[StateChange], given: frozenset[str]) -> dict[str, str]:
    """Keys of created rows that nobody passed in, each with the mark that stands for it."""
    return {
        change.key: f"<new {change.table}>" for change in changes if change.before is None and change.key not in given
    }


def _marked(value: Any, marks: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _marked(item, marks) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_marked(item, marks) for item in value]
    if isinstance(value, bool) or not isinstance(value, str | int):
        return value
    return marks.get(str(value), value)


def multiset(changes: Sequence[StateChange], given: frozenset[str]) -> Counter[bytes]:
    """Changes without order, with generated keys marked."""
    marks = generated_keys(changes, given)
    return Counter(canonical_json(_marked(change.plain(), marks)) for change in changes)


def same_changes(left: Sequence[StateChange], right: Sequence[StateChange], gold: Iterable[GoldAction]) -> bool:
    """Whether two differences are one, whatever the order and the generated keys."""
    given = _given(gold)
    return multiset(left, given) == multiset(right, given)


def holds(
    verifier: VerifierSpec, answer: str | None, changes: Sequence[StateChange], gold: Iterable[GoldAction]
) -> bool:
    """Whether one verifier passes."""
    said = answer or ""
    match verifier:
        case StateDiff():
            return same_changes(verifier.changes, changes, gold)
        case AnswerContains():
            return all(states(said, value) for value in verifier.values)
        case AnswerAvoids():
            return not any(states(said, value) for value in verifier.values)
        case Answered():
            return bool(fold(said))


def judge(task: Task, answer: str | None, changes: Sequence[StateChange]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The kinds of the verifiers that pass and of those that fail."""
    passed: list[str] = []
    failed: list[str] = []
    for verifier in task.verifiers:
        (passed if holds(verifier, answer, changes, task.gold) else failed).append(verifier.kind)
    return tuple(passed), tuple(failed)


def grade(task: Task, rollout: Rollout, changes: Sequence[StateChange]) -> Grade:
    """What the task's verifiers say of a run that left ``changes`` in its world."""
    names = {"task_digest": task.digest(), "release_digest": rollout.release_digest}
    if rollout.stop in INVALID:
        why = rollout.error or f"the run ended with {rollout.stop}"
        return Grade(**names, reward=None, passed=(), failed=(), error=why)
    if not task.verifiers:
        return Grade(**names, reward=None, passed=(), failed=(), error="the task has no verifier")
    passed, failed = judge(task, rollout.answer, changes)
    return Grade(**names, reward=0.0 if failed else 1.0, passed=passed, failed=failed)
