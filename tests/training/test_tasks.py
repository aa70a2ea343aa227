"""Tasks come from evidence alone, replay faithfully, survive cheap policies, and stand on one side of the wall."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import lru_cache
from typing import Any

import pytest

from governance.errors import NotFound
from governance.records.rollout import Rollout, StopReason
from governance.records.signal import SignalKind
from governance.records.task import Split, Task
from governance.records.trajectory import Actor, Outcome, Trajectory, Turn
from governance.records.verifier import AnswerAvoids, AnswerContains, StateDiff
from governance.records.world import WorldRef
from tests.training.shop_week import START, Week
from training import tasks
from training.admission import Admission, play
from training.tasks import TaskSet
from training.verifiers import grade
from training.worlds import WorldHost

CUTOFF = START + timedelta(days=5)
ALL = ("policy_change", "misleading_schema", "judgement")


@lru_cache(maxsize=1)
def played() -> Week:
    return Week(ALL)


@lru_cache(maxsize=1)
def built() -> TaskSet:
    return build(played().trajectories)


def build(runs: list[Trajectory], week: Week | None = None, signals: Any = None) -> TaskSet:
    one = week or played()
    return tasks.build(runs, one.signals if signals is None else signals, one.host, one.lookup, CUTOFF)


def first(test: Callable[[Trajectory], bool]) -> Trajectory:
    return next(
        one for one in played().trajectories if one.subject != "unknown" and one.started_at < CUTOFF and test(one)
    )


def by_human(name: str) -> Callable[[Trajectory], bool]:
    return lambda one: any(call.actor is Actor.HUMAN and call.name == name for call in one.calls)


def reasons(*runs: Trajectory, signals: Any = None) -> dict[str, int]:
    return build(list(runs), signals=signals).counts()


def test_a_run_gives_no_task_in_a_world_of_another_epoch() -> None:
    week = played()
    runs = [one.model_copy(update={"epoch": "old"}) for one in week.trajectories[:40]]

    def lookup(tenant_id: str, digest: str) -> WorldRef | None:
        ref = week.lookup(tenant_id, digest)
        return None if ref is None else ref.model_copy(update={"epoch": epoch})

    made = {}
    for epoch in ("old", "new"):
        made[epoch] = tasks.build(runs, week.signals, week.host, lookup, CUTOFF)
    assert made["old"].tasks
    assert made["new"].tasks == ()
    assert made["new"].counts()["epoch_crossed"] >= len(made["old"].tasks)


def gold_run(task: Task, answer: str | None = None) -> Rollout:
    said = task.gold[-1].arguments["text"] if answer is None else answer
    return Rollout(release_digest="1" * 64, model="m", steps=(), calls=(), answer=said, stop=StopReason.ANSWERED)


def test_every_run_gives_a_task_or_a_reason() -> None:
    found = built()
    accounted = [source for task in found.tasks for source in task.sources]
    accounted += [exclusion.trajectory_id for exclusion in found.exclusions]
    assert sorted(accounted) == sorted(one.id for one in played().trajectories)
    assert len(found.of(Split.TRAIN)) > 50
    assert len(found.of(Split.EVAL)) > 20
    assert {task.family for task in found.tasks} == {
        "get_order", "read_policy", "refund_order", "replace_item", "give_credit", "escalate_case", "answer",
    }  # fmt: skip


def test_gold_passes_and_nothing_fails() -> None:
    host = played().host
    for task in built().tasks:
        session = host.open(task.world_digest)
        changes = play(session, [action for action in task.gold if action.name != "reply"])
        assert grade(task, gold_run(task), changes).reward == 1.0
        assert grade(task, gold_run(task, answer=""), ()).reward == 0.0
        wrote = any(isinstance(one, StateDiff) and one.changes for one in task.verifiers)
        if wrote:
            assert grade(task, gold_run(task), ()).reward == 0.0


def test_unknown_outcomes_never_become_tasks() -> None:
    unknown = {one.id for one in played().trajectories if one.outcome is Outcome.UNKNOWN}
    assert unknown
    assert not unknown & {source for task in built().tasks for source in task.sources}


def test_the_wall_holds_by_subject_and_by_time() -> None:
    sides: dict[Split, set[tuple[str, str]]] = {
        side: {(task.tenant_id, task.subject) for task in built().of(side)} for side in Split
    }
    learned = {(one.tenant_id, one.subject) for one in played().trajectories if one.started_at < CUTOFF}
    assert not sides[Split.TRAIN] & sides[Split.EVAL]
    assert not learned & sides[Split.EVAL]
    assert all((task.at < CUTOFF) == (task.split is Split.TRAIN) for task in built().tasks)
    assert built().counts()["subject_in_train"] > 0


def test_a_question_requires_the_value_and_avoids_the_known_wrong_one() -> None:
    asked = [task for task in built().tasks if task.topic == "question" and "45 days" in str(task.gold)]
    assert asked
    for task in asked:
        contains = next(one for one in task.verifiers if isinstance(one, AnswerContains))
        avoids = next(one for one in task.verifiers if isinstance(one, AnswerAvoids))
        assert (contains.values, avoids.values) == (("45 days",), ("30 days",))
        assert grade(task, gold_run(task, "You have 45 days."), ()).reward == 1.0
        assert grade(task, gold_run(task, "You have 30 days."), ()).reward == 0.0
    fixed = next(task for task in built().tasks if task.topic == "question" and " days" not in str(task.gold))
    assert not any(isinstance(one, AnswerAvoids) for one in fixed.verifiers), "nothing shows another value to be wrong"


def test_what_the_customer_said_need_not_be_said_back() -> None:
    task = next(task for task in built().tasks if task.family == "get_order")
    contains = next(one for one in task.verifiers if isinstance(one, AnswerContains))
    assert not any(value.startswith("so-") for value in contains.values)


def test_exclusions_have_their_reasons() -> None:
    run = first(by_human("refund_order"))
    assert reasons(run) == {}
    assert reasons(run.model_copy(update={"incomplete": ("truncated",)})) == {"incomplete": 1}
    assert reasons(run.model_copy(update={"subject": "unknown"})) == {"unknown_subject": 1}
    assert reasons(run.model_copy(update={"outcome": Outcome.UNKNOWN})) == {"no_evidence": 1}
    assert reasons(run.model_copy(update={"world_digest": None})) == {"no_world": 1}
    silent = tuple(turn for turn in run.turns if turn.actor is not Actor.HUMAN)
    without = tuple(call for call in run.calls if call.name != "reply")
    assert reasons(run.model_copy(update={"turns": silent, "calls": without})) == {"no_answer": 1}
    alone = run.model_copy(update={"turns": silent, "calls": tuple(c for c in run.calls if c.actor is Actor.AGENT)})
    assert reasons(alone) == {"no_demonstration": 1}


def test_a_success_that_was_voted_down_contradicts_itself() -> None:
    run = first(lambda one: one.outcome is Outcome.SUCCESS)
    vote = next(one for one in played().signals if one.kind is SignalKind.FEEDBACK and one.trajectory_id == run.id)
    assert reasons(run) == {}
    down = vote.model_copy(update={"value": -1.0})
    assert reasons(run, signals=[down]) == {"contradicting_evidence": 1}


@pytest.mark.parametrize("field", ["result", "arguments"])
def test_a_replay_that_differs_is_left_out(field: str) -> None:
    run = first(by_human("refund_order"))
    other = {"result": {"order_id": "SO-0000"}, "arguments": {"order_id": "SO-0000"}}[field]
    calls = tuple(
        call.model_copy(update={field: other}) if call.name == "refund_order" and call.actor is Actor.HUMAN else call
        for call in run.calls
    )
    assert reasons(run.model_copy(update={"calls": calls})) == {"replay_differs": 1}


def with_text(run: Trajectory, actor: Actor, text: str) -> Trajectory:
    def changed(turn: Turn) -> Turn:
        if turn.actor is not actor:
            return turn
        parts = (turn.message.parts[0].model_copy(update={"text": text}),)
        return turn.model_copy(update={"message": turn.message.model_copy(update={"parts": parts})})

    return run.model_copy(update={"turns": tuple(changed(turn) for turn in run.turns)})


def renamed(run: Trajectory, digit: str) -> Trajectory:
    return run.model_copy(update={"trace_id": digit * 32})


def test_a_gold_that_leaves_out_a_named_row_is_suspect() -> None:
    """EVL-04: the task names two orders, the gold touches one; the right behaviour would be graded wrong."""
    run = first(by_human("refund_order"))
    world = played().host.world(str(run.world_digest))
    order = next(call.arguments["order_id"] for call in run.calls if call.actor is Actor.HUMAN)
    other = next(row["order_id"] for row in world.tables["orders"] if row["order_id"] != order)
    both = with_text(run, Actor.CUSTOMER, f"I sent back {order} and {other}. Please refund both.")
    assert reasons(both) == {"suspect_label": 1}


def test_runs_that_disagree_about_one_task_are_both_suspect() -> None:
    """EVL-04: a reference run that ends differently than the gold quarantines the task."""
    run = first(by_human("refund_order"))
    credit = tuple(
        call.model_copy(update={"name": "give_credit", "result": None}) if call.name == "refund_order" else call
        for call in run.calls
    )
    session = played().host.open(str(run.world_digest))
    credit = tuple(
        call.model_copy(update={"result": session.call("give_credit", call.arguments)})
        if call.name == "give_credit" and call.actor is Actor.HUMAN else call
        for call in credit
    )  # fmt: skip
    twin = renamed(run.model_copy(update={"calls": credit}), "d")
    assert reasons(run, twin) == {"suspect_label": 2}
    assert reasons(run, renamed(run, "e")) == {"duplicate": 1}


def test_a_measured_request_that_was_learned_from_is_dropped() -> None:
    run = first(by_human("refund_order"))
    later = renamed(run.model_copy(update={"started_at": CUTOFF, "subject": "f" * 64}), "e")
    shouting = with_text(later, Actor.CUSTOMER, run.turns[0].message.text.upper() + "!!")
    assert reasons(run, shouting) == {"duplicate_of_train": 1}


def test_an_answer_without_grounded_values_gives_no_task() -> None:
    run = with_text(first(by_human("read_policy")), Actor.HUMAN, "We will see.")
    assert reasons(run) == {"nothing_to_verify": 1}


def test_cheap_policies_are_caught() -> None:
    task = next(task for task in built().tasks if task.family == "refund_order")
    admission = Admission(played().host)
    answer = task.gold[-1].arguments["text"]
    assert admission.refusal(task, answer) is None
    loose = task.model_copy(update={"verifiers": task.verifiers[1:]})
    assert admission.refusal(loose, answer) == "passes_by_friendly_answer"
    said = AnswerContains(values=(str(task.gold[0].arguments["order_id"]),))
    assert (
        admission.refusal(task.model_copy(update={"verifiers": (said,)}), answer + task.instruction) == "passes_by_echo"
    )
    everything = play(played().host.open(task.world_digest), _refund_all(task))
    greedy = task.model_copy(update={"verifiers": (StateDiff(changes=everything),), "gold": _refund_all(task)})
    assert admission.refusal(greedy, answer) == "passes_by_refund_order_everything"
    wrong = task.model_copy(update={"verifiers": (StateDiff(changes=()),)})
    assert admission.refusal(wrong, answer) == "gold_fails"
    assert admission.refusal(task.model_copy(update={"verifiers": ()}), answer) == "passes_by_nothing"


def _refund_all(task: Task) -> tuple[Any, ...]:
    rows = played().host.world(task.world_digest).tables["orders"]
    return tuple(task.gold[0].model_copy(update={"arguments": {"order_id": row["order_id"]}}) for row in rows)


def test_a_set_that_lost_worlds_says_so() -> None:
    """RET-03: a frozen set whose traces were deleted must not pass for the set that it was."""
    gone = built().of(Split.EVAL)[0].world_digest

    def load(digest: str) -> Any:
        if digest == gone:
            raise NotFound(digest)
        return played().worlds[digest]

    shrunk = built().replayable(WorldHost(played().host._app, load, played().host.schema))
    lost = sum(task.world_digest == gone for task in built().tasks)
    assert len(shrunk.tasks) == len(built().tasks) - lost
    assert shrunk.counts()["world_gone"] == lost > 0
    assert shrunk.root(Split.EVAL) != built().root(Split.EVAL)
    assert built().replayable(played().host) == built()


def test_building_twice_gives_the_same_tasks_whatever_the_order() -> None:
    backwards = build(list(reversed(played().trajectories)))
    assert {task.digest() for task in backwards.tasks} == {task.digest() for task in built().tasks}
    assert all(backwards.root(side) == built().root(side) for side in Split)
