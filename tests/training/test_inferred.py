"""Inferred worlds against the real app that the runs were recorded on: never a wrong answer, whatever is called."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.ports.tools import App, ToolRefusal, Unrecorded, WorldState
from governance.records.harness import Effect, ToolSpec
from governance.records.trajectory import Actor, ToolInvocation
from governance.records.world import World, WorldSchema
from training.inferred import InferredApp, fidelity, infer, schema_of
from training.inferred.fidelity import Answered, answered
from training.state import SessionState, Snapshot
from training.worlds import WorldHost

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ACCOUNTS = ("acc-1", "acc-2", "acc-3")
OBJECT = {"type": "object"}
TOOLS = [
    ToolSpec(name="get_account", description="", parameters=OBJECT, effect=Effect.READ),
    ToolSpec(name="count_open", description="", parameters=OBJECT, effect=Effect.READ),
    ToolSpec(name="list_owner", description="", parameters=OBJECT, effect=Effect.READ),
    ToolSpec(name="set_limit", description="", parameters=OBJECT, effect=Effect.WRITE),
    ToolSpec(name="close", description="", parameters=OBJECT, effect=Effect.WRITE),
]
WORLD = World(
    tables={
        "accounts": tuple(
            {"account": name, "owner": f"own-{number % 2}", "limit": 10, "open": True}
            for number, name in enumerate(ACCOUNTS)
        )
    },
    documents={},
    at=NOW,
)
SCHEMA = WorldSchema(primary_keys={"accounts": "account"}, subject_fields={}, personal_fields={})


class Bank(App):
    """Accounts of owners: a limit returns the new account, a closing returns a word."""

    def tools(self) -> tuple[ToolSpec, ...]:
        return tuple(TOOLS)

    def call(self, state: WorldState, name: str, arguments: dict[str, Any]) -> Any:
        rows = state.tables["accounts"]
        if name == "count_open":
            return sum(row["open"] for row in rows)
        if name == "list_owner":
            return [row["account"] for row in rows if row["owner"] == arguments["owner"] and row["open"]]
        row = next((row for row in rows if row["account"] == arguments["account"]), None)
        if row is None:
            raise ToolRefusal("not_found", f"no account {arguments['account']}")
        if name == "set_limit":
            row["limit"] = arguments["limit"]
        if name == "close":
            row["open"] = False
            return "closed"
        return row


def read(account: str) -> tuple[str, dict[str, Any]]:
    return "get_account", {"account": account}


CALLS = st.one_of(
    st.sampled_from([*ACCOUNTS, "acc-9"]).map(read),
    st.sampled_from(["own-0", "own-1"]).map(lambda owner: ("list_owner", {"owner": owner})),
    st.tuples(st.sampled_from([*ACCOUNTS, "acc-9"]), st.integers(1, 2)).map(
        lambda pair: ("set_limit", {"account": pair[0], "limit": pair[1]})
    ),
    st.sampled_from(ACCOUNTS).map(lambda name: ("close", {"account": name})),
    st.just(("count_open", {})),
)
RUNS = st.lists(st.lists(CALLS, max_size=6), max_size=6)


def played(calls: list[tuple[str, dict[str, Any]]]) -> list[ToolInvocation]:
    """A recorded run of the real app."""
    digest = WORLD.digest()
    session, found = WorldHost(Bank(), {digest: WORLD}.__getitem__, SCHEMA).open(digest), []
    for name, arguments in calls:
        outcome: dict[str, Any] = {}
        try:
            outcome["result"] = session.call(name, arguments)
        except ToolRefusal as refusal:
            outcome |= {"error": str(refusal), "error_type": refusal.error_type}
        found.append(
            ToolInvocation(
                span_id=f"{len(found) + 1:016x}", call_id=str(len(found)), name=name, arguments=arguments,
                actor=Actor.AGENT, started_at=NOW, **outcome,
            )
        )  # fmt: skip
    return found


def made(runs: list[list[ToolInvocation]]) -> tuple[Snapshot, InferredApp]:
    return Snapshot(infer(runs, TOOLS, NOW), schema_of(TOOLS)), InferredApp(TOOLS)


EVERYTHING = [
    [("count_open", {})] + [read(name) for name in ACCOUNTS] + [("list_owner", {"owner": f"own-{n}"}) for n in (0, 1)]
]


@settings(max_examples=300, deadline=None)
@given(RUNS, st.lists(CALLS, max_size=10))
def test_no_answer_is_wrong(recorded: list[Any], held_out: list[Any]) -> None:
    snapshot, app = made([played(run) for run in [*EVERYTHING, *recorded]])
    measured = fidelity(snapshot, app, [played(held_out)])
    assert measured.wrong.k == 0, measured


@settings(max_examples=100, deadline=None)
@given(RUNS)
def test_what_was_learned_does_not_depend_on_the_order_of_runs(recorded: list[Any]) -> None:
    runs = [played(run) for run in recorded]
    assert infer(runs, TOOLS, NOW).digest() == infer(runs[::-1], TOOLS, NOW).digest()


def test_a_write_that_returns_the_new_state_is_read_again() -> None:
    shown = [("set_limit", {"account": "acc-1", "limit": 5}), read("acc-1")]
    snapshot, app = made([played(run) for run in [*EVERYTHING, shown]])
    measured = fidelity(snapshot, app, [played(shown)])
    assert (measured.exact.k, measured.exact.n) == (2, 2)
    digest = snapshot.world.digest()
    session = WorldHost(app, {digest: snapshot.world}.__getitem__, schema_of(TOOLS)).open(digest)
    session.call(*shown[0])
    changed = {(change.table, change.before is None) for change in session.changes()}
    assert changed == {("done", True), ("get_account", False)}


@pytest.mark.parametrize(
    ("calls", "why"),
    [
        ([("get_account", {"account": "acc-7"})], "no such call"),
        ([("close", {"account": "acc-1"}), read("acc-1")], "has written"),
        ([("close", {"account": "acc-1"}), ("count_open", {})], "has written"),
        ([("close", {"account": "acc-1"}), ("list_owner", {"owner": "own-0"})], "has written"),
    ],
)
def test_what_nothing_supports_is_said_to_be_unrecorded(calls: list[Any], why: str) -> None:
    snapshot, app = made([played(run) for run in [*EVERYTHING, [("close", {"account": "acc-1"})]]])
    state = SessionState.of(snapshot)
    for name, arguments in calls[:-1]:
        app.call(state, name, arguments)
    with pytest.raises(Unrecorded, match=why):
        app.call(state, *calls[-1])
    assert app.call(state, *read("acc-2"))["account"] == "acc-2", "what was not touched is answered"


def test_a_call_that_gave_two_results_is_not_decided() -> None:
    one, other = played([read("acc-1")]), played([read("acc-1")])
    other = [other[0].model_copy(update={"result": {"account": "acc-1", "limit": 99}})]
    snapshot, app = made([one, other])
    with pytest.raises(Unrecorded, match="different results"):
        app.call(SessionState.of(snapshot), *read("acc-1"))
    assert answered(app, SessionState.of(snapshot), one[0]) is Answered.UNRECORDED


def test_a_recorded_refusal_is_given_again() -> None:
    snapshot, app = made([played([read("acc-9")])])
    with pytest.raises(ToolRefusal, match="no account acc-9"):
        app.call(SessionState.of(snapshot), *read("acc-9"))
