"""OTLP protobuf: an export request into spans, read as a whole, or else each entry on its own (``ingestion.wire``).

An export of another signal parses as this one, since protobuf skips what it does not know. It is told by its entries:
none of them has what only an entry of this kind has, and what it is, by what they have instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from governance.records.span import Span, SpanEvent, SpanLink
from ingestion import wire
from ingestion.errors import BodyTooLarge, DecodeError, WrongSignal
from ingestion.log_records import log_span
from ingestion.otlp_bounds import Parts, few_parts
from ingestion.otlp_fields import SPAN_BYTES, TRACE_BYTES, Refused, SpanFault, build, id_bytes
from ingestion.otlp_values import ValueFault, attributes_from_proto, from_proto
from ingestion.telemetry import Telemetry
from ingestion.text import text_of


def read(
    telemetry: Telemetry, body: bytes, received_unix_nano: int, max_age_nano: int | None, most: int
) -> list[Span | SpanFault]:
    """The entries of a body, in order, each as itself or as its fault.

    Raises:
        DecodeError: when the envelope is broken.
        BodyTooLarge: when it has more than ``most`` entries.
        WrongSignal: when nothing in it can be an entry of this kind.

    """
    results: list[Span | SpanFault] = []
    parts = Parts()
    whole = wire.parse_whole(telemetry, body)
    scopes = list(_scopes(telemetry, wire.parse_request(telemetry, body) if whole is None else whole))
    for scoped, entries in scopes:
        if len(results) + len(entries) > most:
            raise BodyTooLarge(f"the body has more than {most} entries of {telemetry.value}")
        context = _Context(*scoped)
        results.extend(parts.add(_one(telemetry, data, context, received_unix_nano, max_age_nano)) for data in entries)
    if results and all(isinstance(item, SpanFault) for item in results):
        _require_kind(
            telemetry,
            [data for _, entries in _scopes(telemetry, wire.parse_request(telemetry, body)) for data in entries],
        )
    return results


def _scopes(telemetry: Telemetry, request: Any) -> Iterator[tuple[tuple[Any, Any], Any]]:
    """Resource, scope and entries of each scope."""
    if telemetry is Telemetry.LOGS:
        for group in request.resource_logs:
            for scoped in group.scope_logs:
                yield (group.resource, scoped.scope), scoped.log_records
    else:
        for group in request.resource_spans:
            for scoped in group.scope_spans:
                yield (group.resource, scoped.scope), scoped.spans


def _require_kind(telemetry: Telemetry, entries: list[bytes]) -> None:
    kinds = {kind for kind in Telemetry if any(_looks_like(kind, data) for data in entries)}
    if telemetry in kinds:
        return
    if kinds:
        raise WrongSignal(telemetry.instead(kinds.pop().value))
    if telemetry is Telemetry.TRACES:
        raise WrongSignal(
            "no entry of this body is a span: trace id, span id or start time are missing or short; "
            "is it an export of another signal on the path of traces?"
        )


def _looks_like(telemetry: Telemetry, data: bytes) -> bool:
    """Whether an entry has what only this kind has: for a span ids of the right length or a start; for a log a time."""
    try:
        entry = wire.parse_entry(telemetry, data)
    except DecodeError:
        return False
    if telemetry is Telemetry.LOGS:
        return bool(entry.time_unix_nano or entry.observed_time_unix_nano)
    ids = len(entry.trace_id) == TRACE_BYTES and len(entry.span_id) == SPAN_BYTES
    return bool(entry.start_time_unix_nano or ids)


def _one(telemetry: Telemetry, data: Any, context: _Context, received: int, max_age: int | None) -> Span | SpanFault:
    notes: set[str] = set()
    try:
        entry = wire.parse_entry(telemetry, data) if isinstance(data, bytes) else data
        if telemetry is Telemetry.LOGS:
            return log_span(_log_fields(entry, notes) | context.fields(notes), notes, received, max_age)
        fields = _fields(entry, notes)
        fields.update(context.fields(notes))
        return build(fields, notes, received, max_age, typed=True)
    except Refused as refused:
        return refused.fault
    except (ValueFault, DecodeError) as error:
        return SpanFault(reason="malformed", detail=str(error)[:200])


class _Context:
    """Resource and scope, read once for all entries under them."""

    def __init__(self, resource: Any, scope: Any) -> None:
        self._given = resource, scope
        self._read: dict[str, Any] | None = None
        self._notes: set[str] = set()

    def fields(self, notes: set[str]) -> dict[str, Any]:
        """The fields of a span that it gives; maps are shared and never changed.

        Raises:
            ValueFault: when the values nest too deep, for each entry again.

        """
        if self._read is None:
            resource, scope = self._given
            self._read = {
                "resource": attributes_from_proto(resource.attributes, self._notes),
                "scope_name": text_of(scope.name, self._notes),
                "scope_version": text_of(scope.version, self._notes),
                "scope_attributes": attributes_from_proto(scope.attributes, self._notes),
            }
        notes |= self._notes
        return self._read


def _log_fields(record: Any, notes: set[str]) -> dict[str, Any]:
    attributes = attributes_from_proto(record.attributes, notes)
    return {
        "event_name": text_of(record.event_name, notes),
        "trace_id": id_bytes(record.trace_id, TRACE_BYTES, "trace_id") if any(record.trace_id) else "",
        "span_id": id_bytes(record.span_id, SPAN_BYTES, "span_id") if any(record.span_id) else "",
        "time_unix_nano": record.time_unix_nano,
        "observed_unix_nano": record.observed_time_unix_nano,
        "attributes": attributes,
        "body": from_proto(record.body, notes),
        "trace_flags": record.flags,
        "dropped_attributes_count": record.dropped_attributes_count,
    }


def _fields(span: Any, notes: set[str]) -> dict[str, Any]:
    events, links, status = span.events, span.links, span.status
    if events or links:
        few_parts(events, links)
    return {
        "trace_id": id_bytes(span.trace_id, TRACE_BYTES, "trace_id"),
        "span_id": id_bytes(span.span_id, SPAN_BYTES, "span_id"),
        "parent_span_id": _parent(span.parent_span_id),
        "name": text_of(span.name, notes),
        "kind": span.kind,
        "start_unix_nano": span.start_time_unix_nano,
        "end_unix_nano": span.end_time_unix_nano,
        "status_code": status.code,
        "status_message": text_of(status.message, notes),
        "attributes": attributes_from_proto(span.attributes, notes),
        "events": tuple([_event(event, notes) for event in events]) if events else (),
        "links": tuple([_link(link, notes) for link in links]) if links else (),
        "trace_state": text_of(span.trace_state, notes),
        "trace_flags": span.flags,
        "dropped_attributes_count": span.dropped_attributes_count,
        "dropped_events_count": span.dropped_events_count,
        "dropped_links_count": span.dropped_links_count,
    }


def _parent(value: bytes) -> str | None:
    return id_bytes(value, SPAN_BYTES, "parent_span_id") if any(value) else None


def _event(event: Any, notes: set[str]) -> SpanEvent:
    return SpanEvent.proven(
        name=text_of(event.name, notes),
        time_unix_nano=event.time_unix_nano,
        attributes=attributes_from_proto(event.attributes, notes),
        dropped_attributes_count=event.dropped_attributes_count,
    )


def _link(link: Any, notes: set[str]) -> SpanLink:
    return SpanLink.proven(
        trace_id=id_bytes(link.trace_id, TRACE_BYTES, "link_trace_id"),
        span_id=id_bytes(link.span_id, SPAN_BYTES, "link_span_id"),
        attributes=attributes_from_proto(link.attributes, notes),
        trace_state=text_of(link.trace_state, notes),
        trace_flags=link.flags,
        dropped_attributes_count=link.dropped_attributes_count,
    )
