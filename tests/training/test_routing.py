"""Routing: each trouble of the shop goes to its lever, and its absence moves none."""

from __future__ import annotations

from datetime import timedelta
from functools import lru_cache
from itertools import chain, combinations

import pytest

from examples.shop.world import CHANGE_DAY, NEW_POLICY
from governance.records.context import Fact
from governance.records.error_kind import ErrorKind
from governance.records.lever import Lever, Pattern
from governance.records.trajectory import Actor, Outcome, Trajectory
from tests.training.shop_week import START, Week
from training.routing import Thresholds, route
from training.routing.fact_changes import fisher, stated_date
from training.routing.judgement import consistency

TROUBLES = ("judgement", "misleading_schema", "policy_change")
KEYS = {
    "policy_change": (Lever.CONTEXT, "fact_changed:returns"),
    "misleading_schema": (Lever.HARNESS, "tool_rejects_declared_argument:refund_order.order_id"),
    "judgement": (Lever.WEIGHTS, "judgement:problem"),
}
SUBSETS = list(chain.from_iterable(combinations(TROUBLES, size) for size in range(4)))


@lru_cache(maxsize=16)
def week(troubles: tuple[str, ...], slips: float = 0.1) -> Week:
    return Week(troubles, slips=slips)


def routed(one: Week, runs: list[Trajectory] | None = None, **limits: float) -> list[Pattern]:
    thresholds = Thresholds.parse(limits, "test")
    return route(
        "s", one.trajectories if runs is None else runs, one.signals, one.harness, one.context, thresholds=thresholds
    )


def moved(patterns: list[Pattern]) -> set[tuple[Lever, str]]:
    return {(one.lever, one.key) for one in patterns if one.lever is not Lever.NONE}


@pytest.mark.parametrize("troubles", SUBSETS, ids="+".join)
def test_each_trouble_moves_its_lever_and_no_other(troubles: tuple[str, ...]) -> None:
    assert moved(routed(week(troubles))) == {KEYS[name] for name in troubles}


WORDS = {
    "schema": ("pydantic_core.ValidationError", ErrorKind.SCHEMA),
    "not_found": ("NoSuchOrder", ErrorKind.NOT_FOUND),
}


def in_other_words(run: Trajectory) -> Trajectory:
    """The run of a tool that names its errors otherwise; their kinds are what intake makes of them."""
    calls = [
        call.model_copy(update=dict(zip(("error_type", "error_kind"), WORDS[call.error_type], strict=True)))
        if call.error_type in WORDS
        else call
        for call in run.calls
    ]
    return run.model_copy(update={"calls": tuple(calls)})


def test_a_tools_own_words_for_an_error_change_no_route() -> None:
    one = week(("misleading_schema",))
    runs = [in_other_words(run) for run in one.trajectories]
    assert any(call.error_kind is not None for run in runs for call in run.calls)
    said, told = routed(one), routed(one, runs)
    assert moved(told) == moved(said) == {KEYS["misleading_schema"]}
    assert [found.evidence for found in told] == [found.evidence for found in said]


@pytest.mark.parametrize("slips", [0.3, 0.6])
def test_random_failures_are_held(slips: float) -> None:
    patterns = routed(week((), slips))
    assert patterns
    assert moved(patterns) == set()


def test_each_failed_run_is_in_exactly_one_pattern() -> None:
    one = week(TROUBLES)
    named = [run for found in routed(one) for run in found.trajectory_ids]
    assert sorted(named) == sorted(run.id for run in one.trajectories if run.outcome is Outcome.FAILURE)


def test_levers_are_in_order_of_cost_and_reasons_are_one_sentence() -> None:
    patterns = routed(week(TROUBLES))
    order = [list(Lever).index(one.lever) for one in patterns]
    assert order == sorted(order)
    for one in patterns:
        assert one.reason.endswith(".")
        assert one.evidence["trajectories"] == len(one.trajectory_ids)
        assert one.evidence["subjects"] == one.subjects
        assert one.evidence["first"] <= one.evidence["last"]


def test_the_fact_changed_when_the_documents_did() -> None:
    found = routed(week(("policy_change",)))[0]
    change = found.evidence["change_point"]
    assert found.evidence["valid_from"] == found.evidence["first"]
    assert (
        (START + timedelta(days=CHANGE_DAY)).isoformat()
        <= found.evidence["valid_from"]
        < (START + timedelta(days=CHANGE_DAY + 1)).isoformat()
    )
    assert (found.evidence["old_values"], found.evidence["new_values"]) == (["30 days"], ["45 days"])
    assert change["failed_after"] / change["runs_after"] > change["failed_before"] / change["runs_before"]
    assert change["fisher_p"] < 0.01


def test_fisher_is_the_exact_test() -> None:
    assert fisher([[3, 1], [1, 3]]) == pytest.approx(17 / 70, abs=1e-6), "the tea-tasting table"
    assert fisher([[0, 0], [0, 0]]) == 1.0


def test_a_date_in_the_document_is_when_it_changed() -> None:
    assert stated_date("From 2026-06-03 on, 45 days.") == START + timedelta(days=2)
    assert stated_date("From 3 June 2026 on, 45 days.") == START + timedelta(days=2)
    assert stated_date("Either 2026-06-03 or 2026-06-04.") is None
    assert stated_date("On 2026-13-40.") is None


