"""Rewards: rules are never bought off, what is not graded is no zero, and guessing does not pay."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.records.rollout import Rollout, RolloutCall, StopReason
from governance.records.task import Split, Task
from governance.records.verifier import (
    Answered,
    AnswerEquals,
    AnswerForm,
    Calls,
    How,
    Reduction,
    RewardVector,
    SideEffect,
    SideEffects,
    VerifierSpec,
)
from governance.records.world import StateChange
from training.verifiers import grade
from training.verifiers.changes import effects_hold
from training.verifiers.reward import abstaining_score, reduced

SHARE = st.floats(0, 1)
SIDES = st.builds(RewardVector, outcome=st.none() | SHARE, satisfaction=st.none() | SHARE, cost=st.none() | SHARE)


@given(SIDES, st.floats(0, 0.99), st.floats(0, 10), st.floats(0, 10))
def test_success_buys_off_no_rule(vector: RewardVector, policy: float, outcome: float, satisfaction: float) -> None:
    broken = vector.model_copy(update={"policy": policy})
    assert reduced(broken, Reduction(outcome=outcome, satisfaction=satisfaction)) == 0.0


@given(SIDES, st.floats(0.1, 10), st.floats(0.1, 10), st.floats(0.1, 10))
def test_what_is_not_graded_has_no_weight(vector: RewardVector, a: float, b: float, c: float) -> None:
    weights = Reduction(outcome=a, satisfaction=b, cost=c)
    there = [value for value in (vector.outcome, vector.satisfaction, vector.cost) if value is not None]
    found = reduced(vector, weights)
    if not there:
        assert found is None
    else:
        assert found is not None
        assert min(there) - 1e-9 <= found <= max(there) + 1e-9


@given(st.floats(0, 0.98), st.floats(0, 1))
def test_answering_pays_exactly_above_the_confidence_asked_for(target: float, chance: float) -> None:
    right = abstaining_score(right=True, abstained=False, confidence=target)
    wrong = abstaining_score(right=False, abstained=False, confidence=target)
    expected = chance * right + (1 - chance) * wrong
    if abs(chance - target) > 1e-9:
        assert (expected > abstaining_score(right=False, abstained=True, confidence=target)) == (chance > target)


def test_a_confidence_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="confidence target"):
        abstaining_score(right=True, abstained=False, confidence=1.0)


def change(table: str, key: str, before: dict[str, Any] | None, after: dict[str, Any] | None) -> StateChange:
    return StateChange(table=table, key=key, before=before, after=after)


REFUND = change("refunds", "r-1", None, {"order": "SO-1", "amount": 10})
MAIL = change("mails", "m-1", None, {"to": "ann"})


@pytest.mark.parametrize(
    ("effects", "changes", "holds"),
    [
        ({"expected": [SideEffect(table="refunds", how=How.CREATED, where={"order": "SO-1"})]}, [REFUND, MAIL], True),
        ({"expected": [SideEffect(table="refunds", where={"order": "SO-2"})]}, [REFUND], False),
        ({"expected": [SideEffect(table="refunds", how=How.DELETED)]}, [REFUND], False),
        ({"expected": [SideEffect(table="refunds"), SideEffect(table="refunds")]}, [REFUND], False),
        ({"forbidden": [SideEffect(table="mails")]}, [REFUND, MAIL], False),
        ({"forbidden": [SideEffect(table="mails")]}, [REFUND], True),
        ({"forbidden": [SideEffect(table="refunds", where={"missing": None})]}, [REFUND], True),
    ],
)
def test_side_effects_are_expected_and_forbidden(
    effects: dict[str, Any], changes: list[StateChange], holds: bool
) -> None:
    assert effects_hold(SideEffects(**effects), changes) is holds


def test_each_expected_effect_has_a_change_of_its_own_whichever_order() -> None:
    loose, tight = SideEffect(table="refunds"), SideEffect(table="refunds", where={"order": "SO-1"})
    other = change("refunds", "r-2", None, {"order": "SO-2", "amount": 10})
    for expected in ((loose, tight), (tight, loose)):
        for made in ([REFUND, other], [other, REFUND]):
            assert effects_hold(SideEffects(expected=expected), made)


def graded(
    *verifiers: VerifierSpec, calls: tuple[RolloutCall, ...] = (), stop: StopReason = StopReason.ANSWERED
) -> Any:
    task = Task(
        tenant_id="acme", subject="s", topic=None, instruction="do it", world_digest="0" * 64,
        at=datetime(2026, 1, 1, tzinfo=UTC), verifiers=verifiers, gold=(), split=Split.EVAL, sources=("t",), family="f",
    )  # fmt: skip
    run = Rollout(release_digest="1" * 64, model="m", steps=(), calls=calls, answer="done", stop=stop)
    return grade(task, run, ())


def call(name: str, error: str | None = None) -> RolloutCall:
    return RolloutCall(name=name, arguments={}, error=error)


RULE = Calls(forbidden=("drop",), before_writing=("check",), writes=("write",))


@pytest.mark.parametrize(
    ("calls", "reward"),
    [
        ((), 1.0), ((call("check"), call("write")), 1.0), ((call("write"),), 0.0),
        ((call("write"), call("check")), 0.0),
        ((call("check", "refused"), call("write")), 0.0), ((call("drop", "refused"),), 0.0), ((call("check"),), 1.0),
    ],
)  # fmt: skip
def test_a_process_rule_decides_whatever_the_outcome(calls: tuple[RolloutCall, ...], reward: float) -> None:
    assert graded(Answered(), RULE, calls=calls).reward == reward
    assert graded(RULE, calls=calls).reward == reward


@pytest.mark.parametrize("stop", [StopReason.ENGINE_ERROR, StopReason.UNRECORDED])
def test_a_run_that_says_nothing_of_the_agent_has_no_reward(stop: StopReason) -> None:
    found = graded(Answered(), stop=stop)
    assert (found.reward, stop.value in found.error) == (None, True)


def test_an_expected_answer_that_cannot_be_read_is_an_error_of_the_grade() -> None:
    found = graded(AnswerEquals(form=AnswerForm.NUMBER, expected="many"))
    assert (found.reward, "expected answer" in found.error) == (None, True)
