"""The example shop: one seed gives one week, its app refuses like a real one, and its people agree on what helps."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from examples.shop.app import TOOLS, ShopApp
from examples.shop.customers import TENANTS, WRITE_FOR, CustomerRequest, satisfied, slots_needed, week
from examples.shop.harness import champion_context, champion_harness
from examples.shop.incumbent import Incumbent, act
from examples.shop.operator import ShopOperator, plan
from examples.shop.wordings import TROUBLES as COMPLAINTS
from examples.shop.world import CHANGE_DAY, DAYS, NEW_POLICY, POLICIES, TROUBLES, build_world, slot, world_schema
from governance.ports.engine import CompletionRequest
from governance.ports.tools import ToolRefusal, ToolSession, WorldState
from governance.records.message import Role, text_message
from governance.records.world import StateChange

START = datetime(2026, 11, 2, tzinfo=UTC)
NONE: frozenset[str] = frozenset()


class Desk(ToolSession):
    """A session on one state."""

    def __init__(self, request: CustomerRequest, troubles: frozenset[str]) -> None:
        self.world = build_world(request.tenant_id, 5, request.day, troubles, START)
        self.state, self.app = WorldState(self.world), ShopApp()

    def call(self, name: str, arguments: dict[str, Any]) -> Any:
        return self.app.call(self.state, name, arguments)

    def changes(self) -> tuple[StateChange, ...]:
        keys = world_schema().primary_keys
        return tuple(
            StateChange(table=table, key=row[keys[table]], before=None, after=row)
            for table, rows in self.state.tables.items()
            for row in rows
            if row not in self.world.tables[table]
        )

    def touched(self) -> list[tuple[str, str]]:
        return [(change.table, (change.after or {})["order_id"]) for change in self.changes()]


def requests(count: int = 420, troubles: frozenset[str] = TROUBLES) -> list[CustomerRequest]:
    return week(5, TENANTS, count, START, troubles)


def test_a_seed_is_a_week() -> None:
    assert requests() == requests()
    assert requests() != week(6, TENANTS, 420, START, TROUBLES)
    assert build_world("harbor", 5, 2, TROUBLES, START) == build_world("harbor", 5, 2, TROUBLES, START)


def test_more_sessions_change_no_earlier_one() -> None:
    small = {request.session_id: request for request in requests(210)}
    large = {request.session_id: request for request in requests(420)}
    assert small == {key: large[key] for key in small}


def test_shares_and_customers() -> None:
    every = requests(840)
    count = {topic: sum(r.topic == topic for r in every) for topic in ("delivery", "question", "refund", "problem")}
    assert count == pytest.approx({"delivery": 140, "question": 140, "refund": 140, "problem": 420}, abs=12)
    known = [r.user_id for r in every if r.user_id is not None]
    assert 1.1 <= len(known) / len(set(known)) <= 1.35
    assert 0 < len(every) - len(known) < 0.12 * len(every)
    assert len({(r.tenant_id, r.goal.order_id) for r in every}) == len(every)
    assert len({r.message for r in every}) > 0.97 * len(every)


def test_without_judgement_nobody_writes_about_a_problem() -> None:
    assert {r.topic for r in requests(troubles=NONE)} == {"delivery", "question", "refund"}


def test_unknown_troubles_and_places_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown troubles"):
        slot("harbor", 1, 0, 0, frozenset({"weather"}))
    with pytest.raises(ValueError, match="no slot"):
        slot("harbor", 1, DAYS, 0, NONE)


def test_a_world_holds_every_order_and_customer_of_its_day() -> None:
    every = requests()
    for request in every:
        world = build_world(request.tenant_id, 5, request.day, TROUBLES, START, slots_needed(420, len(TENANTS)))
        order = next(row for row in world.tables["orders"] if row["order_id"] == request.goal.order_id)
        assert request.user_id in {None, order["customer_id"]}
        assert order["customer_id"] in {row["customer_id"] for row in world.tables["customers"]}
    schema = world_schema()
    assert set(schema.primary_keys) == set(schema.subject_fields) == set(world.tables)


def test_the_policy_changes_only_with_its_trouble() -> None:
    def text(day: int, troubles: frozenset[str]) -> str:
        return build_world("harbor", 5, day, troubles, START).documents["returns"]

    assert text(CHANGE_DAY - 1, TROUBLES) == text(DAYS - 1, NONE) == POLICIES["returns"]
    assert text(CHANGE_DAY, TROUBLES) == NEW_POLICY


def test_the_harness_is_wrong_only_with_its_trouble() -> None:
    right, wrong = champion_harness(NONE), champion_harness(TROUBLES)
    assert right.tools == TOOLS
    assert [a.name for a, b in zip(right.tools, wrong.tools, strict=True) if a != b] == ["refund_order"]


def test_the_incumbent_obeys_the_schema_and_the_app_refuses_it() -> None:
    request = next(r for r in requests() if r.topic == "refund")
    for troubles, accepted in ((TROUBLES, False), (NONE, True)):
        desk, action = Desk(request, TROUBLES), act(completion(request, troubles))
        if accepted:
            assert desk.call(action["tool"], action["arguments"])["order_id"] == request.goal.order_id
            continue
        with pytest.raises(ToolRefusal, match="SO-1234") as refusal:
            desk.call(action["tool"], action["arguments"])
        assert refusal.value.error_type == "schema"


def completion(request: CustomerRequest, troubles: frozenset[str], *more: str) -> CompletionRequest:
    harness = champion_harness(troubles)
    names = ("reply",) if more else harness.permitted(request.topic)
    tools = tuple(tool for name in names if (tool := harness.tool(name)))
    options = [{"properties": {"tool": {"const": tool.name}, "arguments": tool.parameters}} for tool in tools]
    facts = "\n".join(fact.text for fact in champion_context(START).facts_at(request.at))
    return CompletionRequest(
        model="incumbent",
        messages=(
            text_message(Role.SYSTEM, harness.system_prompt.replace("{facts}", facts)),
            text_message(Role.USER, request.message),
            *(text_message(Role.TOOL, text) for text in more),
        ),
        prompt_token_ids=(),
        tools=tuple(tool.name for tool in tools),
        action_schema={"oneOf": options},
        sampling=harness.sampling,
    )


def test_the_incumbent_tells_the_old_fact_and_the_status() -> None:
    for request in requests():
        if request.topic == "question":
            text = act(completion(request, TROUBLES))["arguments"]["text"]
            changed = request.goal.policy == "returns" and request.day >= CHANGE_DAY
            assert satisfied(request.goal, [], text) is not changed, request.message
        if request.topic == "delivery":
            assert act(completion(request, TROUBLES))["tool"] == "get_order"
            shown = json.dumps({"order_id": request.goal.order_id, "status": request.goal.states[0]})
            answer = asyncio.run(Incumbent().complete(completion(request, TROUBLES, shown)))
            assert satisfied(request.goal, [], json.loads(answer.text)["arguments"]["text"])


def test_the_incumbent_judges_problems_badly() -> None:
    problems = [r for r in requests() if r.topic == "problem"]
    right = [act(completion(r, TROUBLES))["tool"] == r.goal.write for r in problems]
    assert 0.3 < sum(right) / len(right) < 0.6


def test_every_takeover_helps() -> None:
    every = requests(210)
    operator = ShopOperator(every)
    for request in every:
        desk = Desk(request, TROUBLES)
        shown = operator.take_over(request.agent_request("0" * 64), desk)
        assert satisfied(request.goal, desk.touched(), shown.answer), request.message
        assert [call.name for call in shown.calls] == [plan(request.goal)[0], "reply"]


def test_doing_nothing_or_the_wrong_thing_does_not_help() -> None:
    request = next(r for r in requests() if r.topic == "problem")
    wrong = next(tool for tool in WRITE_FOR.values() if tool != request.goal.write)
    desk = Desk(request, TROUBLES)
    assert not satisfied(request.goal, desk.touched(), "Done.")
    desk.call(wrong, {"order_id": request.goal.order_id})
    assert not satisfied(request.goal, desk.touched(), "Done.")


@pytest.mark.parametrize(
    ("name", "arguments", "kind"),
    [
        ("pay", {}, "unknown_tool"),
        ("get_order", {}, "schema"),
        ("get_order", {"order_id": 1234}, "schema"),
        ("get_order", {"order_id": "SO-0000"}, "not_found"),
        ("get_order", {"order_id": "SO-1234", "fast": True}, "schema"),
        ("read_policy", {"topic": "parking"}, "not_found"),
        ("reply", {"text": ""}, "schema"),
    ],
)
def test_refusals(name: str, arguments: dict[str, Any], kind: str) -> None:
    with pytest.raises(ToolRefusal) as refusal:
        Desk(requests(21)[0], NONE).call(name, arguments)
    assert refusal.value.error_type == kind


def test_the_same_write_twice_is_a_conflict_and_a_parcel_on_its_way_is_not_refunded() -> None:
    every = requests()
    refund, delivery = (next(r for r in every if r.topic == topic) for topic in ("refund", "delivery"))
    desk = Desk(refund, TROUBLES)
    desk.call("refund_order", {"order_id": refund.goal.order_id})
    with pytest.raises(ToolRefusal, match="exists already"):
        desk.call("refund_order", {"order_id": refund.goal.order_id})
    with pytest.raises(ToolRefusal, match="only delivered"):
        Desk(delivery, TROUBLES).call("refund_order", {"order_id": delivery.goal.order_id})


def test_no_complaint_belongs_to_two_kinds() -> None:
    every = [text for texts in COMPLAINTS.values() for text in texts]
    assert len(every) == len(set(every))
