"""A small body cannot become many objects, at either door's form."""

from __future__ import annotations

import json

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from governance.records.span import Span
from ingestion import otlp_bounds
from ingestion.errors import BodyTooLarge
from ingestion.otlp_decode import JSON, PROTOBUF, decode
from ingestion.otlp_fields import SpanFault

NOW = 1_772_355_600_000_000_000


def span(number: int, events: int) -> dict[str, object]:
    return {
        "traceId": "5b8efff798038103d269b633813fc60c", "spanId": f"{number + 1:016x}", "name": "chat",
        "startTimeUnixNano": str(NOW), "endTimeUnixNano": str(NOW + 1), "events": [{}] * events,
    }  # fmt: skip


def body(*spans: dict[str, object]) -> bytes:
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}).encode()


def packed(*events: int) -> bytes:
    request = ExportTraceServiceRequest()
    scope = request.resource_spans.add().scope_spans.add()
    for number, count in enumerate(events):
        one = scope.spans.add(
            trace_id=bytes.fromhex("5b8efff798038103d269b633813fc60c"), span_id=(number + 1).to_bytes(8, "big"),
            name="chat", start_time_unix_nano=NOW, end_time_unix_nano=NOW + 1,
        )  # fmt: skip
        for _ in range(count):
            one.events.add()
    return bytes(request.SerializeToString())


@pytest.mark.parametrize("form", [JSON, PROTOBUF])
def test_a_span_of_too_many_events_costs_only_itself(form: str) -> None:
    many = otlp_bounds.PARTS_OF_A_SPAN + 1
    sent = body(span(0, many), span(1, 2)) if form == JSON else packed(many, 2)
    first, second = decode(sent, form, received_unix_nano=NOW)
    assert isinstance(first, SpanFault)
    assert str(many) in (first.detail or "")
    assert isinstance(second, Span)
    assert len(second.events) == 2


@pytest.mark.parametrize("form", [JSON, PROTOBUF])
def test_a_body_of_too_many_events_in_all_is_refused(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otlp_bounds, "PARTS_OF_A_BODY", 10)
    sent = body(span(0, 6), span(1, 6)) if form == JSON else packed(6, 6)
    with pytest.raises(BodyTooLarge, match="more than 10 events and links"):
        decode(sent, form, received_unix_nano=NOW)


def test_json_of_too_many_values_is_refused_before_it_is_read() -> None:
    with pytest.raises(BodyTooLarge, match="JSON values"):
        decode(b"[" * (otlp_bounds.VALUES_OF_A_BODY + 1), JSON, received_unix_nano=NOW)