def test_a_fact_that_the_context_lacks_is_missing() -> None:
    one = week(("policy_change",))
    bare = one.context.model_copy(update={"facts": ()})
    patterns = route("s", one.trajectories, one.signals, one.harness, bare, thresholds=Thresholds(trajectories=3))
    assert (Lever.CONTEXT, "fact_missing:returns") in moved(patterns)
    assert not any(key.startswith("fact_missing:so-") for _, key in moved(patterns)), "an order is nobody's fact"


def test_a_champion_that_knows_the_new_fact_is_not_told_again() -> None:
    one = week(("policy_change",))
    fact = Fact(key="returns", text=NEW_POLICY, valid_from=START + timedelta(days=CHANGE_DAY))
    patterns = route("s", one.trajectories, one.signals, one.harness, one.context.with_fact(fact))
    assert moved(patterns) == set()


def test_a_document_that_contradicts_itself_is_held() -> None:
    one = week(("policy_change",))
    since, flipped = START + timedelta(days=CHANGE_DAY), []
    for number, run in enumerate(one.trajectories):
        late = run.started_at >= since and number % 2 == 0
        calls = tuple(
            call.model_copy(update={"result": {"topic": "returns", "text": "Items can be returned within 60 days."}})
            if late and call.name == "read_policy" and call.arguments == {"topic": "returns"} else call
            for call in run.calls
        )  # fmt: skip
        flipped.append(run.model_copy(update={"calls": calls}))
    (found,) = [p for p in routed(one, flipped) if p.key == "fact_changed:returns"]
    assert found.lever is Lever.NONE
    assert "reads differently" in found.reason


@pytest.mark.parametrize("troubles", [(name,) for name in TROUBLES], ids=TROUBLES)
def test_too_few_runs_or_people_are_held(troubles: tuple[str, ...]) -> None:
    one = week(troubles)
    key = KEYS[troubles[0]][1]
    (whole,) = [p for p in routed(one) if p.key == key]
    few: tuple[dict[str, float], ...] = (
        {"trajectories": len(whole.trajectory_ids) + 1},
        {"subjects": whole.subjects + 1},
    )
    for limits in few:
        (found,) = [p for p in routed(one, runs=None, **limits) if p.key == key]
        assert found.lever is Lever.NONE
        assert found.reason.startswith("Held: ")
    same = [run.model_copy(update={"subject": "a" * 64}) for run in one.trajectories]
    assert moved(routed(one, same)) == set(), "one person of a tenant is not a pattern"
    nobody = [run.model_copy(update={"subject": "unknown"}) for run in one.trajectories]
    assert moved(routed(one, nobody)) == set()


def test_a_wrong_value_in_the_right_form_is_not_the_schemas_fault() -> None:
    one = week(())
    runs = []
    for run in one.trajectories:
        call = next((call for call in run.calls if call.name == "refund_order"), None)
        if call is not None and call.actor is Actor.AGENT:
            wrong = call.model_copy(
                update={"arguments": {"order_id": "SO-0001"}, "result": None, "error": "no", "error_type": "not_found"}
            )
            right = call.model_copy(update={"actor": Actor.HUMAN})
            run = run.model_copy(update={"calls": (wrong, right), "outcome": Outcome.FAILURE})  # noqa: PLW2901
        runs.append(run)
    (found,) = [p for p in routed(one, runs) if p.key == "tool_rejects_declared_argument:refund_order.order_id"]
    assert found.lever is Lever.NONE
    assert "no form" in found.reason


def test_choices_that_cannot_be_checked_are_held() -> None:
    one = week(("judgement",))
    blind = [run.model_copy(update={"world_digest": None}) for run in one.trajectories]
    (found,) = [p for p in routed(one, blind) if p.key == "judgement:problem"]
    assert found.lever is Lever.NONE
    assert "no way to check" in found.reason


def test_rare_choices_are_chance() -> None:
    (found,) = [p for p in routed(week(("judgement",)), share=0.99) if p.key == "judgement:problem"]
    assert found.lever is Lever.NONE


def test_contradicting_choices_cannot_be_learned() -> None:
    texts = [f"My lamp of order {number} is broken, please help" for number in range(6)]
    limits = Thresholds()
    assert consistency(texts, ["replace"] * 6, limits) == (15, 1.0)
    pairs, agreement = consistency(texts, ["replace", "credit"] * 3, limits)
    assert pairs == 15
    assert agreement < limits.consistency
    one = week(("judgement",))
    said = one.trajectories[0].turns[0]
    alike = [
        run.model_copy(update={"turns": (said, *run.turns[1:])}) if run.topic == "problem" else run
        for run in one.trajectories
    ]
    (found,) = [p for p in routed(one, alike) if p.key == "judgement:problem"]
    assert found.lever is Lever.NONE
    assert "chose alike" in found.reason


def test_failures_that_nobody_put_right_are_held() -> None:
    one = week(())
    alone = [
        run.model_copy(
            update={
                "calls": (),
                "turns": tuple(t for t in run.turns if t.actor is not Actor.HUMAN),
                "outcome": Outcome.FAILURE,
            }
        )
        for run in one.trajectories
    ]
    patterns = routed(one, alone)
    assert {found.key.split(":")[0] for found in patterns} == {"no_demonstration"}
    assert moved(patterns) == set()


def test_order_of_the_runs_does_not_count() -> None:
    one = week(TROUBLES)
    assert routed(one, list(reversed(one.trajectories))) == routed(one)
