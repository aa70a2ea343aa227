"""Dialects: each convention in a file of its own, pure, span in, content out.

A span may speak two dialects at once (two instrumentations). ``read`` asks both and takes, for each side, the richer
one (``forms``), the OpenTelemetry convention between equals; single values come from the first that has one. So
nothing is doubled. ``strip`` gives the span without what ``read`` took: that is structure.
"""

from __future__ import annotations

from typing import Any

from governance.records.content import SpanContent
from governance.records.span import Span, SpanLink
from ingestion.dialects import genai, openinference
from ingestion.dialects.forms import Form, richest

_DIALECTS = (genai, openinference)


def read(span: Span) -> SpanContent:
    """Everything that somebody said in the span, or that a tool was given or gave back."""
    readings = [dialect.read(span) for dialect in _DIALECTS]
    operation = next((reading.operation for reading in readings if reading.operation), None)
    inputs = richest(Form(reading.input, frozenset()) for reading in readings)
    outputs = richest(Form(reading.output, frozenset()) for reading in readings)
    used = [reading for reading in readings if _says(reading)]
    return SpanContent(
        operation=operation,
        input=inputs.messages,
        output=outputs.messages,
        **{name: _first(readings, name) for name in _SINGLE},
        evaluations=tuple(item for reading in readings for item in reading.evaluations),
        flags=tuple(sorted({flag for reading in used or readings for flag in reading.flags})),
    )


_SINGLE = ("tool_name", "tool_call_id", "tool_arguments", "tool_result", "usage")


def _first(readings: list[SpanContent], name: str) -> Any:
    return next((getattr(reading, name) for reading in readings if getattr(reading, name) is not None), None)


def _says(reading: SpanContent) -> bool:
    return bool(reading.input or reading.output or reading.flags or reading.tool_arguments is not None)


def strip(span: Span) -> Span:
    """The span without the attributes and events that its content holds.

    Scope attributes and the states of links move into attribute maps, where the door masks them with everything else.
    """
    taken = set().union(*(dialect.content_keys(span.attributes) for dialect in _DIALECTS))
    return span.model_copy(
        update={
            "attributes": {key: value for key, value in span.attributes.items() if key not in taken}
            | ({"otel.scope.attributes": span.scope_attributes} if span.scope_attributes else {}),
            "scope_attributes": {},
            "links": tuple(_link(link) for link in span.links),
            "events": tuple(event for event in span.events if event.name not in genai.CONTENT_EVENTS),
        }
    )


def _link(link: SpanLink) -> SpanLink:
    if not link.trace_state:
        return link
    return link.model_copy(
        update={"attributes": link.attributes | {"otel.trace_state": link.trace_state}, "trace_state": ""}
    )
