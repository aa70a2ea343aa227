"""Verifiers: exact where it matters, blind to order and case, and never a zero for an error."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from governance.records.rollout import Rollout, StopReason
from governance.records.task import GoldAction, Split, Task
from governance.records.verifier import AnswerAvoids, AnswerContains, Answered, StateDiff
from governance.records.world import StateChange
from training.values import quantities, states, values_in
from training.verifiers import grade

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def task(*verifiers: Any, gold: tuple[GoldAction, ...] = ()) -> Task:
    return Task(
        tenant_id="t", subject="s", topic=None, instruction="?", world_digest="0" * 64, at=NOW, verifiers=verifiers,
        gold=gold, split=Split.EVAL, sources=("t/1",), family="f",
    )  # fmt: skip


def run(answer: str | None, stop: StopReason = StopReason.ANSWERED, error: str | None = None) -> Rollout:
    return Rollout(release_digest="1" * 64, model="m", steps=(), calls=(), answer=answer, stop=stop, error=error)


def created(key: str, table: str = "refunds", **fields: Any) -> StateChange:
    return StateChange(table=table, key=key, before=None, after={"id": key, **fields})


@pytest.mark.parametrize(
    ("text", "value", "stated"),
    [
        ("You have 14 days.", "14 days", True),
        ("You have 114 days.", "14 days", False),
        ("You have 14  DAYS", "14 days", True),
        ("A 14-day period", "14 days", True),
        ("14 dayshift", "14 days", False),
        ("It costs 4.90 EUR", "90 EUR", False),
        ("It costs 14.90 EUR", "4.90 EUR", False),
        ("It costs 4.90 EUR", "4.90", True),
        ("It costs 4.905", "4.90", False),
        ("It costs 4.90.", "4.90", True),
        ("Order SO-12345", "SO-1234", False),
        ("Order so-1234!", "SO-1234", True),
        ("It is In\u00a0Transit now", "in transit", True),
        ("in transition", "in transit", False),
        ("anything", "", False),
        ("It takes 5 s", "5 s", True),
        ("It takes 5", "5 s", False),
        ("You get 10% off", "10 %", True),
    ],
)
def test_values_are_stated_between_boundaries(text: str, value: str, stated: bool) -> None:
    assert states(text, value) is stated


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.sampled_from(["days", "EUR", "months"]))
def test_a_number_states_itself_only(said: int, wanted: int, unit: str) -> None:
    assert states(f"It is {said} {unit}, as agreed.", f"{wanted} {unit}") is (said == wanted)


@given(st.one_of(st.text(max_size=60), st.text(alphabet="0129.,- aAs%€kmday", max_size=30)))
@example("0A")
@settings(max_examples=400)
def test_a_text_states_each_of_its_quantities(text: str) -> None:
    assert all(states(text, value) for value in quantities(text))


def test_results_state_short_leaves_and_the_numbers_of_texts() -> None:
    result = {"id": "SO-1", "status": "in transit", "text": "Items can be returned within 45 days and never later."}
    assert values_in(result) == ("so-1", "in transit", "45 days")
    assert values_in({"text": "Gift wrapping costs 3 EUR."}) == ("3 eur",)


def test_state_changes_are_a_multiset() -> None:
    left, right = created("1", order="a"), created("2", order="b")
    wanted = task(StateDiff(changes=(left, right)))
    assert grade(wanted, run("ok"), (right, left)).reward == 1.0
    assert grade(wanted, run("ok"), (left,)).reward == 0.0
    assert grade(wanted, run("ok"), (left, right, created("3", order="b"))).reward == 0.0


def test_made_up_keys_are_compared_by_structure_and_given_ones_exactly() -> None:
    made_up = (created("17", order="a"), created("9", table="lines", refund=17))
    other = (created("18", order="a"), created("4", table="lines", refund=18))
    assert grade(task(StateDiff(changes=made_up)), run("ok"), other).reward == 1.0
    wrong = (created("18", order="z"), created("4", table="lines", refund=18))
    assert grade(task(StateDiff(changes=made_up)), run("ok"), wrong).reward == 0.0
    gold = (GoldAction(name="register", arguments={"id": "ann"}),)
    assert grade(task(StateDiff(changes=(created("ann"),)), gold=gold), run("ok"), (created("bob"),)).reward == 0.0


def test_answers() -> None:
    wanted = task(AnswerContains(values=("45 days",)), AnswerAvoids(values=("30 days",)), Answered())
    right = grade(wanted, run("Within 45 days."), ())
    assert (right.reward, right.failed) == (1.0, ())
    assert grade(wanted, run("Within 45 days, not 30 days."), ()).failed == ("answer_avoids",)
    assert grade(wanted, run(None), ()).failed == ("answer_contains", "answered")
    assert grade(wanted, run("  "), ()).reward == 0.0


def test_an_engine_error_has_no_reward() -> None:
    """EVL-01: errors counted as zeros flip a ranking, because they are not spread evenly."""
    wanted = task(Answered())
    broken = grade(wanted, run(None, StopReason.ENGINE_ERROR, "timed out"), ())
    assert (broken.reward, broken.error) == (None, "timed out")
    assert grade(wanted, run(None, StopReason.UNPARSEABLE), ()).reward == 0.0, "what the agent spoiled is the agent's"
    unreliable = [grade(wanted, run("yes"), ()), broken, grade(wanted, run("yes"), ())]
    rewards = [one.reward for one in unreliable if one.reward is not None]
    assert sum(rewards) / len(rewards) == 1.0
    assert sum(one.error is not None for one in unreliable) == 1


def test_a_task_without_verifiers_is_an_error() -> None:
    assert grade(task(), run("yes"), ()).reward is None
