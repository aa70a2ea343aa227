"""Dialects: each convention in a file of its own, pure, span in, content out.

A span may speak several dialects at once (two instrumentations, or a vendor's attributes beside the convention's).
``read`` asks all of them and takes, for each side, the richer one (``forms``), the first of ``DIALECTS`` between
equals; single values come from the first that has one. So nothing is doubled. ``strip`` gives the span without what
``read`` took: that is structure.

Each dialect has ``read(span) -> SpanContent``, ``content_keys(attributes)``, the attributes that it takes out of a
span, ``CONTENT_EVENTS``, the names of the events that it takes out, and ``speaks(keys, events)``, which tells by the
names of a span's attributes and events whether there is anything to read.
"""

from __future__ import annotations

from functools import lru_cache
from types import ModuleType
from typing import Any, Final

from governance.records.content import SpanContent
from governance.records.span import Span, SpanLink
from ingestion.dialects import (
    adk,
    any_agent,
    coding_agents,
    genai,
    langfuse,
    langsmith,
    logfire,
    mlflow,
    openinference,
    openllmetry,
    strands,
    trulens,
    vercel,
)
from ingestion.dialects.forms import Form, beyond, richest
from ingestion.dialects.values import EXECUTE_TOOL, NOTHING, whole_usage

DIALECTS: Final = (
    adk,  # these two give some of the convention's names a meaning of their own
    langsmith,
    genai,
    strands,
    openinference,
    openllmetry,
    vercel,
    logfire,
    any_agent,
    coding_agents,
    trulens,
    mlflow,
    langfuse,
)
"""In order of preference: structured messages before the payloads of functions."""
CONTENT_EVENTS: Final[frozenset[str]] = frozenset().union(*(dialect.CONTENT_EVENTS for dialect in DIALECTS))
_NO_EVENTS: Final[frozenset[str]] = frozenset()
_SINGLE: Final = ("tool_name", "tool_call_id", "tool_arguments", "tool_result")


def read(span: Span) -> SpanContent:
    """Everything that somebody said in the span, or that a tool was given or gave back."""
    readings = [one for dialect in _speaking(span) if (one := dialect.read(span)) is not NOTHING]
    if not readings:
        return NOTHING
    if len(readings) == 1 and readings[0].operation != EXECUTE_TOOL:
        return _alone(readings[0])
    operation = next((reading.operation for reading in readings if reading.operation), None)
    called = operation == EXECUTE_TOOL and any(_calls(reading) for reading in readings)
    said = [] if called else readings
    inputs = richest(Form(reading.input, frozenset()) for reading in said)
    outputs = richest(Form(reading.output, frozenset()) for reading in said)
    return SpanContent(
        operation=operation,
        input=inputs.messages,
        output=beyond(inputs.messages, outputs.messages),
        **{name: _first(readings, name) for name in _SINGLE},
        usage=whole_usage(reading.usage for reading in readings),
        evaluations=tuple(item for reading in readings for item in reading.evaluations),
        flags=tuple(sorted({flag for reading in readings for flag in reading.flags})),
    )


def _alone(reading: SpanContent) -> SpanContent:
    """The one reading of a span that runs no tool."""
    output = beyond(reading.input, reading.output)
    return reading if output is reading.output else reading.but(output=output)


def _speaking(span: Span) -> tuple[ModuleType, ...]:
    """The dialects that the span speaks."""
    names = frozenset([event.name for event in span.events]) if span.events else _NO_EVENTS
    return _spoken(frozenset(span.attributes), names)


@lru_cache(maxsize=2048)
def _spoken(keys: frozenset[str], events: frozenset[str]) -> tuple[ModuleType, ...]:
    """What tells a dialect is which attributes and events there are; instrumentations have few sets of them."""
    return tuple(dialect for dialect in DIALECTS if dialect.speaks(keys, events))


def _calls(reading: SpanContent) -> bool:
    """Whether a reading knows the call of a tool: then nobody speaks in the span."""
    return reading.tool_arguments is not None or reading.tool_result is not None


def _first(readings: list[SpanContent], name: str) -> Any:
    return next((getattr(reading, name) for reading in readings if getattr(reading, name) is not None), None)


def content_keys(span: Span) -> set[str]:
    """The attributes that any dialect takes out of a span."""
    attributes = span.attributes
    taken: set[str] = set()
    for dialect in _speaking(span):
        taken |= dialect.content_keys(attributes)
    return taken


def strip(span: Span) -> Span:
    """The span without the attributes and events that its content holds.

    Scope attributes and the states of links move into attribute maps, where the door masks them with everything else.
    """
    taken = content_keys(span)
    changes: dict[str, Any] = {}
    if taken or span.scope_attributes:
        kept = {key: value for key, value in span.attributes.items() if key not in taken}
        if span.scope_attributes:
            kept["otel.scope.attributes"] = span.scope_attributes
        changes = {"attributes": kept, "scope_attributes": {}}
    if span.links:
        changes["links"] = tuple(_link(link) for link in span.links)
    if span.events:
        changes["events"] = tuple(event for event in span.events if event.name not in CONTENT_EVENTS)
    return span.but(**changes) if changes else span


def _link(link: SpanLink) -> SpanLink:
    if not link.trace_state:
        return link
    return link.model_copy(
        update={"attributes": link.attributes | {"otel.trace_state": link.trace_state}, "trace_state": ""}
    )
