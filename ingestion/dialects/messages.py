"""The many JSON forms of a chat message, into the one record.

1. Read: the GenAI ``parts`` form; ``content`` as text or as a list of typed parts (OpenAI, Anthropic, and the forms of
   ``parts``); ``tool_calls`` in nested and flat form; tool results by ``tool_call_id``; items of OpenAI's Responses;
   LangChain's ``kwargs`` and ``type``; a wrapping ``message``; a bare text.
2. Arguments are one JSON value, or the raw text with ``corrupt=True`` and the flag ``corrupt_arguments``. Two values
   one after the other are never one call. A call that stands twice in one message, under one id, is one call.
3. The repr of an object is no content: it never becomes a message (flag ``python_repr``).
4. A part of a kind that the record does not know is kept as the text of its JSON (flag ``unsupported_part``), so
   nothing is lost and nothing is trained on; reasoning is left out (flag ``reasoning_omitted``).
5. A part of the type ``refusal``, and a message's ``refusal``, is text (flag ``refusal``); a message that ended for a
   filter says so (flag ``content_filter``).
6. A message that holds nothing but tool results is the tool's, whatever role its provider writes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any, Final

from governance.records.base import canonical_json
from governance.records.message import Message, Part, Role, TextPart, ToolCallPart, ToolResultPart
from ingestion.dialects.histories import read_array, said_once
from ingestion.dialects.parts import (
    CALLS,
    RESPONSES,
    THOUGHTS,
    answered,
    asked,
    called,
    identity,
    joined,
    kind_of,
    neutral,
)
from ingestion.dialects.values import structured, unquoted
from ingestion.text import NotJson, parse_json

CORRUPT: Final = "corrupt_arguments"
REPR: Final = "python_repr"
UNSUPPORTED: Final = "unsupported_part"
REASONING: Final = "reasoning_omitted"
REFUSAL: Final = "refusal"
FILTERED: Final = "content_filter"
_ROLES: Final = {
    "system": Role.SYSTEM, "developer": Role.SYSTEM, "instructions": Role.SYSTEM,
    "user": Role.USER, "human": Role.USER,
    "assistant": Role.ASSISTANT, "ai": Role.ASSISTANT, "model": Role.ASSISTANT, "bot": Role.ASSISTANT,
    "aimessagechunk": Role.ASSISTANT, "choice": Role.ASSISTANT,
    "tool": Role.TOOL, "function": Role.TOOL,
}  # fmt: skip
_OBJECT_REPR: Final = re.compile(r"<[\w.<> ]+ (object|at 0x)[^<>]*>|<[\w.]+ [\w. ]+ at 0x[0-9a-f]+[^<>]*>?")
_CALL_REPR: Final = re.compile(r"\[?[A-Z]\w*\(\w+=")
_LANGCHAIN: Final = frozenset({"human", "ai", "AIMessageChunk", "system", "tool"})
"""Types of LangChain's messages, which name no role."""
_MESSAGE_KEYS: Final = frozenset({"role", "parts", "content", "tool_calls", "kwargs", "message", "contents", "data"})
_CALL_KEYS: Final = frozenset({"tool_calls", "toolCalls", "invalid_tool_calls", "function_call"})
_ITEMS: Final = CALLS | RESPONSES | THOUGHTS


def is_repr(text: str) -> bool:
    """Whether a text is what Python prints for an object or a container, and not something that was said."""
    stripped = text.strip()
    if stripped.startswith("<") and _OBJECT_REPR.fullmatch(stripped):
        return True
    container = stripped.startswith(("{'", "[{'", "['", "({'"))
    if not container and not _CALL_REPR.match(stripped):
        return False
    try:
        body = ast.parse(stripped, mode="eval").body
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return container and " object at 0x" in stripped
    return isinstance(body, ast.Dict | ast.List | ast.Tuple | ast.Set | ast.Call)


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
    if isinstance(value, str) and value.startswith("["):
        said = read_array(value, default, notes, _one_by_one)
        if said is not None:
            return said
    value = structured(value, notes)
    if isinstance(value, dict):
        inner = value.get("messages")
        value = inner if isinstance(inner, list) else [value]
    items = value if isinstance(value, list) else [value]
    if items and all(isinstance(item, list) for item in items):
        items = [inner for item in items for inner in item]
    messages = (read_message(item, default, notes) for item in items)
    return tuple(message for message in messages if message is not None)


