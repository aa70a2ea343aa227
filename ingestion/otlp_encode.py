"""Spans into an OTLP/JSON export request: the inverse of ``otlp_json`` (keys that intake moved stay moved)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from governance.records.base import canonical_json
from governance.records.span import Span, SpanEvent, SpanLink
from ingestion.otlp_values import attributes_to_json


def encode(spans: Iterable[Span]) -> bytes:
    """The body of a POST to ``/v1/traces`` with these spans, neighbours of one resource and scope grouped."""

    def resource(span: Span) -> bytes:
        return canonical_json(span.resource)

    def scope(span: Span) -> bytes:
        return canonical_json([span.scope_name, span.scope_version, span.scope_attributes])

    groups = []
    for _, of_resource in groupby(spans, resource):
        scopes = [list(of_scope) for _, of_scope in groupby(of_resource, scope)]
        groups.append(
            {
                "resource": {"attributes": attributes_to_json(scopes[0][0].resource)},
                "scopeSpans": [{"scope": _scope(of[0]), "spans": [span_json(span) for span in of]} for of in scopes],
            }
        )
    return canonical_json({"resourceSpans": groups})


def _scope(span: Span) -> dict[str, Any]:
    attributes = attributes_to_json(span.scope_attributes)
    return {"name": span.scope_name, "version": span.scope_version, "attributes": attributes}


def span_json(span: Span) -> dict[str, Any]:
    """One span."""
    return {
        "traceId": span.trace_id,
        "spanId": span.span_id,
        "parentSpanId": span.parent_span_id or "",
        "name": span.name,
        "kind": span.kind,
        "startTimeUnixNano": str(span.start_unix_nano),
        "endTimeUnixNano": str(span.end_unix_nano),
        "status": {"code": span.status_code, "message": span.status_message},
        "attributes": attributes_to_json(span.attributes),
        "events": [_event(event) for event in span.events],
        "links": [_link(link) for link in span.links],
        "traceState": span.trace_state,
        "flags": span.trace_flags,
        "droppedAttributesCount": span.dropped_attributes_count,
        "droppedEventsCount": span.dropped_events_count,
        "droppedLinksCount": span.dropped_links_count,
    }


def _event(event: SpanEvent) -> dict[str, Any]:
    return {
        "name": event.name,
        "timeUnixNano": str(event.time_unix_nano),
        "attributes": attributes_to_json(event.attributes),
        "droppedAttributesCount": event.dropped_attributes_count,
    }


def _link(link: SpanLink) -> dict[str, Any]:
    return {
        "traceId": link.trace_id,
        "spanId": link.span_id,
        "attributes": attributes_to_json(link.attributes),
        "traceState": link.trace_state,
        "flags": link.trace_flags,
        "droppedAttributesCount": link.dropped_attributes_count,
    }


def encode_logs(spans: Iterable[Span]) -> bytes:
    """The body of a POST to ``/v1/logs`` with these log spans (``ingestion.log_records``); it reads back as them."""
    groups = [
        {
            "resource": {"attributes": attributes_to_json(span.resource)},
            "scopeLogs": [{"scope": _scope(span), "logRecords": [_record(span)]}],
        }
        for span in spans
    ]
    return canonical_json({"resourceLogs": groups})


def _record(span: Span) -> dict[str, Any]:
    of_event = {key: value for event in span.events for key, value in event.attributes.items()}
    return {
        "eventName": span.name,
        "timeUnixNano": str(span.end_unix_nano),
        "traceId": span.trace_id,
        "spanId": span.parent_span_id or "",
        "attributes": attributes_to_json(span.attributes | of_event),
        "flags": span.trace_flags,
        "droppedAttributesCount": span.dropped_attributes_count,
    }
