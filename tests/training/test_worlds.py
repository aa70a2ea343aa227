"""Worlds restore copy-on-write, share nothing, and differ without order."""

from __future__ import annotations

import copy
import json
import random
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples.shop.app import ShopApp
from examples.shop.world import build_world, slot, world_schema
from governance.errors import TidemillError
from governance.ports.tools import App, ToolRefusal, WorldState
from governance.records.harness import Effect, ToolSpec
from governance.records.world import World, WorldSchema
from training.errors import WorldMismatch
from training.state import LazyTables, SessionState, Snapshot, diff, fingerprint
from training.worlds import WorldHost

START = datetime(2026, 6, 1, tzinfo=UTC)
NO_TROUBLE: frozenset[str] = frozenset()
SHOP = build_world("harbor", 3, 0, NO_TROUBLE, START, 8)
ORDERS = [slot("harbor", 3, 0, index, NO_TROUBLE).order_id for index in range(8)]
SCHEMA = WorldSchema(
    primary_keys={"orders": "id"}, subject_fields={}, personal_fields={}, unordered_fields=("orders.payments",)
)


def shop_host(world: World = SHOP) -> WorldHost:
    return WorldHost(ShopApp(), {world.digest(): world}.__getitem__, world_schema())


call = st.tuples(
    st.sampled_from(["get_order", "refund_order", "replace_item", "give_credit", "escalate_case"]),
    st.sampled_from([*ORDERS, "SO-0000", "1234"]),
)


def outcome(session: Any, name: str, order: str) -> Any:
    try:
        return session.call(name, {"order_id": order})
    except ToolRefusal as refusal:
        return refusal.error_type, str(refusal)


@given(first=st.lists(call, max_size=6), second=st.lists(call, max_size=6), order=st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_sessions_share_nothing(first: list[Any], second: list[Any], order: random.Random) -> None:
    host = shop_host()
    alone = []
    for script in (first, second):
        session = host.open(SHOP.digest())
        alone.append(([outcome(session, *one) for one in script], session.changes()))
    left, right = host.open(SHOP.digest()), host.open(SHOP.digest())
    turns = [0] * len(first) + [1] * len(second)
    order.shuffle(turns)
    scripts = (iter(first), iter(second))
    got: tuple[list[Any], list[Any]] = ([], [])
    for which in turns:
        got[which].append(outcome((left, right)[which], *next(scripts[which])))
    assert (got[0], left.changes()) == alone[0]
    assert (got[1], right.changes()) == alone[1]
    assert host.world(SHOP.digest()).digest() == SHOP.digest()


class KeepingApp(App):
    """An app with bad habits: it keeps arguments, hands out its rows, and checks nothing."""

    def tools(self) -> tuple[ToolSpec, ...]:
        number = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
        return (
            ToolSpec(name="add", description="", parameters=number, effect=Effect.WRITE),
            ToolSpec(name="put", description="", parameters={"type": "object"}, effect=Effect.WRITE),
            ToolSpec(name="note", description="", parameters={"type": "object"}, effect=Effect.WRITE),
        )

    def call(self, state: WorldState, name: str, arguments: dict[str, Any]) -> Any:
        if name == "note":
            state.documents["notes"] = str(arguments["text"])
            return None
        state.tables["orders"].append({"id": str(len(state.tables["orders"])), **arguments})
        return state.tables["orders"][-1]


KEEPING = World(tables={"orders": ({"id": "0", "tags": ["a"]},)}, documents={"notes": "none"}, at=START)


def keeping_host() -> WorldHost:
    return WorldHost(KeepingApp(), {KEEPING.digest(): KEEPING}.__getitem__, SCHEMA)


def test_arguments_and_results_are_copies() -> None:
    session = keeping_host().open(KEEPING.digest())
    arguments = {"x": [1]}
    result = session.call("put", arguments)
    arguments["x"].append(2)
    result["x"].append(3)
    (change,) = session.changes()
    assert change.after == {"id": "1", "x": [1]}


def test_a_lax_app_is_overruled_and_nothing_stays() -> None:
    session = keeping_host().open(KEEPING.digest())
    with pytest.raises(ToolRefusal) as refusal:
        session.call("add", {"n": "one"})
    assert refusal.value.error_type == "schema"
    assert session.changes() == ()


def test_the_apps_own_refusal_text_is_kept() -> None:
    with pytest.raises(ToolRefusal, match="for example SO-1234") as refusal:
        shop_host().open(SHOP.digest()).call("refund_order", {"order_id": "1234"})
    assert refusal.value.error_type == "schema"


def test_unknown_tools_are_refused() -> None:
    with pytest.raises(ToolRefusal) as refusal:
        shop_host().open(SHOP.digest()).call("drop_tables", {})
    assert refusal.value.error_type == "unknown_tool"


def test_documents_that_change_are_changes() -> None:
    session = keeping_host().open(KEEPING.digest())
    session.call("note", {"text": "new"})
    (change,) = session.changes()
    assert (change.table, change.key) == ("documents", "notes")
    assert change.after == {"name": "notes", "text": "new"}


def test_what_is_held_under_a_digest_must_be_that_world() -> None:
    host = WorldHost(ShopApp(), lambda _: SHOP, world_schema())
    with pytest.raises(WorldMismatch):
        host.open("0" * 64)


def test_a_world_that_is_not_held_is_an_error_of_its_loader() -> None:
    def load(digest: str) -> World:
        raise TidemillError(digest)

    with pytest.raises(TidemillError):
        WorldHost(ShopApp(), load, world_schema()).open("0" * 64)


rows = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.sampled_from("abcdef"),
            "payments": st.lists(st.sampled_from(["pay1", "refund1", "pay2"]), max_size=3),
        }
    ),
    max_size=6,
)


