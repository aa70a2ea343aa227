"""Logfire and Pydantic AI: ``events``, ``all_messages_events``, ``pydantic_ai.all_messages``, ``final_result``, ...

Source: Pydantic AI's ``InstrumentationSettings`` (version 1 writes the bodies of GenAI events as a JSON list, later
versions the GenAI ``parts``; a tool's span has ``tool_arguments`` and ``tool_response``), Logfire's OpenAI and
Anthropic instrumentation (``request_data``, ``response_data``). The messages of an agent's run hold its answer: what
follows the last message of anyone else is output, all before it is input.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from governance.records.content import SpanContent
from governance.records.message import Message, Role
from governance.records.span import Span
from ingestion.dialects import events
from ingestion.dialects.forms import Form, richest
from ingestion.dialects.messages import read_arguments, read_messages, read_result, with_instructions
from ingestion.dialects.payload import read_payload
from ingestion.dialects.values import EXECUTE_TOOL, NOTHING, count, string, structured, unquoted, usage

CONTENT_EVENTS: Final[frozenset[str]] = frozenset()
_ALL: Final = ("pydantic_ai.all_messages", "all_messages_events", "events")
_KEYS: Final = frozenset({*_ALL, "final_result", "tool_arguments", "tool_response", "request_data", "response_data"})
_ROLES: Final = {**events.MESSAGES, events.CHOICE: Role.ASSISTANT}
_HEADS: Final = ("pydantic_ai.", "logfire.", "gen_ai.aggregated_usage.")


def speaks(keys: Collection[str], events: Collection[str]) -> bool:  # noqa: ARG001  (every dialect is asked alike)
    """Whether a span with these attributes and events says anything in this dialect."""
    return not _KEYS.isdisjoint(keys) or any(key.startswith(_HEADS) for key in keys)


def content_keys(attributes: dict[str, Any]) -> set[str]:
    """The attributes that this dialect takes out of a span."""
    return set(_KEYS.intersection(attributes))


def read(span: Span) -> SpanContent:
    """What the span says in this dialect."""
    attributes = span.attributes
    if not speaks(span.attributes, {event.name for event in span.events}):
        return NOTHING
    notes: set[str] = set()
    if {"tool_arguments", "tool_response"} & attributes.keys():
        asked = attributes.get("tool_arguments")
        return SpanContent(
            operation=_operation(attributes),
            tool_name=string(attributes, "gen_ai.tool.name"),
            tool_call_id=string(attributes, "gen_ai.tool.call.id"),
            tool_arguments=None if asked is None else read_arguments(asked, notes)[0],
            tool_result=read_result(attributes.get("tool_response"), notes),
            flags=tuple(sorted(notes)),
        )
    before, after = _conversation(attributes, notes)
    return SpanContent(
        operation=_operation(attributes),
        input=with_instructions(before, attributes.get("gen_ai.system_instructions"), notes) if before else (),
        output=after,
        usage=usage(
            count(attributes, "gen_ai.aggregated_usage.input_tokens"),
            count(attributes, "gen_ai.aggregated_usage.output_tokens"),
        ),
        flags=tuple(sorted(notes)),
    )


def _operation(attributes: dict[str, Any]) -> str | None:
    """Older versions name no operation: it shows in what a span has, with its content and without."""
    held = attributes.keys()
    if "gen_ai.operation.name" in held:
        return None
    if {"tool_arguments", "tool_response", "gen_ai.tool.name"} & held:
        return EXECUTE_TOOL
    if {"all_messages_events", "pydantic_ai.all_messages", "agent_name"} & held:
        return "invoke_agent"
    return "chat" if {"events", "request_data", "gen_ai.request.model"} & held else None


def _conversation(attributes: dict[str, Any], notes: set[str]) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    said = richest(_all(attributes, key) for key in _ALL)
    notes |= said.flags
    before, after = _split(said.messages)
    if not before:
        request = _payload(attributes, "request_data", Role.USER)
        notes |= request.flags
        before = request.messages
    answers = [Form(after, frozenset()), *(_payload(attributes, key, Role.ASSISTANT) for key in _ANSWERS)]
    answer = richest(answers)
    notes |= answer.flags
    return before, answer.messages


_ANSWERS: Final = ("response_data", "final_result")


def _payload(attributes: dict[str, Any], key: str, role: Role) -> Form:
    noticed: set[str] = set()
    value = unquoted(attributes.get(key), noticed) if key == "response_data" else attributes.get(key)
    if isinstance(value, dict) and isinstance(value.get("message"), dict):
        value = [value["message"]]
    elif isinstance(value, dict) and isinstance(value.get("combined_chunk_content"), str):
        value = value["combined_chunk_content"]
    return Form(read_payload(value, role, noticed), frozenset(noticed))


def _all(attributes: dict[str, Any], key: str) -> Form:
    """A list of messages, or of events that name themselves in ``event.name``."""
    notes: set[str] = set()
    items = structured(attributes.get(key), notes)
    if not isinstance(items, list):
        return Form((), frozenset())
    found: list[Message | None] = []
    for item in items:
        role = _ROLES.get(str(item.get("event.name"))) if isinstance(item, dict) else None
        found += read_messages([item], Role.USER, notes) if role is None else [events.read_body(item, role, notes)]
    return Form(tuple(message for message in found if message is not None), frozenset(notes))


def _split(messages: tuple[Message, ...]) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    last = max((number for number, one in enumerate(messages) if one.role is not Role.ASSISTANT), default=-1)
    return messages[: last + 1], messages[last + 1 :]
