"""A span as OpenTelemetry defines it, exact to the nanosecond, before any dialect is applied.

Source: opentelemetry-proto ``trace/v1/trace.proto``. Attribute values keep their OTLP type as JSON: bytes
arrive as ``{"bytesValue": base64}``, an empty value as ``null``, a double that JSON lacks as
``{"doubleValue": "NaN"}``;
a key-value list of exactly one such key stands inside ``{"kvlistValue": ...}``.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import StringConstraints

from governance.records.base import Record

TraceId = Annotated[str, StringConstraints(pattern=re.compile(r"^(?!0{32})[0-9a-f]{32}\Z"))]
SpanId = Annotated[str, StringConstraints(pattern=re.compile(r"^(?!0{16})[0-9a-f]{16}\Z"))]
Attributes = dict[str, Any]


class SpanEvent(Record):
    """Something that happened inside a span."""

    name: str
    time_unix_nano: int
    attributes: Attributes = {}
    dropped_attributes_count: int = 0


class SpanLink(Record):
    """A reference from one span to another."""

    trace_id: TraceId
    span_id: SpanId
    attributes: Attributes = {}
    trace_state: str = ""
    trace_flags: int = 0
    dropped_attributes_count: int = 0


class Span(Record):
    """One operation of an agent, as its exporter sent it."""

    trace_id: TraceId
    span_id: SpanId
    parent_span_id: SpanId | None = None
    name: str
    kind: int = 0
    start_unix_nano: int
    end_unix_nano: int = 0
    """0 while the span is open."""
    status_code: int = 0
    """0 unset, 1 ok, 2 error."""
    status_message: str = ""
    attributes: Attributes = {}
    events: tuple[SpanEvent, ...] = ()
    links: tuple[SpanLink, ...] = ()
    resource: Attributes = {}
    scope_name: str = ""
    scope_version: str = ""
    scope_attributes: Attributes = {}
    trace_state: str = ""
    trace_flags: int = 0
    """W3C trace flags and what OTLP adds to them."""
    dropped_attributes_count: int = 0
    dropped_events_count: int = 0
    dropped_links_count: int = 0
    flags: tuple[str, ...] = ()
    """What intake noticed: ``clock_skew``, ``replaced_characters``, ..."""