def _one_by_one(text: str, default: Role, notes: set[str]) -> tuple[Message, ...] | None:
    """The messages of an array of objects; None for anything else."""
    noticed: set[str] = set()
    items = structured(text, noticed)
    if not isinstance(items, list):
        return None
    messages = []
    for item in items:
        if not isinstance(item, dict):
            return None
        message = _short(item) or read_message(item, default, noticed)
        if message is not None:
            messages.append(message)
    notes |= noticed
    return tuple(messages)


def looks_like_messages(value: Any) -> bool:
    """Whether a JSON value is a message or a list of them."""
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        return looks_like_messages(value["messages"])
    items = value if isinstance(value, list) else [value]
    return bool(items) and all(
        (isinstance(item, dict) and (_is_message(item) or _is_item(item)))
        or (isinstance(item, list) and looks_like_messages(item))
        for item in items
    )


def _is_message(item: dict[str, Any]) -> bool:
    wrapped = item.get("kwargs")
    serialised = isinstance(wrapped, dict) and "content" in wrapped
    typed = str(item.get("type")) in _LANGCHAIN and ("content" in item or isinstance(item.get("data"), dict))
    named = "role" in item or isinstance(item.get("parts"), list) or serialised or typed
    return named and bool(_MESSAGE_KEYS & item.keys())


def _is_item(item: dict[str, Any]) -> bool:
    """Whether an object is a part that stands where a message should: an item of OpenAI's Responses."""
    return "role" not in item and str(item.get("type")) in _ITEMS


def read_message(value: Any, default: Role, notes: set[str]) -> Message | None:
    """One message; None when nothing is in it."""
    if isinstance(value, str):
        parts = text_parts(value, notes)
        return Message(role=default, parts=tuple(parts)) if parts else None
    if not isinstance(value, dict):
        return None
    if (said := _short(value)) is not None:
        return said
    inner = next((value[key] for key in ("message", "kwargs", "data") if isinstance(value.get(key), dict)), None)
    if inner is not None:
        role = value.get("role") or inner.get("role") or inner.get("type") or value.get("type")
        return read_message({**inner, "role": role}, default, notes)
    if value.get("finish_reason") in (FILTERED, REFUSAL):
        notes.add(str(value["finish_reason"]))
    if _is_item(value):
        role, parts = Role.ASSISTANT, read_part(value, notes)
    else:
        role = _role(value, default)
        parts = _parts(value, role, notes)
    if not parts:
        return None
    only_results = all(isinstance(part, ToolResultPart) for part in parts)
    return Message.proven(role=Role.TOOL if only_results else role, parts=tuple(parts))


_SHORT: Final = frozenset({"role", "parts", "finish_reason"})
_TEXT: Final = {"type", "content"}
_SPEAKERS: Final = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM}


def _short(value: dict[str, Any]) -> Message | None:
    """The message that most messages are, one text of one speaker, without asking for any other form."""
    parts, role = value.get("parts"), value.get("role")
    if not isinstance(role, str) or not isinstance(parts, list) or len(parts) != 1:
        return None
    speaker, (part,) = _SPEAKERS.get(role), parts
    if speaker is None or not (value.keys() <= _SHORT) or value.get("finish_reason") in (FILTERED, REFUSAL):
        return None
    if not isinstance(part, dict) or part.keys() != _TEXT or part["type"] != "text":
        return None
    text = part["content"]
    return said_once(speaker, text, is_repr) if isinstance(text, str) and text else None


