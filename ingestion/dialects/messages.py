"""The many JSON forms of a chat message, into the one record.

1. Read: the GenAI ``parts`` form; ``content`` as text or as a list of typed parts (OpenAI, Anthropic); ``tool_calls``
   in nested and flat form; tool results by ``tool_call_id``; LangChain's ``kwargs`` and ``type``; a wrapping
   ``message``; a bare text.
2. Arguments are one JSON value, or the raw text with ``corrupt=True`` and the flag ``corrupt_arguments``. Two values
   one after the other are never one call.
3. The repr of an object is no content: it never becomes a message (flag ``python_repr``).
4. A part of a kind that the record does not know is kept as the text of its JSON (flag ``unsupported_part``), so
   nothing is lost and nothing is trained on; reasoning is left out (flag ``reasoning_omitted``).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any, Final

from governance.records.base import canonical_json
from governance.records.message import Message, Part, Role, TextPart, ToolCallPart, ToolResultPart
from ingestion.text import NotJson, parse_json

CORRUPT: Final = "corrupt_arguments"
REPR: Final = "python_repr"
UNSUPPORTED: Final = "unsupported_part"
REASONING: Final = "reasoning_omitted"
_ROLES: Final = {
    "system": Role.SYSTEM, "developer": Role.SYSTEM, "instructions": Role.SYSTEM,
    "user": Role.USER, "human": Role.USER,
    "assistant": Role.ASSISTANT, "ai": Role.ASSISTANT, "model": Role.ASSISTANT, "bot": Role.ASSISTANT,
    "aimessagechunk": Role.ASSISTANT, "choice": Role.ASSISTANT,
    "tool": Role.TOOL, "function": Role.TOOL,
}  # fmt: skip
_OBJECT_REPR: Final = re.compile(r"<[\w.<> ]+ (object|at 0x)[^<>]*>|<[\w.]+ [\w. ]+ at 0x[0-9a-f]+[^<>]*>?")
_MESSAGE_KEYS: Final = frozenset({"role", "parts", "content", "tool_calls", "kwargs", "message", "contents"})


def is_repr(text: str) -> bool:
    """Whether a text is what Python prints for an object or a container, and not something that was said."""
    stripped = text.strip()
    if _OBJECT_REPR.fullmatch(stripped):
        return True
    if not stripped.startswith(("{'", "[{'", "['", "({'")):
        return False
    try:
        parse_json(stripped, set())
    except NotJson:
        try:
            return isinstance(ast.literal_eval(stripped), dict | list | tuple)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return False
    return False


def read_arguments(value: Any, notes: set[str]) -> tuple[Any, bool]:
    """The arguments of a call, and whether they are corrupt."""
    if value is None:
        return {}, False
    if not isinstance(value, str):
        return value, False
    try:
        parsed = parse_json(value, notes)
        if isinstance(parsed, str):
            parsed = parse_json(parsed, notes)
    except NotJson:
        notes.add(CORRUPT)
        return value, True
    return parsed, False


def read_result(value: Any, notes: set[str]) -> Any:
    """A tool's result: the JSON value that a text is, else the text; None for the repr of an object."""
    if not isinstance(value, str):
        return value
    try:
        return parse_json(value, notes)
    except NotJson:
        if _OBJECT_REPR.fullmatch(value.strip()):
            notes.add(REPR)
            return None
        return value


def text_parts(value: str, notes: set[str]) -> list[Part]:
    """One text part, unless there is nothing in it or it is the repr of an object."""
    if not value:
        return []
    if is_repr(value):
        notes.add(REPR)
        return []
    return [TextPart(text=value)]


def read_messages(value: Any, default: Role, notes: set[str]) -> tuple[Message, ...]:
    """Messages out of a JSON value, or out of the text that holds one; a bare text is one message of ``default``."""
    if isinstance(value, str):
        try:
            parsed = parse_json(value, notes)
        except NotJson:
            parsed = value
        value = parsed if isinstance(parsed, dict | list) else value
    if isinstance(value, dict):
        inner = value.get("messages")
        value = inner if isinstance(inner, list) else [value]
    items = value if isinstance(value, list) else [value]
    if items and all(isinstance(item, list) for item in items):
        items = [inner for item in items for inner in item]
    messages = (read_message(item, default, notes) for item in items)
    return tuple(message for message in messages if message is not None)


