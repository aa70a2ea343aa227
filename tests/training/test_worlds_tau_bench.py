"""Worlds on a database that nobody here made: tau-bench's airline; its recorded results and hashes are the oracle."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from governance.ports.tools import App, ToolRefusal, WorldState
from governance.records.harness import Effect, ToolSpec
from governance.records.task import GoldAction
from governance.records.trajectory import Actor, ToolInvocation
from governance.records.world import World, WorldSchema
from training.admission import play
from training.replay import replay
from training.state import fingerprint
from training.worlds import WorldHost, WorldSession

KEYS = {"flights": "flight_number", "reservations": "reservation_id", "users": "user_id"}
SCHEMA = WorldSchema(primary_keys=KEYS, subject_fields={}, personal_fields={})
NOW = datetime(2024, 5, 15, 15, tzinfo=UTC)
READS = {"get_user_details": ("users", "user_id"), "get_reservation_details": ("reservations", "reservation_id")}
WRITES = ("cancel_reservation", "update_reservation_baggages", "send_certificate")
HARMLESS = {"calculate", "think", "transfer_to_human_agents", "list_all_airports"}
HARMLESS |= {"search_direct_flight", "search_onestop_flight"}


class AirlineApp(App):
    """Five of tau-bench's airline tools, after its ``envs/airline/tools``."""

    def tools(self) -> tuple[ToolSpec, ...]:
        either = dict.fromkeys(READS, Effect.READ) | dict.fromkeys(WRITES, Effect.WRITE)
        return tuple(
            ToolSpec(name=name, description=name, parameters={"type": "object"}, effect=effect)
            for name, effect in either.items()
        )

    def call(self, state: WorldState, name: str, arguments: dict[str, Any]) -> Any:
        if name in READS:
            table, field = READS[name]
            row = find(state, table, arguments[field])
            return {key: value for key, value in row.items() if table != "users" or key != "user_id"}
        return {
            "cancel_reservation": cancel, "update_reservation_baggages": baggages, "send_certificate": certificate,
        }[name](state, arguments)  # fmt: skip


def find(state: WorldState, table: str, key: str) -> dict[str, Any]:
    for row in state.tables[table]:
        if row[KEYS[table]] == key:
            return row
    raise ToolRefusal("not_found", f"Error: {table} not found")


def cancel(state: WorldState, arguments: dict[str, Any]) -> Any:
    row = find(state, "reservations", arguments["reservation_id"])
    row["payment_history"] += [
        {"payment_id": payment["payment_id"], "amount": -payment["amount"]} for payment in row["payment_history"]
    ]
    row["status"] = "cancelled"
    return row


def baggages(state: WorldState, arguments: dict[str, Any]) -> Any:
    row = find(state, "reservations", arguments["reservation_id"])
    price = 50 * max(0, arguments["nonfree_baggages"] - row["nonfree_baggages"])
    methods = find(state, "users", row["user_id"])["payment_methods"]
    method = methods.get(arguments["payment_id"])
    if method is None:
        raise ToolRefusal("not_found", "Error: payment method not found")
    if method["source"] == "certificate" or (method["source"] == "gift_card" and method["amount"] < price):
        raise ToolRefusal("conflict", "Error: payment method cannot be used")
    row["total_baggages"], row["nonfree_baggages"] = arguments["total_baggages"], arguments["nonfree_baggages"]
    if method["source"] == "gift_card":
        method["amount"] -= price
    if price:
        row["payment_history"].append({"payment_id": arguments["payment_id"], "amount": price})
    return row


def certificate(state: WorldState, arguments: dict[str, Any]) -> Any:
    methods = find(state, "users", arguments["user_id"])["payment_methods"]
    name = next(made for number in (3221322, 3221323, 3221324) if (made := f"certificate_{number}") not in methods)
    methods[name] = {"source": "certificate", "amount": arguments["amount"], "id": name}
    return f"Certificate {name} added to user {arguments['user_id']} with amount {arguments['amount']}."


@lru_cache(maxsize=2)
def airline(folder: Path, region: str = "province") -> tuple[WorldHost, str]:
    """The database. The runs were recorded when an address had a ``province``; the files have ``state`` by now."""
    tables = {}
    for table, field in KEYS.items():
        text = (folder / "airline" / f"{table}.json").read_text()
        rows = json.loads(text.replace('"state":', f'"{region}":') if table == "users" else text)
        tables[table] = tuple(row if table != "users" else {**row, field: key} for key, row in rows.items())
    world = World(tables=tables, documents={"wiki": (folder / "airline" / "wiki.md").read_text()}, at=NOW)
    digest = world.digest()
    return WorldHost(AirlineApp(), {digest: world}.__getitem__, SCHEMA), digest


