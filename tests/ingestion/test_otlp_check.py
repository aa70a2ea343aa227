"""The door's check says what the decoder would have said."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from ingestion import otlp_check
from ingestion.envelope import Envelope
from ingestion.errors import DecodeError, WrongSignal
from ingestion.otlp_check import Checked, check
from ingestion.otlp_decode import JSON, PROTOBUF
from ingestion.otlp_fields import SpanFault
from ingestion.telemetry import Telemetry
from tests.ingestion.otlp_bodies import body, span_json

NOW = 1_772_355_600_000_000_000
DAY = 86_400_000_000_000
ids = st.sampled_from([b"\x01" * 16, b"\x01" * 8, b"\0" * 16, b"\0" * 8, b"", b"\x02" * 7])
times = st.sampled_from([0, 1, NOW - 2 * DAY, NOW - DAY, NOW - DAY - 1, NOW, 2**63, 2**64 - 1])


def values(depth: int = 3) -> st.SearchStrategy[AnyValue]:
    plain = st.one_of(
        st.just(AnyValue()),
        st.builds(AnyValue, string_value=st.sampled_from(["a", "nul \0", "한국"])),
        st.builds(AnyValue, int_value=st.sampled_from([0, -1, 2**63 - 1])),
        st.builds(AnyValue, double_value=st.sampled_from([0.5, float("nan")])),
        st.builds(AnyValue, bytes_value=st.binary(max_size=3)),
        st.builds(AnyValue, bool_value=st.booleans()),
        *(
            [st.builds(AnyValue, string_value_strindex=st.just(1))]
            if hasattr(AnyValue(), "string_value_strindex")
            else []
        ),
    )
    if depth == 0:
        return plain
    inner = st.lists(values(depth - 1), max_size=2)
    return st.one_of(plain, inner.map(_array), inner.map(_pairs))


def _array(items: list[AnyValue]) -> AnyValue:
    made = AnyValue()
    made.array_value.values.extend(items)
    return made


def _pairs(items: list[AnyValue]) -> AnyValue:
    made = AnyValue()
    for number, item in enumerate(items):
        made.kvlist_value.values.add(key=f"k{number}").value.CopyFrom(item)
    return made


@st.composite
def requests(draw: st.DrawFn) -> bytes:
    request = ExportTraceServiceRequest()
    for _ in range(draw(st.integers(0, 2))):
        group = request.resource_spans.add()
        if draw(st.booleans()):
            group.resource.attributes.add(key="service.name").value.CopyFrom(draw(values(1)))
        scoped = group.scope_spans.add()
        for _ in range(draw(st.integers(0, 3))):
            _span(draw, scoped)
    data: bytes = request.SerializeToString()
    return data


def _span(draw: st.DrawFn, scoped: Any) -> None:
    start, end = draw(times), draw(times)
    span = scoped.spans.add(name="n", start_time_unix_nano=start, end_time_unix_nano=end)
    sound = draw(st.booleans())
    span.trace_id = b"\x05" * 16 if sound else draw(ids)
    span.span_id = b"\x05" * 8 if sound else draw(ids)
    span.parent_span_id = b"" if sound else draw(ids)
    for number in range(draw(st.integers(0, 3))):
        span.attributes.add(key=f"a{number}").value.CopyFrom(draw(values()))
    if draw(st.booleans()):
        span.events.add(name="e").attributes.add(key="x").value.CopyFrom(draw(values(1)))
    if draw(st.integers(0, 3)) == 0:
        span.links.add(trace_id=draw(ids), span_id=draw(ids))


def decoded(envelope: Envelope) -> Checked | type[DecodeError]:
    try:
        found = envelope.spans()
    except DecodeError as error:
        return type(error)
    return Checked(len(found), [item for item in found if isinstance(item, SpanFault)])


def checked(envelope: Envelope) -> Checked | type[DecodeError]:
    try:
        return check(envelope)
    except DecodeError as error:
        return type(error)


def envelope_of(data: bytes, max_age: int | None = DAY, **over: Any) -> Envelope:
    held = {"content_type": PROTOBUF, "received_unix_nano": NOW, "max_age_nano": max_age, "body": data} | over
    return Envelope(**held)


@settings(max_examples=80, deadline=None)
@given(requests(), st.sampled_from([None, DAY]))
def test_a_request_is_checked_as_it_is_decoded(data: bytes, max_age: int | None) -> None:
    envelope = envelope_of(data, max_age)
    assert checked(envelope) == decoded(envelope)


@settings(max_examples=50, deadline=None)
@given(requests(), st.integers(0, 400), st.binary(max_size=6))
def test_a_damaged_request_is_checked_as_it_is_decoded(data: bytes, at: int, noise: bytes) -> None:
    envelope = envelope_of(data[:at] + noise + data[at + len(noise) :])
    assert checked(envelope) == decoded(envelope)


def _field(number: int, data: bytes) -> bytes:
    """A length-delimited field of the wire format."""
    size, length = len(data), b""
    while size > 0x7F:
        length += bytes([size & 0x7F | 0x80])
        size >>= 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + data


@pytest.mark.parametrize("depth", [1, 20, 40, 45, 46, 47, 48, 49, 50, 64, 200])
def test_deep_values_are_checked_as_they_are_decoded(depth: int) -> None:
    value = _field(1, b"deep")
    for _ in range(depth):
        value = _field(5, _field(1, value))
    attribute = _field(9, _field(1, b"a") + _field(2, value))
    span = _field(1, b"\1" * 16) + _field(2, b"\1" * 8) + attribute + b"\x39" + NOW.to_bytes(8, "little")
    envelope = envelope_of(_field(1, _field(2, _field(2, span))))
    found = checked(envelope)
    assert found == decoded(envelope)
    if depth < 40:
        assert found == Checked(1, [])
    if depth > 60:
        assert found is WrongSignal  # nothing of the body is a span that can be read


def test_other_bodies_are_decoded() -> None:
    json_body = envelope_of(body(span_json(1), span_json(2) | {"traceId": "0" * 32}), content_type=JSON, max_age=None)
    assert checked(json_body) == decoded(json_body)
    logs = ExportLogsServiceRequest()
    logs.resource_logs.add().scope_logs.add().log_records.add(time_unix_nano=NOW)
    for telemetry in Telemetry:
        envelope = envelope_of(logs.SerializeToString(), telemetry=telemetry)
        assert checked(envelope) == decoded(envelope)


def test_a_sound_body_is_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    request = ExportTraceServiceRequest()
    scoped = request.resource_spans.add().scope_spans.add()
    for number in range(1, 4):
        span = scoped.spans.add(start_time_unix_nano=NOW)
        span.trace_id, span.span_id = b"\1" * 16, bytes([number]) * 8
    monkeypatch.setattr(Envelope, "spans", lambda _: pytest.fail("decoded"))
    assert check(envelope_of(request.SerializeToString())) == Checked(3, [])
    monkeypatch.setattr(otlp_check, "MAX_SPANS", 2)
    with pytest.raises(pytest.fail.Exception):
        check(envelope_of(request.SerializeToString()))
