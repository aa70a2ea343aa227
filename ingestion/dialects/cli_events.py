"""The records of command-line agents: prompts, replies, requests, calls of tools and what they answered.

Source: Claude Code, "Monitoring" (``claude_code.user_prompt``, ``.assistant_response``, ``.api_request``,
``.api_request_body``, ``.tool_result``); Codex CLI, ``codex-rs/otel`` (``codex.user_prompt``, ``.sse_event``,
``.tool_result``); Gemini CLI, "Observability with OpenTelemetry" (``gemini_cli.user_prompt``, ``.api_request``,
``.api_response``, ``.tool_call``).

1. A record is an event of a span, or a log span of its own that has its name. Of a log span its attributes are
   structure, so what was spent and what was called is known where the words are withheld.
2. A person's refusal of a tool is a call that failed. What a writer withheld (``<REDACTED>``) is no content, and noted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from governance.records.content import SpanContent
from governance.records.message import Message, Role, ToolResultPart
from governance.records.span import Span, SpanEvent
from governance.records.usage import Usage
from ingestion.dialects.messages import read_arguments, read_message, read_result
from ingestion.dialects.parts import identity
from ingestion.dialects.payload import read_payload
from ingestion.dialects.values import EXECUTE_TOOL, NOTHING, amount, count, present, string, structured, usage
from ingestion.session_events import PROMPTS, TAKEN, refused

TRUNCATED: Final = "truncated"
"""The flag of a text that its writer cut."""
_TRUE: Final = (True, "true")
REDACTED: Final = "redacted"
"""The flag of words that their writer withheld."""
_REPLIES: Final = frozenset({"claude_code.assistant_response", "gemini_cli.api_response"})
_TOOLS: Final = frozenset({"claude_code.tool_result", "codex.tool_result", "gemini_cli.tool_call"})
_DECISIONS: Final = frozenset({"claude_code.tool_decision", "codex.tool_decision"})
_BODIES: Final = {
    "claude_code.api_request_body": ("input", Role.USER, "body"),
    "claude_code.api_response_body": ("output", Role.ASSISTANT, "body"),
    "gemini_cli.api_request": ("input", Role.USER, "request_text"),
    "gemini_cli.api_response": ("output", Role.ASSISTANT, "response_text"),
}
_CALLS: Final = frozenset(
    {
        "claude_code.api_request", "claude_code.api_error", "claude_code.api_refusal", "codex.sse_event",
        "gemini_cli.api_response", "gemini_cli.api_error",
    }
)  # fmt: skip
"""What is one call of a model, done or failed."""
EVENTS: Final = TAKEN
STRUCTURE: Final = frozenset(
    {"tool_name", "function_name", "duration_ms", "event.kind", "status_code", "cost_usd", "decision"}
)
"""Attributes of a record without its words: one of them is there wherever it tells of a call."""
_WITHHELD: Final = ("<REDACTED>", "[REDACTED]")


def read_record(span: Span) -> SpanContent:
    """What a log span that is a record says; nothing of any other span."""
    if span.name not in EVENTS:
        return NOTHING
    notes = {TRUNCATED for key, value in span.attributes.items() if key.endswith("_truncated") and value in _TRUE}
    event = next((event for event in span.events if event.name == span.name), None)
    fields = span.attributes if event is None else span.attributes | event.attributes
    if span.name in _TOOLS or (span.name in _DECISIONS and refused(fields)):
        return _executed(fields, notes)
    said = [] if event is None else list(read_event(event, notes))
    if span.name in PROMPTS and event is not None and event.attributes.get("prompt") in (None, *_WITHHELD):
        notes.add(REDACTED)
    return SpanContent(
        operation="chat" if span.name in _CALLS else None,
        input=tuple(message for side, message in said if side == "input"),
        output=tuple(message for side, message in said if side == "output"),
        usage=_usage(fields) if span.name in _CALLS else None,
        flags=tuple(sorted(notes)),
    )


def _executed(fields: dict[str, Any], notes: set[str]) -> SpanContent:
    arguments = present(fields, *_ARGUMENTS)
    return SpanContent(
        operation=EXECUTE_TOOL,
        tool_name=string(fields, *_NAMES),
        tool_call_id=identity(fields) or None,
        tool_arguments=None if arguments is None else read_arguments(arguments, notes)[0],
        tool_result=read_result(present(fields, *_RESULTS), notes),
        flags=tuple(sorted(notes)),
    )


def _usage(fields: dict[str, Any]) -> Usage | None:
    """Claude Code states the tokens of its cache beside the input; Codex and Gemini CLI as a part of it."""
    return usage(
        count(fields, "input_tokens", "input_token_count"),
        count(fields, "output_tokens", "output_token_count"),
        cache_read=count(fields, "cache_read_tokens", "cached_token_count", "cached_content_token_count"),
        cache_write=count(fields, "cache_creation_tokens", "cache_write_token_count"),
        reasoning=count(fields, "reasoning_token_count", "thoughts_token_count"),
        apart="cache_read_tokens" in fields or "cache_creation_tokens" in fields,
        cost=amount(fields, "cost_usd"),
    )


def read_event(event: SpanEvent, notes: set[str]) -> Iterator[tuple[str, Message]]:
    """What one record says, with the side of the span that it belongs to."""
    fields = event.attributes
    if event.name in PROMPTS:
        yield from _text("input", Role.USER, present(fields, "prompt"), notes)
    elif event.name in _BODIES:
        side, role, key = _BODIES[event.name]
        yield from ((side, one) for one in _body(fields.get(key), role, notes))
    elif event.name in _REPLIES:
        yield from _text("output", Role.ASSISTANT, present(fields, "response", "response_text"), notes)
    elif event.name in _TOOLS:
        yield from _tool(fields, notes)


_NAMES: Final = ("tool_name", "function_name", "name")
_ARGUMENTS: Final = ("arguments", "function_args", "tool_input", "tool_parameters")
_RESULTS: Final = ("output", "tool_output", "result")


def _body(value: Any, role: Role, notes: set[str]) -> tuple[Message, ...]:
    """The messages of a request or a reply; JSON that its writer cut says nothing that can be read."""
    if not isinstance(value, str) or value in _WITHHELD:
        return ()
    if value.lstrip().startswith(("{", "[")) and isinstance(structured(value, notes), str):
        notes.add(TRUNCATED)
        return ()
    return read_payload(value, role, notes)


def _text(side: str, role: Role, value: Any, notes: set[str]) -> Iterator[tuple[str, Message]]:
    message = read_message(value, role, notes) if isinstance(value, str) and value not in _WITHHELD else None
    if message is not None:
        yield side, message


def _tool(fields: dict[str, Any], notes: set[str]) -> Iterator[tuple[str, Message]]:
    """The call, and its answer where the record holds one."""
    call_id = identity(fields)
    name, arguments = present(fields, *_NAMES), present(fields, *_ARGUMENTS)
    asked = {"role": "assistant", "tool_calls": [{"id": call_id, "name": name, "arguments": arguments}]}
    call = read_message(asked, Role.ASSISTANT, notes)
    if call is not None:
        yield "output", call
    answer = read_result(present(fields, *_RESULTS), notes)
    if answer is not None:
        yield "output", Message(role=Role.TOOL, parts=(ToolResultPart(id=call_id, response=answer),))