@pytest.fixture
def folder(cases_dir: Path) -> Path:
    return cases_dir / "trajectories" / "tau_bench"


@lru_cache(maxsize=1)
def history(folder: Path) -> list[dict[str, Any]]:
    runs: list[dict[str, Any]] = json.loads((folder / "historical_trajectories" / "gpt-4o-airline.json").read_text())
    return runs


def hashable(item: Any) -> Any:
    """As tau-bench's ``to_hashable``."""
    if isinstance(item, dict):
        return tuple((key, hashable(value)) for key, value in sorted(item.items()))
    return tuple(map(hashable, item)) if isinstance(item, list) else item


def their_hash(session: WorldSession) -> str:
    state = session._state
    data = {
        table: {
            row[field]: {k: v for k, v in row.items() if table != "users" or k != field} for row in state.tables[table]
        }
        for table, field in KEYS.items()
    }
    return hashlib.sha256(str(hashable(data)).encode()).hexdigest()


def gold_of(run: dict[str, Any]) -> list[GoldAction] | None:
    actions = [one for one in run["info"]["task"]["actions"] if one["name"] not in HARMLESS]
    if any(one["name"] not in READS and one["name"] not in WRITES for one in actions):
        return None
    return [GoldAction(name=one["name"], arguments=one["kwargs"]) for one in actions]


def test_gold_actions_end_in_the_recorded_database(folder: Path) -> None:
    host, digest = airline(folder)
    ended = {run["task_id"]: (run["info"]["reward_info"] or {}).get("info", {}) for run in history(folder)}
    hashes = {number: info["gt_data_hash"] for number, info in ended.items() if "gt_data_hash" in info}
    tasks = {run["task_id"]: gold for run in history(folder) if (gold := gold_of(run)) is not None}
    wrote = compared = 0
    for number, gold in tasks.items():
        session = host.open(digest)
        changes = play(session, gold)
        if number in hashes:
            compared += 1
            assert their_hash(session) == hashes[number], f"task {number}"
        wrote += bool(changes)
    assert compared >= 8
    assert wrote >= 3


def test_recorded_results_replay_faithfully(folder: Path) -> None:
    host, digest = airline(folder)
    faithful = total = 0
    for run in history(folder)[:40]:
        calls = recorded(run["traj"])
        if calls:
            played = replay(host.open(digest), calls)
            total += len(calls)
            faithful += len(calls) * played.faithful
    assert total > 50
    assert faithful == total


def test_a_database_that_changed_since_is_not_faithful(folder: Path) -> None:
    host, digest = airline(folder, region="state")
    runs = [calls for run in history(folder)[:8] if (calls := recorded(run["traj"]))]
    reading = [calls for calls in runs if any(call.name == "get_user_details" for call in calls)]
    assert reading
    assert not any(replay(host.open(digest), calls).faithful for calls in reading)


def recorded(messages: list[dict[str, Any]]) -> list[ToolInvocation]:
    """The successful calls of a run, up to the first one that this app does not have."""
    asked: dict[str, Any] = {}
    found: list[ToolInvocation] = []
    for message in messages:
        asked |= {call["id"]: call["function"] for call in message.get("tool_calls") or ()}  # ids come again
        if message["role"] != "tool" or message["name"] in HARMLESS:
            continue
        if message["name"] not in READS and message["name"] not in WRITES:
            break
        if message["content"].startswith("Error"):
            continue
        text = message["content"]
        found.append(
            ToolInvocation(
                span_id=f"{len(found) + 1:016x}", call_id=message["tool_call_id"], name=message["name"],
                arguments=json.loads(asked[message["tool_call_id"]]["arguments"]),
                result=json.loads(text) if text.startswith("{") else text, actor=Actor.AGENT, started_at=NOW,
            )
        )  # fmt: skip
    return found


@pytest.mark.parametrize("reverse", [False, True])
def test_the_order_of_writes_to_different_rows_does_not_count(folder: Path, *, reverse: bool) -> None:
    host, digest = airline(folder)
    ids = [row["reservation_id"] for row in host.world(digest).tables["reservations"][:4]]
    gold = [GoldAction(name="cancel_reservation", arguments={"reservation_id": name}) for name in ids]
    ordered, other = host.open(digest), host.open(digest)
    expected = play(ordered, gold)
    assert play(other, gold[::-1] if reverse else gold) == expected
    assert fingerprint(ordered._state.tables, SCHEMA) == fingerprint(other._state.tables, SCHEMA)
