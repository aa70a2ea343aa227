"""Rows of a consent platform: read whole or refused by field, from CSV, JSON and JSON lines, and never quoted."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance.records.rights import CONSENT_IRI, ConsentStatus, Purpose
from ingestion.consent.body import rows_of
from ingestion.consent.files import Mapped, rows
from ingestion.consent.item import AHEAD, FIELDS, REQUIRED, ConsentFault, ConsentItem, read_item
from ingestion.errors import DecodeError

NOW = datetime(2026, 5, 1, tzinfo=UTC)
GOOD: dict[str, Any] = {
    "event_id": "e-1", "subject": "C-1001", "purpose": "train_weights", "status": "given",
    "at": "2026-04-01T10:00:00+02:00", "notice": "We learn from what you tell us.",
}  # fmt: skip


def test_a_row_is_read_as_it_stands() -> None:
    item = read_item(GOOD, 3, NOW)
    assert isinstance(item, ConsentItem)
    assert (item.position, item.purpose, item.status) == (3, Purpose.TRAIN_WEIGHTS, ConsentStatus.GIVEN)
    assert item.at == datetime(2026, 4, 1, 8, tzinfo=UTC)
    assert item.notice == GOOD["notice"]


@pytest.mark.parametrize("status", ConsentStatus)
def test_a_status_can_be_its_dpv_iri(status: ConsentStatus) -> None:
    item = read_item(GOOD | {"status": CONSENT_IRI[status]}, 1, NOW)
    assert isinstance(item, ConsentItem)
    assert item.status is status


@pytest.mark.parametrize(
    ("change", "field"),
    [
        *(({name: None}, name) for name in REQUIRED),
        ({"purpose": "comply"}, "purpose"),
        ({"purpose": "sell"}, "purpose"),
        ({"status": "maybe"}, "status"),
        ({"at": "2026-04-01T10:00:00"}, "at"),
        ({"at": "1969-12-31T00:00:00Z"}, "at"),
        ({"at": "0001-01-01T00:00:00+14:00"}, "at"),
        ({"at": (NOW + AHEAD + timedelta(seconds=1)).isoformat()}, "at"),
        ({"until": "2026-04-01T08:00:00Z"}, "until"),
        ({"notice": None}, "notice"),
        ({"notice": "a\ud800b"}, "notice"),
        ({"notice": "x" * 70_000}, "notice"),
        ({"notice_digest": "0" * 64}, "notice_digest"),
        ({"notice": None, "notice_digest": "A" * 64}, "notice_digest"),
        ({"subject": "a\nb"}, "subject"),
        ({"subject": " C-1"}, "subject"),
        ({"subject": 7}, "subject"),
        ({"subject": "x" * 600}, "subject"),
        ({"event_id": "\x00"}, "event_id"),
        ({"tenant": "bolt"}, "(row)"),
    ],
)
def test_what_is_wrong_is_named_by_field_and_never_quoted(change: dict[str, Any], field: str) -> None:
    fault = read_item(GOOD | change, 9, NOW)
    assert isinstance(fault, ConsentFault)
    assert (fault.position, fault.field) == (9, field)
    assert not any(str(value) in fault.reason for value in change.values() if isinstance(value, str) and len(value) > 3)


@pytest.mark.parametrize("raw", [None, 7, "x", [], [GOOD]])
def test_what_is_no_row_is_a_fault(raw: Any) -> None:
    assert isinstance(read_item(raw, 1, NOW), ConsentFault)


def test_a_withdrawal_needs_no_field_that_a_consent_does_not_need() -> None:
    needed = {name for name in GOOD if isinstance(read_item({**GOOD, name: None}, 1, NOW), ConsentFault)}
    withdrawal = GOOD | {"status": "withdrawn"}
    less = {name for name in GOOD if isinstance(read_item({**withdrawal, name: None}, 1, NOW), ConsentFault)}
    assert less < needed


@given(st.dictionaries(st.sampled_from([*FIELDS, "x"]), st.one_of(st.none(), st.text(max_size=20), st.integers())))
@settings(max_examples=60)
def test_any_row_is_an_item_or_a_fault(raw: dict[str, Any]) -> None:
    found = read_item(raw, 1, NOW)
    assert isinstance(found, ConsentFault) or found.subject == raw["subject"]


def as_csv(found: list[dict[str, Any]], names: list[str]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, names)
    writer.writeheader()
    writer.writerows(found)
    return out.getvalue()


def write(path: Path, form: str, found: list[dict[str, Any]]) -> Path:
    names = sorted({name for row in found for name in row})
    text = {
        "csv": lambda: "\ufeff" + as_csv(found, names),
        "json": lambda: json.dumps(found),
        "jsonl": lambda: "\n".join(json.dumps(row) for row in found) + "\n\n",
    }[form]()
    made = path / f"rows.{form}"
    made.write_text(text, encoding="utf-8", newline="")
    return made


@pytest.mark.parametrize("form", ["csv", "json", "jsonl"])
def test_each_form_of_file_gives_the_same_rows(tmp_path: Path, form: str) -> None:
    told = [
        GOOD,
        GOOD | {"event_id": "e-2", "notice": 'Two lines,\nand a "quote"'},
        GOOD | {"event_id": "e-3", "status": "no"},
    ]
    first, second, third = rows(write(tmp_path, form, told), Mapped(), NOW)
    assert [one.event_id for one in (first, second) if isinstance(one, ConsentItem)] == ["e-1", "e-2"]
    assert isinstance(second, ConsentItem)
    assert second.notice == told[1]["notice"]
    assert isinstance(third, ConsentFault)
    assert (third.position, third.field) == ({"csv": 5, "json": 3, "jsonl": 3}[form], "status")


def test_a_platforms_columns_and_words_are_mapped(tmp_path: Path) -> None:
    theirs = {"id": "e-1", "user": "C-1", "topic": "ML", "choice": "OPT_OUT", "ts": "2026-04-01T10:00:00Z", "x": "y"}
    columns = {"event_id": "id", "subject": "user", "purpose": "topic", "status": "choice", "at": "ts"}
    words = {("purpose", "ML"): "train_weights", ("status", "OPT_OUT"): "withdrawn"}
    (found,) = rows(write(tmp_path, "csv", [theirs]), Mapped(columns, words), NOW)
    assert isinstance(found, ConsentItem)
    assert (found.subject, found.purpose, found.status) == ("C-1", Purpose.TRAIN_WEIGHTS, ConsentStatus.WITHDRAWN)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.csv", b"event_id,event_id\n", "a column twice"),
        ("a.csv", b"\xff\xfe\n", "cannot be read as CSV"),
        ("a.csv", b'event_id,subject\n"a,b\n', "cannot be read as CSV"),
        ("a.json", b"{}", "a JSON list"),
        ("a.json", b"[", "a JSON list"),
        ("a.jsonl", b"x" * 300_000, "longer than"),
        ("a.txt", b"", "must end in"),
    ],
)
def test_a_file_that_cannot_be_read_as_a_whole_is_an_error(
    tmp_path: Path, name: str, content: bytes, says: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DecodeError, match=says):
        list(rows(tmp_path / name, Mapped(), NOW))


def test_a_key_that_is_named_twice_flips_nothing(tmp_path: Path) -> None:
    flipped = json.dumps(GOOD | {"status": "withdrawn"})[:-1] + ', "status": "given"}'
    for form, data in (("jsonl", flipped), ("jsonl", flipped.replace(', "status', ', "st\\u0061tus'))):
        path = tmp_path / f"rows.{form}"
        path.write_text(data + "\n" + json.dumps(GOOD))
        first, second = rows(path, Mapped(), NOW)
        assert isinstance(first, ConsentFault)
        assert isinstance(second, ConsentItem)
    (tmp_path / "rows.json").write_text(f"[{flipped}]")
    with pytest.raises(DecodeError):
        list(rows(tmp_path / "rows.json", Mapped(), NOW))
    with pytest.raises(DecodeError, match="twice"):
        rows_of(flipped.encode(), NOW)
    (read,) = rows_of(json.dumps(GOOD).encode(), NOW)
    assert isinstance(read, ConsentItem)


def test_a_mapped_column_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DecodeError, match="lacks user"):
        list(rows(write(tmp_path, "csv", [GOOD]), Mapped({"subject": "user"}), NOW))


@pytest.mark.parametrize("line", [b"{", b"nonsense", b"\xff", b"[1]", b'{"subject": NaN}'])
def test_a_line_that_cannot_be_read_costs_no_other_line(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(line + b"\n" + json.dumps(GOOD).encode())
    first, second = rows(path, Mapped(), NOW)
    assert isinstance(first, ConsentFault)
    assert first.position == 1
    assert isinstance(second, ConsentItem)


@given(st.binary(max_size=300), st.sampled_from(["csv", "json", "jsonl"]))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_rows_faults_or_an_error(tmp_path: Path, data: bytes, form: str) -> None:
    path = tmp_path / f"any.{form}"
    path.write_bytes(data)
    try:
        found = list(rows(path, Mapped(), NOW))
    except DecodeError:
        return
    assert all(isinstance(one, ConsentItem | ConsentFault) for one in found)
