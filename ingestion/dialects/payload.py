"""What went into a function and what came out of it, as messages: the reading for conventions that have no messages.

1. A text that is no JSON is said as it is. JSON that is messages, or a request or reply of a known API that holds
   them (OpenAI chat and Responses, Anthropic, Google, LangChain), is those messages.
2. An object with one value under a name for it (``query``, ``answer``, ...) is that value; the arguments of a decorated
   function (``args`` and ``kwargs``) are what it was called with.
3. Any other object is the text of its JSON, so nothing is lost. One that is empty says nothing.
"""

from __future__ import annotations

from typing import Any, Final

from governance.records.base import canonical_json
from governance.records.message import Message, Role
from ingestion.dialects.forms import Form
from ingestion.dialects.messages import looks_like_messages, read_messages, with_instructions
from ingestion.dialects.values import unquoted

_LISTS: Final = ("messages", "contents", "input_messages", "output_messages")
_NAMES: Final = frozenset(
    {
        "text", "content", "prompt", "query", "question", "input", "inputs", "output", "outputs", "answer", "response",
        "result", "final_output", "task", "message", "kwargs", "args", "value", "completion", "user_input",
    }
)  # fmt: skip
_SYSTEM: Final = ("system", "instructions", "system_instruction", "systemInstruction")
_CALL: Final = frozenset({"args", "kwargs", "sanitize_inputs_outputs"})
"""How decorators write a call; the last is smolagents'."""
_MAX_WRAPS: Final = 6


def payload_form(value: Any, role: Role) -> Form:
    """What one call of a function holds, with what was noticed in it."""
    notes: set[str] = set()
    return Form(read_payload(called_with(value, notes), role, notes), frozenset(notes))


def read_payload(value: Any, role: Role, notes: set[str]) -> tuple[Message, ...]:
    """The messages in a payload; a bare value is one message of ``role``."""
    parsed = unquoted(value, notes)
    if parsed in (None, "", [], {}):
        return ()
    found, system = _messages(parsed)
    if found is None:
        text = value if isinstance(value, str) else canonical_json(parsed).decode("utf-8", "replace")
        return read_messages([text], role, notes)
    messages = read_messages([found] if isinstance(found, str) else found, role, notes)
    return with_instructions(messages, system, notes)


def called_with(value: Any, notes: set[str]) -> Any:
    """What a function was called with: the keyword arguments where there are no others, else everything."""
    parsed = unquoted(value, notes)
    if isinstance(parsed, dict) and parsed.keys() <= _CALL and not parsed.get("args"):
        return parsed.get("kwargs") or {}
    return value


def _messages(value: Any) -> tuple[Any, Any]:
    """The text or the list of messages that a value wraps, and the system instructions beside it."""
    system: Any = None
    for _ in range(_MAX_WRAPS):
        if isinstance(value, str) and value:
            return value, system
        if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
            return value[0], system
        if looks_like_messages(value):
            return _listed(value), system if system is not None else _system(value)
        inner = _inner(value)
        if inner is None:
            return None, None
        system = system if system is not None else _system(value)
        value = inner
    return None, None


def _listed(value: Any) -> list[Any]:
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        value = value["messages"]
    return value if isinstance(value, list) else [value]


def _system(value: Any) -> Any:
    """Instructions beside messages, in any of their places."""
    if not isinstance(value, dict):
        return None
    config = value.get("config")
    places = (value, config) if isinstance(config, dict) else (value,)
    return next((place[key] for place in places for key in _SYSTEM if place.get(key)), None)


def _inner(value: Any) -> Any:
    """One wrapping taken off; None when nothing wraps."""
    if isinstance(value, list):
        whole = bool(value) and all(isinstance(item, dict) and "generations" not in item for item in value)
        return value[0] if len(value) == 1 and whole else None
    if not isinstance(value, dict):
        return None
    replies = _replies(value)
    if replies is not None:
        return replies
    for key in _LISTS:
        if isinstance(value.get(key), list) and value[key]:
            return value[key]
    if {"model", "object"} & value.keys():
        return next((value[key] for key in ("output", "input", "prompt") if value.get(key)), None)
    if isinstance(value.get("text"), str) and value["text"]:
        return value["text"]
    held = {key: item for key, item in value.items() if item not in (None, "", [], {}) and key not in _SYSTEM}
    return next(iter(held.values())) if len(held) == 1 and held.keys() <= _NAMES else None


def _replies(value: dict[str, Any]) -> Any:
    """The replies in the answer of a model's API, or of a node of LangGraph; None where it is neither."""
    if isinstance(value.get("update"), dict) and "goto" in value:
        return value["update"]
    for key, pick in (("choices", ("message", "delta", "text")), ("candidates", ("content",))):
        if isinstance(value.get(key), list) and value[key]:
            return _picked(value[key], pick)
    if isinstance(value.get("generations"), list):
        return _picked(_flat(value["generations"]), ("message", "text"))
    return None


def _flat(items: list[Any]) -> list[Any]:
    return [inner for item in items for inner in (item if isinstance(item, list) else [item])]


def _picked(items: list[Any], keys: tuple[str, ...]) -> list[Any] | None:
    """From each alternative what it says."""
    found = [next((item[key] for key in keys if item.get(key)), None) for item in items if isinstance(item, dict)]
    said = [_as_message(item) for item in found if item]
    return said or None


def _as_message(item: Any) -> Any:
    return {"role": "assistant", "content": item} if isinstance(item, str) else item
