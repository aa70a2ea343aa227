"""OTLP protobuf: an ExportTraceServiceRequest into spans, each read on its own (``ingestion.wire``)."""

from __future__ import annotations

from typing import Any

from governance.records.span import Span
from ingestion import wire
from ingestion.errors import BodyTooLarge, DecodeError, WrongSignal
from ingestion.otlp_fields import SPAN_BYTES, TRACE_BYTES, Refused, SpanFault, build, id_bytes
from ingestion.otlp_values import ValueFault, attributes_from_proto
from ingestion.text import clean_bytes


def read(body: bytes, received_unix_nano: int, max_age_nano: int | None, most: int) -> list[Span | SpanFault]:
    """The spans of a body, in order, each as itself or as its fault.

    Raises:
        DecodeError: when the envelope is broken.
        BodyTooLarge: when it has more than ``most`` entries.
        WrongSignal: when nothing in it can be a span.

    """
    request = wire.parse_request(body)
    results: list[Span | SpanFault] = []
    for group in request.resource_spans:
        for scoped in group.scope_spans:
            if len(results) + len(scoped.spans) > most:
                raise BodyTooLarge(f"the body has more than {most} spans")
            results.extend(
                _one(data, group.resource, scoped.scope, received_unix_nano, max_age_nano) for data in scoped.spans
            )
    if results and all(isinstance(item, SpanFault) for item in results) and not _any_span(request):
        raise WrongSignal(
            "no entry of this body is a span: trace id, span id or start time are missing or short; "
            "is it an export of logs or metrics on the path of traces?"
        )
    return results


def _any_span(request: Any) -> bool:
    """Whether any entry has what only a span has: a start time, or ids of the right length."""
    for group in request.resource_spans:
        for scoped in group.scope_spans:
            for data in scoped.spans:
                try:
                    span = wire.parse_span(data)
                except DecodeError:
                    continue
                ids = len(span.trace_id) == TRACE_BYTES and len(span.span_id) == SPAN_BYTES
                if span.start_time_unix_nano or ids:
                    return True
    return False


def _one(data: bytes, resource: Any, scope: Any, received: int, max_age: int | None) -> Span | SpanFault:
    notes: set[str] = set()
    try:
        return build(_fields(wire.parse_span(data), resource, scope, notes), notes, received, max_age)
    except Refused as refused:
        return refused.fault
    except (ValueFault, DecodeError) as error:
        return SpanFault(reason="malformed", detail=str(error)[:200])


def _fields(span: Any, resource: Any, scope: Any, notes: set[str]) -> dict[str, Any]:
    return {
        "trace_id": id_bytes(span.trace_id, TRACE_BYTES, "trace_id"),
        "span_id": id_bytes(span.span_id, SPAN_BYTES, "span_id"),
        "parent_span_id": _parent(span.parent_span_id),
        "name": clean_bytes(span.name, notes),
        "kind": span.kind,
        "start_unix_nano": span.start_time_unix_nano,
        "end_unix_nano": span.end_time_unix_nano,
        "status_code": span.status.code,
        "status_message": clean_bytes(span.status.message, notes),
        "attributes": attributes_from_proto(span.attributes, notes),
        "events": [_event(event, notes) for event in span.events],
        "links": [_link(link, notes) for link in span.links],
        "resource": attributes_from_proto(resource.attributes, notes),
        "scope_name": clean_bytes(scope.name, notes),
        "scope_version": clean_bytes(scope.version, notes),
        "scope_attributes": attributes_from_proto(scope.attributes, notes),
        "trace_state": clean_bytes(span.trace_state, notes),
        "trace_flags": span.flags,
        "dropped_attributes_count": span.dropped_attributes_count,
        "dropped_events_count": span.dropped_events_count,
        "dropped_links_count": span.dropped_links_count,
    }


def _parent(value: bytes) -> str | None:
    return id_bytes(value, SPAN_BYTES, "parent_span_id") if any(value) else None


def _event(event: Any, notes: set[str]) -> dict[str, Any]:
    return {
        "name": clean_bytes(event.name, notes),
        "time_unix_nano": event.time_unix_nano,
        "attributes": attributes_from_proto(event.attributes, notes),
        "dropped_attributes_count": event.dropped_attributes_count,
    }


def _link(link: Any, notes: set[str]) -> dict[str, Any]:
    return {
        "trace_id": id_bytes(link.trace_id, TRACE_BYTES, "link_trace_id"),
        "span_id": id_bytes(link.span_id, SPAN_BYTES, "link_span_id"),
        "attributes": attributes_from_proto(link.attributes, notes),
        "trace_state": clean_bytes(link.trace_state, notes),
        "trace_flags": link.flags,
        "dropped_attributes_count": link.dropped_attributes_count,
    }
