"""Records that are made without validation are what validation would have made, and are written as it writes them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from governance.records.base import from_unix_nano, to_unix_nano
from governance.records.content import AdmittedSpan
from governance.records.message import Message, Part, Role, TextPart, ToolCallPart, ToolResultPart
from governance.records.span import Span
from governance.records.trajectory import Actor, Turn
from governance.store.base import dump_json
from governance.store.codec import turn_plain
from governance.store.message_json import message_json

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
JSON = st.sampled_from([None, True, 0, 1.5, "a\u00e9", [1, [None]], {"b": {"a": 1}, "a": []}])
PARTS = st.one_of(
    st.builds(TextPart, text=TEXTS),
    st.builds(ToolCallPart, id=TEXTS, name=TEXTS, arguments=JSON, corrupt=st.booleans()),
    st.builds(ToolResultPart, id=TEXTS, response=JSON),
)
SPAN: dict[str, Any] = {"trace_id": "a" * 32, "span_id": "b" * 16, "name": "chat", "start_unix_nano": 1}


@given(st.sampled_from(Role), st.lists(PARTS, max_size=3))
def test_a_message_that_is_proven_is_the_one_that_is_validated(role: Role, parts: list[Part]) -> None:
    proven, validated = Message.proven(role=role, parts=tuple(parts)), Message(role=role, parts=tuple(parts))
    assert proven == validated
    assert proven.model_dump() == validated.model_dump()
    assert proven.plain() == validated.model_dump(mode="json")
    assert message_json(proven) == dump_json(validated.model_dump(mode="json"))


@given(TEXTS, st.integers(0, 2**63))
def test_what_is_left_out_and_what_is_changed_are_as_validation_has_them(name: str, end: int) -> None:
    proven, validated = Span.proven(**SPAN), Span(**SPAN)
    assert proven == validated
    changed = proven.but(name=name, end_unix_nano=end)
    assert changed == validated.model_copy(update={"name": name, "end_unix_nano": end})
    assert proven == validated, "a record never changes"
    held = AdmittedSpan.proven(tenant_id="t", subject="s", span=changed, content=None)
    assert AdmittedSpan.model_validate(held.model_dump()) == held
    assert held.model_copy(update={"subject": "other"}).subject == "other"
    assert BaseModel.__eq__(held, AdmittedSpan(tenant_id="t", subject="s", span=changed, content=None))


@given(
    st.sampled_from(Actor),
    st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001 - bounds are naive
    st.booleans(),
)
def test_a_turn_is_written_as_its_record_would_be(actor: Actor, at: datetime, earlier: bool) -> None:
    message = Message(role=Role.USER, parts=(TextPart(text="x"),))
    turn = Turn.proven(actor=actor, message=message, span_id="b" * 16, at=at, earlier=earlier)
    assert turn_plain(turn) == turn.model_dump(mode="json", exclude={"message"}, exclude_defaults=True)


@given(st.integers(0, 2**64 - 1))
def test_a_time_is_truncated_to_microseconds(nanoseconds: int) -> None:
    moment = from_unix_nano(nanoseconds)
    assert to_unix_nano(moment) == nanoseconds - nanoseconds % 1000
    assert moment.utcoffset() == timedelta(0)
