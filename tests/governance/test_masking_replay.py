"""Masked data still works: masked calls find in the masked world what the recorded calls found, on tau-bench's airline.

Every recorded read whose result is what the database holds must, masked, find the masked row that equals its masked
result. And of the structured values in the same runs, the personal ones go and what calls are made of stays.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from governance.keys import DerivedKeyProvider
from governance.masked_world import masked_world
from governance.masking.presidio_masker import PresidioMasker
from governance.masking.surrogate import Surrogates
from governance.records.world import World, WorldSchema

KEYS = DerivedKeyProvider("replay")
READS = {"get_user_details": ("users", "user_id"), "get_reservation_details": ("reservations", "reservation_id")}
SCHEMA = WorldSchema(
    primary_keys={"users": "user_id", "reservations": "reservation_id"},
    subject_fields={"users": "user_id", "reservations": "user_id"},
    personal_fields={},
)
AT = datetime(2024, 5, 15, tzinfo=UTC)


class Nobody:
    """People, none of them erased."""

    def subject(self, tenant_id: str, raw_id: str | None) -> str:
        return Surrogates(KEYS, tenant_id).subject(str(raw_id))

    def erased(self, tenant_id: str, subjects: Iterable[str]) -> set[str]:
        return set()


@pytest.fixture(scope="module")
def masker() -> PresidioMasker:
    return PresidioMasker(KEYS)


@lru_cache(maxsize=1)
def airline(folder: Path) -> dict[str, dict[str, Any]]:
    """Table to key to row. When the runs were recorded, an address had a ``province``; the files have ``state`` now."""
    users = json.loads((folder / "airline" / "users.json").read_text().replace('"state":', '"province":'))
    bookings = json.loads((folder / "airline" / "reservations.json").read_text())
    return {"users": {key: {**row, "user_id": key} for key, row in users.items()}, "reservations": bookings}


def shown(table: str, row: dict[str, Any]) -> dict[str, Any]:
    """What the tool gives back of a row."""
    return {key: value for key, value in row.items() if table != "users" or key != "user_id"}


def recorded(folder: Path) -> list[tuple[str, dict[str, Any], str]]:
    """The distinct reads (table, arguments, result) that found what the database holds."""
    data, found = airline(folder), {}
    for run in json.loads((folder / "historical_trajectories" / "gpt-4o-airline.json").read_text()):
        asked: dict[str, Any] = {}
        for message in run["traj"]:
            asked |= {call["id"]: call["function"] for call in message.get("tool_calls") or ()}
            if message["role"] != "tool" or message["name"] not in READS or message["content"].startswith("Error"):
                continue
            table, field = READS[message["name"]]
            arguments = json.loads(asked[message["tool_call_id"]]["arguments"])
            row = data[table].get(arguments[field])
            if row is not None and json.loads(message["content"]) == shown(table, row):
                found[message["content"]] = (table, arguments, message["content"])
    return list(found.values())


def test_masked_reads_find_in_the_masked_world_what_the_recorded_ones_found(
    masker: PresidioMasker, cases_dir: Path
) -> None:
    folder = cases_dir / "trajectories" / "tau_bench"
    data, calls = airline(folder), recorded(folder)
    wanted: dict[str, dict[str, Any]] = {table: {} for table, _ in READS.values()}
    for table, arguments, _ in calls:
        key = arguments[dict(READS.values())[table]]
        wanted[table][key] = data[table][key]
    source = World(tables={table: tuple(rows.values()) for table, rows in wanted.items()}, documents={}, at=AT)
    world = masked_world(masker, "t", source, SCHEMA, Nobody()).world
    masked = masker.mask("t", [{"content": {"tool_arguments": a, "tool_result": result}} for _, a, result in calls])
    faithful = 0
    for (table, _, raw), one in zip(calls, masked, strict=True):
        field = dict(READS.values())[table]
        said = one.value["content"]
        rows = [row for row in world.tables[table] if row[field] == said["tool_arguments"][field]]
        assert len(rows) == 1, table
        assert json.loads(said["tool_result"]) == shown(table, rows[0])
        assert said["tool_result"] != raw
        faithful += 1
    assert faithful == len(calls) > 60
    text = world.model_dump_json()
    assert not [user["email"] for user in wanted["users"].values() if user["email"] in text]
    assert not [key for key in wanted["users"] if key in text]


def test_structured_values_of_the_same_runs(masker: PresidioMasker, cases_dir: Path) -> None:
    lines = (cases_dir / "pii" / "tau_structured" / "cases.jsonl").read_text().splitlines()
    cases = [case for case in map(json.loads, lines) if case["format"] == "json"]
    personal = gone = kept = damaged = 0
    for case, one in zip(cases, masker.mask("t", [case["text"] for case in cases]), strict=True):
        before, after = json.loads(case["text"]), json.loads(one.value)
        for label in case["pii_fields"]:
            personal += 1
            gone += at(after, label["pointer"]) != at(before, label["pointer"])
        for label in case["must_keep"]:
            kept += 1
            damaged += at(after, label["pointer"]) != at(before, label["pointer"])
    assert gone == personal > 500
    assert damaged == 0 < kept


def test_undeclared_cells_of_a_world_are_masked_as_what_is_said(masker: PresidioMasker) -> None:
    note = "harbor-0012 said: call Clara Barlow at (212) 734-0134"
    row = {
        "order_id": "SO-1234",
        "customer_id": "harbor-0012",
        "note": note,
        "contact_email": "clara@corp.example",
        "details": json.dumps({"dob": "1990-04-05", "amount": 12.5}),
        "amount": "12.50",
        "phone": 2127340134,
    }
    schema = WorldSchema(
        primary_keys={"orders": "order_id"}, subject_fields={"orders": "customer_id"}, personal_fields={}
    )
    source = World(tables={"orders": (row,)}, documents={}, at=AT)
    made = masked_world(masker, "t", source, schema, Nobody())
    [held] = made.world.tables["orders"]
    subject = Nobody().subject("t", "harbor-0012")
    [said] = masker.mask("t", [{"note": note, "contact_email": "clara@corp.example"}])
    assert held["note"].removeprefix(subject) == said.value["note"].removeprefix("harbor-0012")
    assert held["contact_email"] == said.value["contact_email"]
    assert (held["order_id"], held["amount"]) == ("SO-1234", "12.50")
    assert json.loads(held["details"])["amount"] == 12.5
    assert isinstance(held["phone"], int)
    assert not [value for value in ("Clara", "734", "harbor", "clara@", "1990-04-05") if value in json.dumps(held)]
    assert [(one.subject, one.key) for one in made.people] == [(subject, "SO-1234")]


def at(value: Any, pointer: str) -> Any:
    """The value at a JSON pointer."""
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value