def _role(value: dict[str, Any], default: Role) -> Role:
    for name in (value.get("role"), value.get("type")):
        if isinstance(name, str) and name.lower() in _ROLES:
            return _ROLES[name.lower()]
    return default


def _parts(value: dict[str, Any], role: Role, notes: set[str]) -> list[Part]:
    """What a message says, then what it asks for; a call that its content already holds is not asked for again."""
    said = _content(value, role, notes)
    if not _CALL_KEYS.intersection(value):
        return said
    held = {part.id for part in said if isinstance(part, ToolCallPart) and part.id}
    asked_for = [call(item, notes) for key in sorted(_CALL_KEYS) for item in _listed(value.get(key))]
    return [*said, *(part for part in asked_for if part.id not in held)]


def _listed(value: Any) -> list[dict[str, Any]]:
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, dict)]


def _content(value: dict[str, Any], role: Role, notes: set[str]) -> list[Part]:
    content = next((value[key] for key in ("parts", "content", "contents", "text") if value.get(key) is not None), None)
    if content in (None, "") and isinstance(value.get("refusal"), str) and role is Role.ASSISTANT:
        content = [{"type": REFUSAL, "refusal": value["refusal"]}]
    if role is Role.TOOL and content is not None and not _in_parts(content, value):
        return [ToolResultPart(id=identity(value, "tool_call_id"), response=read_result(joined(content), notes))]
    if isinstance(content, str):
        return text_parts(content, notes)
    items: Sequence[Any] = content if isinstance(content, list) else [] if content is None else [content]
    return [part for item in items for part in read_part(item, notes)]


def _in_parts(content: Any, value: dict[str, Any]) -> bool:
    """Whether a tool's message has results as parts, and is not one result itself."""
    items = _listed(content)
    typed = isinstance(content, list) and "parts" in value and any("type" in item for item in items)
    return typed or any(kind_of(neutral(item)) in RESPONSES for item in items)


def call(item: dict[str, Any], notes: set[str]) -> ToolCallPart:
    """A tool call in nested (``function``) or flat form."""
    function = item["function"] if isinstance(item.get("function"), dict) else item
    arguments, corrupt = read_arguments(asked(function), notes)
    return ToolCallPart(id=identity(item), name=called(function), arguments=arguments, corrupt=corrupt)


def read_part(item: Any, notes: set[str]) -> list[Part]:
    """One part of a message."""
    if isinstance(item, str):
        return text_parts(item, notes)
    if not isinstance(item, dict):
        return []
    part = neutral(item)
    kind = kind_of(part)
    if kind in ("text", "input_text", "output_text"):
        text = next((part[key] for key in ("content", "text") if isinstance(part.get(key), str)), "")
        return text_parts(text, notes)
    if kind in CALLS:
        return [call(part, notes)]
    if kind in RESPONSES:
        return [ToolResultPart(id=identity(part), response=read_result(answered(part), notes))]
    if kind in THOUGHTS:
        notes.add(REASONING)
        return []
    declined = part.get("refusal", part.get("content"))
    if kind == REFUSAL and isinstance(declined, str):
        notes.add(REFUSAL)
        return text_parts(declined, notes)
    notes.add(UNSUPPORTED)
    return [TextPart(text=canonical_json(part).decode("utf-8", "replace"))]


def with_instructions(messages: tuple[Message, ...], value: Any, notes: set[str]) -> tuple[Message, ...]:
    """System instructions stand first, unless the messages have their own."""
    if value is None or any(message.role is Role.SYSTEM for message in messages):
        return messages
    given = unquoted(value, notes)
    if isinstance(given, dict) and not ({"role", "parts", "content"} & given.keys()):
        given = [given]
    body = {"role": "system", "parts": given} if isinstance(given, list) else given
    system = read_message(body if isinstance(body, str | dict) else value, Role.SYSTEM, notes)
    return messages if system is None else (system.model_copy(update={"role": Role.SYSTEM}), *messages)
