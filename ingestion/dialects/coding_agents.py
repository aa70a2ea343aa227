"""Coding agents: Claude Code, Codex CLI, Gemini CLI.

Source: Claude Code, "Monitoring" (spans ``claude_code.interaction|llm_request|tool``, ``span.type``, the event
``tool.output``, texts with a label such as ``[USER PROMPT]``); Codex CLI (``codex.turn.token_usage.*``, events
``codex.*``); Gemini CLI telemetry (``gen_ai.*`` with operations ``llm_call`` and ``tool_call``, ``gemini_cli.*``).
A text that its writer cut says so in an attribute ``..._truncated``: the flag ``truncated``. What a writer withheld
(``<REDACTED>``) is no content.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any, Final

from governance.records.content import SpanContent
from governance.records.message import Message, Part, Role, ToolResultPart
from governance.records.span import Span
from governance.records.usage import Usage
from ingestion.dialects.cli_events import EVENTS, STRUCTURE, TRUNCATED, read_event, read_record
from ingestion.dialects.messages import (
    REASONING,
    read_arguments,
    read_messages,
    read_result,
    text_parts,
    with_instructions,
)
from ingestion.dialects.values import (
    EXECUTE_TOOL,
    NOTHING,
    amount,
    count,
    operation_name,
    present,
    string,
    structured,
    usage,
)

OUTPUT_EVENT: Final = "tool.output"
CONTENT_EVENTS: Final = frozenset({OUTPUT_EVENT, *EVENTS})
_SAID: Final = ("user_prompt", "new_context")
_SYSTEM: Final = ("system_prompt", "user_system_prompt", "system_prompt_preview")
_ANSWERED: Final = ("response.model_output",)
_TOUCHED: Final = frozenset({"full_command", "file_path"})
"""On a span of Claude Code only: other spans have attributes of these names that are structure."""
_KEYS: Final = frozenset({*_SAID, *_SYSTEM, *_ANSWERED, "tool_input", "response.thinking_output", "system_reminders"})
_OPERATIONS: Final = {"interaction": "invoke_agent", "llm_request": "chat", "tool": EXECUTE_TOOL}
_LABEL: Final = re.compile(r"(?:\A|\n\n---\n\n)\[(USER PROMPT|USER|ASSISTANT|TOOL (?:INPUT|RESULT): [^\]\n]*)\]\n")
_CODEX: Final = "codex.turn.token_usage."
_TELLING: Final = frozenset({"span.type", "gen_ai.operation.name"})
"""Their values tell."""


def speaks(keys: Collection[str], events: Collection[str]) -> bool:
    """Whether a span with these attributes and events may say something in this dialect."""
    known = not _KEYS.isdisjoint(keys) or not CONTENT_EVENTS.isdisjoint(events) or not STRUCTURE.isdisjoint(keys)
    return known or not _TELLING.isdisjoint(keys) or any(key.startswith(_CODEX) for key in keys)


def content_keys(attributes: dict[str, Any]) -> set[str]:
    """The attributes that this dialect takes out of a span."""
    known = _KEYS | _TOUCHED if "span.type" in attributes else _KEYS
    return set(known.intersection(attributes))


def read(span: Span) -> SpanContent:
    """What the span says in this dialect."""
    if span.name in EVENTS:
        return read_record(span)
    attributes = span.attributes
    kind = string(attributes, "span.type")
    events = bool(span.events) and any(event.name in CONTENT_EVENTS for event in span.events)
    if kind is None and not events and _KEYS.isdisjoint(attributes) and not _speaks(attributes):
        return NOTHING
    notes = {TRUNCATED for key, value in attributes.items() if key.endswith("_truncated") and value is True}
    operation = _operation(span, kind)
    if operation == EXECUTE_TOOL:
        return _tool(span, notes)
    recorded = [message for event in span.events for message in read_event(event, notes)]
    if attributes.get("response.thinking_output"):
        notes.add(REASONING)
    asked = (*_labelled(attributes, _SAID, Role.USER, notes), *(one for side, one in recorded if side == "input"))
    reminders = _labelled(attributes, ("system_reminders",), Role.SYSTEM, notes)
    answered = _labelled(attributes, _ANSWERED, Role.ASSISTANT, notes)
    return SpanContent(
        operation=operation,
        input=(*with_instructions((), _unlabelled(attributes, _SYSTEM), notes), *reminders, *asked),
        output=(*answered, *(one for side, one in recorded if side == "output")),
        usage=_usage(attributes, kind),
        flags=tuple(sorted(notes)),
    )


def _speaks(attributes: dict[str, Any]) -> bool:
    gemini = string(attributes, "gen_ai.operation.name") == "tool_call"
    return gemini or _codex(frozenset(attributes))


@lru_cache(maxsize=1024)
def _codex(keys: frozenset[str]) -> bool:
    """Instrumentations have few sets of keys."""
    return any(key.startswith(_CODEX) for key in keys)


def _operation(span: Span, kind: str | None) -> str | None:
    name = string(span.attributes, "gen_ai.operation.name")
    if name is not None:
        return operation_name(name)
    if kind is not None:
        return _OPERATIONS.get(kind)
    if "tool_input" in span.attributes:
        return EXECUTE_TOOL
    return "invoke_agent" if _codex(frozenset(span.attributes)) else None


def _usage(attributes: dict[str, Any], kind: str | None) -> Usage | None:
    """Claude Code states the tokens of its cache beside the input, Codex as a part of it."""
    if kind == "llm_request":
        return usage(
            count(attributes, "input_tokens"),
            count(attributes, "output_tokens"),
            cache_read=count(attributes, "cache_read_tokens"),
            cache_write=count(attributes, "cache_creation_tokens"),
            apart=True,
            cost=amount(attributes, "cost_usd"),
        )
    return usage(
        count(attributes, f"{_CODEX}input_tokens"),
        count(attributes, f"{_CODEX}output_tokens"),
        cache_read=count(attributes, f"{_CODEX}cached_input_tokens"),
        reasoning=count(attributes, f"{_CODEX}reasoning_output_tokens"),
    )


def _tool(span: Span, notes: set[str]) -> SpanContent:
    attributes = span.attributes
    return SpanContent(
        operation=EXECUTE_TOOL,
        tool_name=string(attributes, "tool_name", "gen_ai.tool.name"),
        tool_call_id=string(attributes, "tool_use_id", "gen_ai.tool.call.id", "gen_ai.tool.call_id"),
        tool_arguments=_arguments(attributes, notes),
        tool_result=_result(span, notes),
        flags=tuple(sorted(notes)),
    )


def _arguments(attributes: dict[str, Any], notes: set[str]) -> Any:
    """The tool's input; of a span that names only what was touched, that; of Gemini CLI, the request's arguments."""
    given = _unlabelled(attributes, ("tool_input",))
    if given is not None:
        return read_arguments(given, notes)[0]
    touched = {key: attributes[key] for key in sorted(_TOUCHED) if attributes.get(key) is not None}
    if touched and "span.type" in attributes:
        return touched
    request = structured(attributes.get("gen_ai.input.messages"), notes)
    if isinstance(request, dict) and "role" not in request:
        return request.get("args", request)
    return None


def _result(span: Span, notes: set[str]) -> Any:
    """What the tool gave back: its event, else the new context that it made, else Gemini CLI's response."""
    for event in span.events:
        if event.name == OUTPUT_EVENT:
            said = present(event.attributes, "output", "content")
            return read_result(said, notes) if said is not None else dict(event.attributes) or None
    context = _unlabelled(span.attributes, ("new_context",))
    if context is not None:
        return read_result(context, notes)
    response = structured(span.attributes.get("gen_ai.output.messages"), notes)
    return response if isinstance(response, dict) and "role" not in response else None