def looks_like_messages(value: Any) -> bool:
    """Whether a JSON value is a message or a list of them."""
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        return looks_like_messages(value["messages"])
    items = value if isinstance(value, list) else [value]
    return bool(items) and all(
        (isinstance(item, dict) and bool(_MESSAGE_KEYS & item.keys()) and ("role" in item or "kwargs" in item))
        or (isinstance(item, list) and looks_like_messages(item))
        for item in items
    )


def read_message(value: Any, default: Role, notes: set[str]) -> Message | None:
    """One message; None when nothing is in it."""
    if isinstance(value, str):
        parts = text_parts(value, notes)
        return Message(role=default, parts=tuple(parts)) if parts else None
    if not isinstance(value, dict):
        return None
    inner = next((value[key] for key in ("message", "kwargs", "data") if isinstance(value.get(key), dict)), None)
    if inner is not None:
        role = value.get("role") or inner.get("role") or inner.get("type") or value.get("type")
        return read_message({**inner, "role": role}, default, notes)
    role = _role(value, default)
    parts = [*_content(value, role, notes), *_calls(value.get("tool_calls"), notes)]
    return Message(role=role, parts=tuple(parts)) if parts else None


def _role(value: dict[str, Any], default: Role) -> Role:
    for name in (value.get("role"), value.get("type")):
        if isinstance(name, str) and name.lower() in _ROLES:
            return _ROLES[name.lower()]
    return default


def _content(value: dict[str, Any], role: Role, notes: set[str]) -> list[Part]:
    content = next((value[key] for key in ("parts", "content", "contents", "text") if value.get(key) is not None), None)
    call_id = value.get("tool_call_id") or (value.get("id") if role is Role.TOOL else None)
    typed = isinstance(content, list) and any(isinstance(item, dict) and "type" in item for item in content)
    is_result = role is Role.TOOL and not (typed and "parts" in value)
    if is_result and content is not None:
        return [ToolResultPart(id=str(call_id or ""), response=read_result(_joined(content), notes))]
    if isinstance(content, str):
        return text_parts(content, notes)
    items: Sequence[Any] = content if isinstance(content, list) else [] if content is None else [content]
    return [part for item in items for part in read_part(item, notes)]


def _joined(content: Any) -> Any:
    """Text parts of a tool message as one text."""
    if (
        isinstance(content, list)
        and content
        and all(
            isinstance(item, dict) and item.get("type") == "text" and isinstance(item.get("text"), str)
            for item in content
        )
    ):
        return "\n".join(item["text"] for item in content)
    return content


def _calls(value: Any, notes: set[str]) -> list[Part]:
    return [call(item, notes) for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def call(item: dict[str, Any], notes: set[str]) -> ToolCallPart:
    """A tool call in nested (``function``) or flat form."""
    function = item["function"] if isinstance(item.get("function"), dict) else item
    raw = next((function[key] for key in ("arguments", "args", "input") if function.get(key) is not None), None)
    arguments, corrupt = read_arguments(raw, notes)
    call_id = item.get("id") or item.get("call_id") or ""
    return ToolCallPart(id=str(call_id), name=str(function.get("name") or ""), arguments=arguments, corrupt=corrupt)


def read_part(item: Any, notes: set[str]) -> list[Part]:
    """One part of a message."""
    if isinstance(item, str):
        return text_parts(item, notes)
    if not isinstance(item, dict):
        return []
    kind = str(item.get("type") or ("text" if {"text", "content"} & item.keys() else ""))
    match kind:
        case "text" | "input_text" | "output_text":
            text = next((item[key] for key in ("content", "text") if isinstance(item.get(key), str)), "")
            return text_parts(text, notes)
        case "tool_call" | "tool_use" | "function_call" | "tool-call":
            return [call(item, notes)]
        case "tool_call_response" | "tool_result" | "function_call_output" | "tool-result":
            keys = ("response", "result", "content", "output")
            raw = next((item[key] for key in keys if item.get(key) is not None), None)
            ids = ("id", "tool_use_id", "tool_call_id", "call_id")
            call_id = next((item[key] for key in ids if item.get(key)), "")
            return [ToolResultPart(id=str(call_id), response=read_result(_joined(raw), notes))]
        case "reasoning" | "thinking" | "redacted_thinking":
            notes.add(REASONING)
            return []
    notes.add(UNSUPPORTED)
    return [TextPart(text=canonical_json(item).decode("utf-8", "replace"))]
