"""The records of command-line agents as events of a span: prompts, replies and tool results.

Source: Claude Code, "Monitoring" (``claude_code.user_prompt``, ``claude_code.assistant_response``); Codex CLI
(``codex.user_prompt``, ``codex.tool_result``); Gemini CLI telemetry (``gemini_cli.user_prompt``,
``gemini_cli.api_response``, ``gemini_cli.tool_call``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from governance.records.message import Message, Role, ToolResultPart
from governance.records.span import SpanEvent
from ingestion.dialects.messages import read_message, read_result
from ingestion.dialects.parts import identity
from ingestion.dialects.values import present

_PROMPTS: Final = frozenset({"claude_code.user_prompt", "codex.user_prompt", "gemini_cli.user_prompt"})
_REPLIES: Final = frozenset({"claude_code.assistant_response", "gemini_cli.api_response"})
_TOOLS: Final = frozenset({"claude_code.tool_result", "codex.tool_result", "gemini_cli.tool_call"})
EVENTS: Final = _PROMPTS | _REPLIES | _TOOLS
_WITHHELD: Final = ("<REDACTED>", "[REDACTED]")


def read_event(event: SpanEvent, notes: set[str]) -> Iterator[tuple[str, Message]]:
    """What one record says, with the side of the span that it belongs to."""
    if event.name in _PROMPTS:
        yield from _text("input", Role.USER, present(event.attributes, "prompt"), notes)
    elif event.name in _REPLIES:
        yield from _text("output", Role.ASSISTANT, present(event.attributes, "response", "response_text"), notes)
    elif event.name in _TOOLS:
        yield from _tool(event.attributes, notes)


def _text(side: str, role: Role, value: Any, notes: set[str]) -> Iterator[tuple[str, Message]]:
    message = read_message(value, role, notes) if isinstance(value, str) and value not in _WITHHELD else None
    if message is not None:
        yield side, message


def _tool(fields: dict[str, Any], notes: set[str]) -> Iterator[tuple[str, Message]]:
    """The call, and its answer where the record holds one."""
    call_id = identity(fields)
    name = present(fields, "tool_name", "function_name", "name")
    arguments = present(fields, "arguments", "function_args", "tool_input", "tool_parameters")
    asked = {"role": "assistant", "tool_calls": [{"id": call_id, "name": name, "arguments": arguments}]}
    call = read_message(asked, Role.ASSISTANT, notes)
    if call is not None:
        yield "output", call
    answer = read_result(present(fields, "output", "tool_output", "result"), notes)
    if answer is not None:
        yield "output", Message(role=Role.TOOL, parts=(ToolResultPart(id=call_id, response=answer),))