@given(before=rows, after=rows, order=st.randoms(use_true_random=False), table=st.sampled_from(["orders", "keyless"]))
def test_a_difference_has_no_order(before: list[Any], after: list[Any], order: random.Random, table: str) -> None:
    def shuffled(items: list[Any]) -> list[Any]:
        copied = copy.deepcopy(items)
        order.shuffle(copied)
        for row in copied if table == "orders" else ():
            order.shuffle(row["payments"])
        return [dict(order.sample(list(row.items()), len(row))) for row in copied]

    expected = diff({table: before}, {table: after}, SCHEMA)
    assert diff({table: shuffled(before)}, {table: shuffled(after)}, SCHEMA) == expected
    assert diff({table: before}, {table: shuffled(before)}, SCHEMA) == ()
    assert fingerprint({table: before}, SCHEMA) == fingerprint({table: shuffled(before)}, SCHEMA)
    same = fingerprint({table: before}, SCHEMA) == fingerprint({table: after}, SCHEMA)
    assert same == (expected == ())


def test_equal_states_in_another_order_are_equal_over_100_replays() -> None:
    """EVL-05: a hash that sorts keys but not list items calls equal states different."""
    rng = random.Random(5)
    seen = set()
    for _ in range(100):
        payments = ["pay1", "refund1"]
        rng.shuffle(payments)
        table = [{"id": "1", "payments": payments}, {"id": "2", "payments": []}]
        rng.shuffle(table)
        seen.add(fingerprint({"orders": table}, SCHEMA))
    assert len(seen) == 1
    ordered = WorldSchema(primary_keys={"orders": "id"}, subject_fields={}, personal_fields={})
    both = [[{"id": "1", "payments": order}] for order in (["pay1", "refund1"], ["refund1", "pay1"])]
    assert diff({"orders": both[0]}, {"orders": both[1]}, ordered), "order counts where no schema says otherwise"


def test_100_replays_of_the_same_calls_leave_the_same_changes() -> None:
    host, ends = shop_host(), set()
    for _ in range(100):
        session = host.open(SHOP.digest())
        for order in ORDERS[:3]:
            session.call("escalate_case", {"order_id": order})
        ends.add(json.dumps([change.plain() for change in session.changes()]))
    assert len(ends) == 1


SOURCE: dict[str, tuple[dict[str, Any], ...]] = {"a": ({"x": 1},), "b": ({"y": [1]},)}
PLAIN = {"a": [{"x": 1}], "b": [{"y": [1]}]}


@pytest.mark.parametrize(
    "view",
    [
        dict, lambda t: {**t}, lambda t: dict(t.items()), json.dumps, copy.deepcopy, copy.copy,
        lambda t: t | {}, lambda t: {} | t, lambda t: sorted(map(str, t.values())), lambda t: t.copy(), list, len,
        lambda t: t.get("a"), lambda t: t.pop("a"), lambda t: t.setdefault("b", []), lambda t: t == PLAIN,
        lambda t: "a" in t,
    ],
)  # fmt: skip
def test_lazy_tables_look_like_a_dict(view: Any) -> None:
    lazy = LazyTables(SOURCE, lambda name: copy.deepcopy(list(SOURCE[name])))
    assert view(lazy) == view(dict(PLAIN))
    assert SOURCE == {"a": ({"x": 1},), "b": ({"y": [1]},)}


def test_only_touched_tables_are_copied() -> None:
    state = SessionState.of(Snapshot(SHOP, world_schema()))
    assert state.tables["orders"] == list(SHOP.tables["orders"])
    assert state.tables["orders"][0] is not SHOP.tables["orders"][0]
    assert list(state.maybe_changed()) == ["orders"]
