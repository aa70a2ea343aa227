"""Items of feedback as senders write them: taken whole or refused by field, whatever the bytes are."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.records.base import from_unix_nano
from governance.records.feedback import FeedbackKind
from governance.records.trajectory import Outcome
from ingestion.errors import DecodeError, SpoolError
from ingestion.feedback.body import MOST_ITEMS, FeedbackEnvelope
from ingestion.feedback.item import FIELDS, Item, ItemFault, read_item

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TRACE, SPAN = "a" * 32, "b" * 16
GOOD: dict[str, Any] = {"id": "s1", "kind": "thumbs", "value": 1, "trace_id": TRACE}


def read(**changes: Any) -> Item | ItemFault:
    return read_item({**GOOD, **changes}, 0, NOW)


def taken(**changes: Any) -> Item:
    found = read(**changes)
    assert isinstance(found, Item), found
    return found


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"value": -1}, {"value": -1.0, "kind": FeedbackKind.THUMBS, "name": "thumbs"}),
        ({"kind": "score", "value": 0, "name": "quality"}, {"value": 0.0, "name": "quality"}),
        ({"kind": "score", "value": None, "label": "good"}, {"value": None, "label": "good"}),
        ({"kind": "comment", "value": None, "comment": "Nö\x00"}, {"comment": "Nö\x00"}),
        ({"kind": "correction", "value": None, "content": {"a": [1]}}, {"content": {"a": [1]}}),
        ({"kind": "demonstration", "value": None, "content": "like this"}, {"content": "like this"}),
        ({"kind": "outcome", "value": "unknown"}, {"outcome": Outcome.UNKNOWN, "value": None}),
        ({"comment": "with words"}, {"comment": "with words", "value": 1.0}),
        ({"user_id": 1001}, {"user_id": "1001"}),
        ({"at": "2026-03-01T11:00:00+01:00"}, {"at": NOW - timedelta(hours=2), "timed": True}),
        ({}, {"at": NOW, "timed": False}),
    ],
)
def test_items_of_each_kind(changes: dict[str, Any], expected: dict[str, Any]) -> None:
    item = taken(**changes)
    assert {name: getattr(item, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("changes", "field", "why"),
    [
        ({"id": None}, "id", "missing"),
        ({"id": "x" * 201}, "id", "longer than 200"),
        ({"id": "a\nERROR forged"}, "id", "cannot be printed"),
        ({"id": 7}, "id", "text"),
        ({"kind": "thumb"}, "kind", "one of thumbs, score"),
        ({"kind": ["thumbs"]}, "kind", "one of"),
        ({"value": 0}, "value", "1 or -1"),
        ({"value": True}, "value", "number"),
        ({"value": "1"}, "value", "number"),
        ({"value": None}, "value", "missing"),
        ({"kind": "score", "value": 1e300}, "value", "between"),
        ({"kind": "score", "value": 10**400}, "value", "between"),
        ({"kind": "score", "value": None}, "value", "value or a label"),
        ({"kind": "outcome", "value": "good"}, "value", "success, failure, unknown"),
        ({"kind": "comment"}, "comment", "missing"),
        ({"kind": "comment", "comment": " ", "value": None}, "comment", "not empty"),
        ({"kind": "comment", "comment": "x", "value": 1}, "value", "belongs to"),
        ({"kind": "comment", "comment": "x" * 70_000, "value": None}, "comment", "longer"),
        ({"kind": "correction", "value": None}, "content", "missing"),
        ({"kind": "correction", "value": None, "content": 7}, "content", "text, an object or a list"),
        ({"kind": "correction", "value": None, "content": ["x" * 70_000]}, "content", "larger"),
        ({"content": "x"}, "content", "belongs to"),
        ({"trace_id": None}, "trace_id", "say a trace_id, a response_id or a session_id"),
        ({"trace_id": "0" * 32}, "trace_id", "not all zero"),
        ({"trace_id": "zz"}, "trace_id", "32 hex"),
        ({"span_id": SPAN, "trace_id": None, "session_id": "S"}, "span_id", "trace_id beside it"),
        ({"session_id": "\x00"}, "session_id", "cannot be printed"),
        ({"at": "2026-03-01"}, "at", "time zone"),
        ({"at": "yesterday"}, "at", "ISO 8601"),
        ({"at": 1772355600}, "at", "ISO 8601"),
        ({"at": "2026-03-03T00:00:00Z"}, "at", "ahead"),
        ({"at": "0001-01-01T00:00:00+14:00"}, "at", "ISO 8601"),
        ({"user_id": ""}, "user_id", "not empty"),
        ({"user_id": True}, "user_id", "text"),
        ({"tenant": "victim"}, "tenant", "no field"),
        ({"\x1b[31m": 1}, r"'\x1b[31m'", "no field"),
    ],
)
def test_a_wrong_field_is_named_and_no_value_is(changes: dict[str, Any], field: str, why: str) -> None:
    found = read(**changes)
    assert isinstance(found, ItemFault)
    assert (found.field, why in found.reason) == (field, True), found
    assert found.reason.isprintable()
    assert found.code in {f"feedback_{name}" for name in FIELDS} | {"feedback_item"}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)
anything = st.dictionaries(st.sampled_from(sorted(FIELDS)) | st.text(max_size=8), json_values, max_size=8)


@given(anything | json_values)
def test_any_value_is_an_item_or_a_fault(raw: Any) -> None:
    found = read_item(raw, 3, NOW)
    assert isinstance(found, Item) or (found.position == 3 and found.field.isprintable() and found.reason.isprintable())


@given(st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys(sorted(FIELDS), json_values)), max_size=4))
def test_one_item_costs_no_other(raw: list[Any]) -> None:
    body = json.dumps([GOOD, *raw, {**GOOD, "id": "last"}]).encode()
    found = FeedbackEnvelope(received_unix_nano=5_000_000, body=body).items()
    assert len(found) == len(raw) + 2
    assert [found[0].id, found[-1].id] == ["s1", "last"]  # type: ignore[union-attr]
    assert found == FeedbackEnvelope(received_unix_nano=5_000_000, body=body).items()


@given(st.binary(max_size=200))
def test_any_bytes_are_items_or_no_body(body: bytes) -> None:
    said = ""
    try:
        found = FeedbackEnvelope(received_unix_nano=1, body=body).items()
    except DecodeError as error:
        found, said = [], str(error)
    assert bool(found) != bool(said)
    assert said.isprintable()


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"[1", b'{"id": NaN}', b"\xff", b"[" * 100_000, b"1e999"])
def test_what_is_no_body_is_refused_whole(body: bytes) -> None:
    with pytest.raises(DecodeError):
        FeedbackEnvelope(received_unix_nano=1, body=body).items()


def test_a_body_has_bounds() -> None:
    many = json.dumps([GOOD] * (MOST_ITEMS + 1)).encode()
    with pytest.raises(DecodeError, match="1 to 1000, not 1001"):
        FeedbackEnvelope(received_unix_nano=1, body=many).items()


def test_of_two_statements_of_one_body_the_later_one_counts() -> None:
    first, second = FeedbackEnvelope(received_unix_nano=9_000_000, body=json.dumps([GOOD, GOOD]).encode()).items()
    assert isinstance(first, Item)
    assert isinstance(second, Item)
    assert first.at < second.at


@given(st.integers(0, 2**62), st.binary(max_size=50), st.none() | st.integers(0, 9))
def test_envelopes_come_back_whole(received: int, body: bytes, entries: int | None) -> None:
    envelope = FeedbackEnvelope(received_unix_nano=received, body=body, entries=entries)
    packed = envelope.pack()
    assert FeedbackEnvelope.holds(packed)
    assert FeedbackEnvelope.unpack(packed) == envelope


def test_what_is_no_envelope_is_an_error() -> None:
    with pytest.raises(SpoolError):
        FeedbackEnvelope.unpack(b"nonsense")
    assert not FeedbackEnvelope.holds(b'{"holds":"traces"}\n"holds":"feedback"')


@given(anything)
def test_what_is_set_aside_comes_back_as_it_was(raw: dict[str, Any]) -> None:
    found = read_item({**GOOD, **{name: raw[name] for name in raw.keys() & {"comment", "user_id", "name"}}}, 0, NOW)
    if isinstance(found, Item):
        again = read_item(json.loads(json.dumps(found.sent())), 0, NOW)
        assert again == found
    assert from_unix_nano(0) < NOW
