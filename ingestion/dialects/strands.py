"""Strands Agents: the events of a tool span, of an event loop's cycle, and the system prompt of an agent.

Source: Strands Agents SDK, ``strands.telemetry.tracer``. Its events have the names of the GenAI convention and the
content blocks of Amazon Bedrock. On a tool span ``gen_ai.tool.message`` holds the arguments and ``gen_ai.choice`` the
answer (which the convention does not say); on a cycle's span ``gen_ai.choice`` holds also the tools' answers.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from governance.records.content import SpanContent
from governance.records.message import Message, Role
from governance.records.span import Span
from ingestion.dialects import events
from ingestion.dialects.messages import read_arguments, read_message, read_result, with_instructions
from ingestion.dialects.parts import joined
from ingestion.dialects.values import EXECUTE_TOOL, NOTHING, operation_name, present, string, structured

CONTENT_EVENTS: Final = frozenset({events.CHOICE, *events.MESSAGES})
_PROMPT: Final = "gen_ai.agent.system_prompt"


def speaks(keys: Collection[str], names: Collection[str]) -> bool:
    """Whether a span with these attributes and events says anything in this dialect."""
    return _PROMPT in keys or not CONTENT_EVENTS.isdisjoint(names)


def content_keys(attributes: dict[str, Any]) -> set[str]:
    """The attributes that this dialect takes out of a span."""
    return {_PROMPT} & attributes.keys()


def read(span: Span) -> SpanContent:
    """What the span says in this dialect."""
    if not speaks(span.attributes, {event.name for event in span.events}):
        return NOTHING
    notes: set[str] = set()
    name = string(span.attributes, "gen_ai.operation.name")
    if name is not None and operation_name(name) == EXECUTE_TOOL:
        return _tool(span, notes)
    said = events.read_events(span.events, events.MESSAGES, notes)
    return SpanContent(
        input=with_instructions(said, span.attributes.get(_PROMPT), notes),
        output=_choices(span, notes),
        flags=tuple(sorted(notes)),
    )


def _tool(span: Span, notes: set[str]) -> SpanContent:
    asked: Any = None
    answer: Any = None
    for event in span.events:
        if event.name == events.TOOL:
            asked = asked if asked is not None else event.attributes.get("content")
        elif event.name == events.CHOICE:
            answer = answer if answer is not None else present(event.attributes, "message", "content")
    return SpanContent(
        tool_arguments=None if asked is None else read_arguments(asked, notes)[0],
        tool_result=read_result(joined(structured(answer, notes)), notes),
        flags=tuple(sorted(notes)),
    )


def _choices(span: Span, notes: set[str]) -> tuple[Message, ...]:
    """Each choice, and after it what its tools answered."""
    found: list[Message | None] = []
    for event in span.events:
        if event.name == events.CHOICE:
            found.append(events.read_body(event.attributes, Role.ASSISTANT, notes))
            answers = structured(event.attributes.get("tool.result"), notes)
            found.append(read_message({"role": "tool", "content": answers}, Role.TOOL, notes) if answers else None)
    return tuple(message for message in found if message is not None)
