"""Evaluation: bounded, resumable, and one broken task stays one broken task."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from governance.errors import NotFound
from governance.ports.engine import ChatEngine, Completion, CompletionRequest
from governance.records.release import ReleaseBundle
from governance.records.rollout import Grade, Rollout
from governance.records.task import Split, Task
from serving.errors import ServingError
from serving.runtime import HarnessRuntime
from tests.serving.byte_tokenizer import ByteTokenizer
from tests.support.clock import ManualClock
from tests.training.demo_records import BASE, CUTOFF
from tests.training.shop_week import Week
from training.demonstration import action_text
from training.evaluation import Bench, evaluate
from training.tasks import build
from training.verifiers import grade


class Shelf:
    """Grades in memory; the first one stands, as in the store."""

    def __init__(self) -> None:
        self.held: dict[tuple[str, str], Grade] = {}

    def get(self, release_digest: str, task_digest: str) -> Grade | None:
        return self.held.get((release_digest, task_digest))

    def put(self, cycle_id: str, arm: str, task_digest: str, grade: Grade, rollout: Rollout) -> None:
        self.held.setdefault((grade.release_digest, task_digest), grade)


class GoldEngine(ChatEngine):
    """Says each task's gold, found by the customer's words; fails and lingers on demand."""

    def __init__(self, tasks: tuple[Task, ...], broken: frozenset[str] = frozenset(), heals_after: int = 10**9) -> None:
        self.gold = {one.instruction: one.gold for one in tasks}
        self.broken, self.heals_after = broken, heals_after
        self.asked: list[str] = []
        self.running = self.most = self.failures = 0

    async def complete(self, request: CompletionRequest) -> Completion:
        words = request.messages[1].text
        self.asked.append(words)
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(0.001)
        self.running -= 1
        if words in self.broken and self.failures < self.heals_after:
            self.failures += 1
            raise ServingError("the engine is away")
        action = self.gold[words][(len(request.messages) - 2) // 2]
        text = action_text(action.name, action.arguments)
        return Completion(
            text=text, token_ids=(), finish_reason="stop", model=request.model, response_id="r",
            input_tokens=0, output_tokens=0,
        )  # fmt: skip


@pytest.fixture(scope="module")
def shop() -> Week:
    return Week({"judgement"}, sessions=140, seed=11)


@pytest.fixture(scope="module")
def tasks(shop: Week) -> tuple[Task, ...]:
    made = build(shop.trajectories, shop.signals, shop.host, shop.lookup, CUTOFF)
    permitted = {rule.topic or "": (*rule.tools, "reply") for rule in shop.harness.permissions}
    fit = [t for t in made.of(Split.EVAL) if all(action.name in permitted[t.topic or ""] for action in t.gold)]
    return tuple({one.instruction: one for one in fit}.values())


def run(shop: Week, tasks: tuple[Task, ...], engine: ChatEngine, shelf: Shelf, **changes: Any) -> tuple[Grade, ...]:
    runner = HarnessRuntime(ByteTokenizer(), None, ManualClock())
    parts: dict[str, Any] = {
        "runner": runner, "host": shop.host, "engine": engine, "grade": grade, "grades": shelf, "concurrency": 3,
    }  # fmt: skip
    bundle = ReleaseBundle.of(BASE, None, shop.harness, shop.context)
    return asyncio.run(evaluate(bundle, tasks, Bench(**{**parts, **changes}), cycle_id="c", arm="champion"))


def test_the_gold_passes_in_the_order_of_the_tasks_with_a_bound(shop: Week, tasks: tuple[Task, ...]) -> None:
    engine = GoldEngine(tasks)
    grades = run(shop, tasks, engine, Shelf())
    assert len(tasks) >= 8
    assert [one.task_digest for one in grades] == [one.digest() for one in tasks]
    assert {one.reward for one in grades} == {1.0}
    assert 1 < engine.most <= 3


def test_an_interrupted_evaluation_goes_on_where_it_was(shop: Week, tasks: tuple[Task, ...]) -> None:
    shelf = Shelf()
    run(shop, tasks[:4], GoldEngine(tasks), shelf)
    engine = GoldEngine(tasks)
    again = run(shop, tasks, engine, shelf)
    assert not set(engine.asked) & {one.instruction for one in tasks[:4]}
    assert again == run(shop, tasks, GoldEngine(tasks), Shelf())


def test_an_engine_that_is_away_is_an_error_that_is_tried_again_and_not_kept(
    shop: Week, tasks: tuple[Task, ...]
) -> None:
    shelf, broken = Shelf(), frozenset({tasks[0].instruction})
    first = run(shop, tasks, GoldEngine(tasks, broken), shelf)
    assert first[0].reward is None
    assert "away" in (first[0].error or "")
    assert {one.reward for one in first[1:]} == {1.0}
    assert len(shelf.held) == len(tasks) - 1
    assert run(shop, tasks, GoldEngine(tasks), shelf)[0].reward == 1.0
    healing = run(shop, tasks[:1], GoldEngine(tasks, broken, heals_after=1), Shelf())
    assert healing[0].reward == 1.0


def test_a_world_or_a_grader_that_breaks_is_that_tasks_error(shop: Week, tasks: tuple[Task, ...]) -> None:
    gone = tasks[1].model_copy(update={"world_digest": "0" * 64})

    def picky(task: Task, rollout: Rollout, changes: Any) -> Grade:
        if task == tasks[2]:
            raise ZeroDivisionError("a bug in a verifier")
        return grade(task, rollout, changes)

    grades = run(shop, (tasks[0], gone, *tasks[2:5]), GoldEngine(tasks), Shelf(), grade=picky)
    assert [one.reward for one in grades] == [1.0, None, None, 1.0, 1.0]
    assert "ZeroDivisionError" in (grades[2].error or "")


def test_a_task_that_was_erased_meanwhile_is_an_error(shop: Week, tasks: tuple[Task, ...]) -> None:
    class Full(Shelf):
        def put(self, cycle_id: str, arm: str, task_digest: str, grade: Grade, rollout: Rollout) -> None:
            raise NotFound("no such task")

    assert run(shop, tasks[:1], GoldEngine(tasks), Full())[0].reward is None


def test_what_the_agent_spoils_is_its_own(shop: Week, tasks: tuple[Task, ...]) -> None:
    class Babble(GoldEngine):
        async def complete(self, request: CompletionRequest) -> Completion:
            said = await super().complete(request)
            return said.model_copy(update={"text": "I would rather talk."})

    assert run(shop, tasks[:3], Babble(tasks), Shelf())[0].reward == 0.0
