"""OTLP/JSON: an export request into spans, each entry read on its own.

Source: the JSON mapping of the OTLP specification. Keys are lowerCamelCase; the snake_case of the plain protobuf
mapping is read too. Unknown keys are ignored, null is absent, 64-bit integers are strings or numbers.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final, NamedTuple

from governance.records.span import Span
from ingestion.errors import BodyTooLarge, DecodeError, WrongSignal
from ingestion.log_records import log_span
from ingestion.otlp_bounds import Parts, few_parts, few_values
from ingestion.otlp_fields import SPAN_BYTES, TRACE_BYTES, Refused, SpanFault, build, id_text, no_id
from ingestion.otlp_values import UINT32, UINT64, ValueFault, attributes_from_json, from_json, integer
from ingestion.telemetry import Telemetry
from ingestion.text import clean

_KINDS: Final = ("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")
_STATUSES: Final = ("UNSET", "OK", "ERROR")
_INT32: Final = (0, 2**31 - 1)
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


class _Shape(NamedTuple):
    """How an export request of one kind nests."""

    groups: str
    scopes: str
    entries: str


_SHAPES: Final = {
    Telemetry.TRACES: _Shape("resourceSpans", "scopeSpans", "spans"),
    Telemetry.LOGS: _Shape("resourceLogs", "scopeLogs", "logRecords"),
}
_HELD: Final = {
    "resourceSpans": "traces", "resourceLogs": "logs", "resourceMetrics": "metrics", "resourceProfiles": "profiles",
}  # fmt: skip


def read(
    telemetry: Telemetry, body: bytes, received_unix_nano: int, max_age_nano: int | None, most: int
) -> list[Span | SpanFault]:
    """The entries of a body, in order, each as itself or as its fault.

    Raises:
        DecodeError: when the envelope is broken.
        BodyTooLarge: when it has more than ``most`` entries.
        WrongSignal: when it is an export of another signal.

    """
    request, shape = _load(body), _SHAPES[telemetry]
    if not isinstance(request, dict):
        raise DecodeError("an export request is a JSON object")
    groups = _field(request, shape.groups)
    for key, held in _HELD.items():
        if groups is None and _field(request, key) is not None:
            raise WrongSignal(telemetry.instead(held))
    results: list[Span | SpanFault] = []
    parts = Parts()
    for group in _objects(groups, shape.groups):
        for scoped in _objects(_field(group, shape.scopes), shape.scopes):
            entries = _field(scoped, shape.entries)
            if entries is not None and not isinstance(entries, list):
                raise DecodeError(f"{shape.entries} is not a list")
            if len(results) + len(entries or ()) > most:
                raise BodyTooLarge(f"the body has more than {most} {shape.entries}")
            context = (_field(group, "resource"), _field(scoped, "scope"))
            results.extend(
                parts.add(_one(telemetry, one, context, received_unix_nano, max_age_nano)) for one in entries or []
            )
    return results


def _load(body: bytes) -> Any:
    few_values(body)
    try:
        # A byte that is not UTF-8 becomes a lone surrogate, which is replaced and noted in the one span that holds it.
        return json.loads(body.decode("utf-8-sig", "surrogateescape"))
    except (ValueError, RecursionError) as error:
        raise DecodeError(f"not JSON: {str(error)[:200]}") from error


def _field(item: dict[str, Any], name: str) -> Any:
    value = item.get(name)
    return item.get(_HUMP.sub("_", name).lower()) if value is None else value


def _objects(value: Any, where: str) -> list[dict[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise DecodeError(f"{where} is not a list of objects")
    return value


def _one(
    telemetry: Telemetry, entry: Any, scoped: tuple[Any, Any], received: int, max_age: int | None
) -> Span | SpanFault:
    notes: set[str] = set()
    try:
        resource, scope = (_object(one) for one in scoped)
        context = _context(resource, scope, notes)
        if telemetry is Telemetry.LOGS:
            return log_span(_log_fields(_object(entry), notes) | context, notes, received, max_age)
        return build(_fields(_object(entry), notes) | context, notes, received, max_age)
    except Refused as refused:
        return refused.fault
    except ValueFault as error:
        return SpanFault(reason="malformed", detail=clean(str(error), set())[:200])


def _object(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueFault("an object was expected")
    return value


def _list(value: Any) -> list[dict[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise ValueFault("a list was expected")
    return [_object(item) for item in value]


def _context(resource: dict[str, Any], scope: dict[str, Any], notes: set[str]) -> dict[str, Any]:
    return {
        "resource": attributes_from_json(_field(resource, "attributes"), notes),
        "scope_name": _text(scope, "name", notes),
        "scope_version": _text(scope, "version", notes),
        "scope_attributes": attributes_from_json(_field(scope, "attributes"), notes),
    }


def _log_fields(record: dict[str, Any], notes: set[str]) -> dict[str, Any]:
    attributes = attributes_from_json(_field(record, "attributes"), notes)
    trace_id, span_id = _field(record, "traceId"), _field(record, "spanId")
    return {
        "event_name": _text(record, "eventName", notes),
        "trace_id": "" if no_id(trace_id) else id_text(trace_id, TRACE_BYTES, "trace_id", notes),
        "span_id": "" if no_id(span_id) else id_text(span_id, SPAN_BYTES, "span_id", notes),
        "time_unix_nano": _number(record, "timeUnixNano", UINT64),
        "observed_unix_nano": _number(record, "observedTimeUnixNano", UINT64),
        "attributes": attributes,
        "body": from_json(_field(record, "body"), notes),
        "trace_flags": _number(record, "flags", UINT32),
        "dropped_attributes_count": _number(record, "droppedAttributesCount", UINT32),
    }


def _fields(span: dict[str, Any], notes: set[str]) -> dict[str, Any]:
    status = _object(_field(span, "status"))
    events, links = _list(_field(span, "events")), _list(_field(span, "links"))
    few_parts(events, links)
    return {
        "trace_id": id_text(_field(span, "traceId"), TRACE_BYTES, "trace_id", notes),
        "span_id": id_text(_field(span, "spanId"), SPAN_BYTES, "span_id", notes),
        "parent_span_id": _parent(_field(span, "parentSpanId"), notes),
        "name": _text(span, "name", notes),
        "kind": _enum(_field(span, "kind"), "SPAN_KIND_", _KINDS),
        "start_unix_nano": _number(span, "startTimeUnixNano", UINT64),
        "end_unix_nano": _number(span, "endTimeUnixNano", UINT64),
        "status_code": _enum(_field(status, "code"), "STATUS_CODE_", _STATUSES),
        "status_message": _text(status, "message", notes),
        "attributes": attributes_from_json(_field(span, "attributes"), notes),
        "events": [_event(event, notes) for event in events],
        "links": [_link(link, notes) for link in links],
        "trace_state": _text(span, "traceState", notes),
        "trace_flags": _number(span, "flags", UINT32),
        "dropped_attributes_count": _number(span, "droppedAttributesCount", UINT32),
        "dropped_events_count": _number(span, "droppedEventsCount", UINT32),
        "dropped_links_count": _number(span, "droppedLinksCount", UINT32),
    }


def _parent(value: Any, notes: set[str]) -> str | None:
    if value in (None, "") or (isinstance(value, str) and not value.strip("0")):
        return None
    return id_text(value, SPAN_BYTES, "parent_span_id", notes)


def _text(item: dict[str, Any], name: str, notes: set[str]) -> str:
    value = _field(item, name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueFault(f"{name} is not a string")
    return clean(value, notes)


def _number(item: dict[str, Any], name: str, bounds: tuple[int, int]) -> int:
    value = _field(item, name)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueFault(f"{name}: not an integer")
    return 0 if value is None else integer(value, bounds, name)


def _enum(value: Any, prefix: str, names: tuple[str, ...]) -> int:
    if isinstance(value, str) and value.removeprefix(prefix) in names:
        return names.index(value.removeprefix(prefix))
    return 0 if value is None else integer(value, _INT32, prefix.lower().rstrip("_"))


def _event(event: dict[str, Any], notes: set[str]) -> dict[str, Any]:
    return {
        "name": _text(event, "name", notes),
        "time_unix_nano": _number(event, "timeUnixNano", UINT64),
        "attributes": attributes_from_json(_field(event, "attributes"), notes),
        "dropped_attributes_count": _number(event, "droppedAttributesCount", UINT32),
    }


def _link(link: dict[str, Any], notes: set[str]) -> dict[str, Any]:
    return {
        "trace_id": id_text(_field(link, "traceId"), TRACE_BYTES, "link_trace_id", notes),
        "span_id": id_text(_field(link, "spanId"), SPAN_BYTES, "link_span_id", notes),
        "attributes": attributes_from_json(_field(link, "attributes"), notes),
        "trace_state": _text(link, "traceState", notes),
        "trace_flags": _number(link, "flags", UINT32),
        "dropped_attributes_count": _number(link, "droppedAttributesCount", UINT32),
    }