def _unlabelled(attributes: dict[str, Any], keys: tuple[str, ...]) -> Any:
    """The first of these values, without its label; None where it was withheld."""
    value = present(attributes, *keys)
    text = _LABEL.sub("", value, count=1) if isinstance(value, str) else value
    return None if text in ("", "<REDACTED>") else text


def _labelled(attributes: dict[str, Any], keys: tuple[str, ...], default: Role, notes: set[str]) -> list[Message]:
    """The messages of the first of these texts that says something: one for each label."""
    for key in keys:
        value = attributes.get(key)
        if not isinstance(value, str):
            found = list(read_messages(value, default, notes)) if value is not None else []
        else:
            found = _sections(value, default, notes)
        if found:
            return found
    return []


def _sections(text: str, default: Role, notes: set[str]) -> list[Message]:
    labels = list(_LABEL.finditer(text))
    if not labels or labels[0].start() > 0:
        return _message(default, [] if text == "<REDACTED>" else text_parts(text, notes))
    found: list[Message] = []
    for number, label in enumerate(labels):
        end = labels[number + 1].start() if number + 1 < len(labels) else len(text)
        found += _section(label.group(1), text[label.end() : end], notes)
    return found


def _section(label: str, body: str, notes: set[str]) -> list[Message]:
    kind, _, name = label.partition(": ")
    if kind == "TOOL RESULT":
        return _message(Role.TOOL, [ToolResultPart(id=name, response=read_result(body, notes))])
    if body == "<REDACTED>":
        return []
    return _message(Role.ASSISTANT if kind == "ASSISTANT" else Role.USER, text_parts(body, notes))


def _message(role: Role, parts: Sequence[Part]) -> list[Message]:
    return [Message(role=role, parts=tuple(parts))] if parts else []
