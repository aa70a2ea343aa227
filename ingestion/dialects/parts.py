"""The part forms of providers and frameworks, as parts of the GenAI convention: object in, object out.

Source: Amazon Bedrock Converse (``toolUse``, ``toolResult``, ``reasoningContent``), Google GenAI (``function_call``,
``function_response``, ``thought``, in snake and camel case), Vercel AI SDK (``toolCallId``, ``toolName``, a result's
``{type, value}``), Pydantic AI (``kind``). A form that is not known is left as it is.
"""

from __future__ import annotations

from typing import Any, Final

RESPONSES: Final = frozenset(
    {"tool_call_response", "tool_result", "function_call_output", "tool-result", "tool-error", "tool_response"}
)
"""Types of a part that is a tool's answer."""
CALLS: Final = frozenset({"tool_call", "tool_use", "function_call", "tool-call"})
"""Types of a part that asks for a tool."""
THOUGHTS: Final = frozenset({"reasoning", "thinking", "redacted_thinking", "thought"})
"""Types of a part that was thought and not said."""
_CALL_KEYS: Final = ("toolUse", "functionCall", "function_call")
_RESPONSE_KEYS: Final = ("toolResult", "functionResponse", "function_response")
_FOREIGN: Final = frozenset({*_CALL_KEYS, *_RESPONSE_KEYS, "thought", "reasoningContent", "kind"})
_ID_KEYS: Final = ("id", "call_id", "toolCallId", "toolUseId", "tool_call_id", "tool_use_id", "callId")
_RESULT_TYPES: Final = frozenset({"text", "json", "content", "error-text", "error-json"})


def neutral(part: dict[str, Any]) -> dict[str, Any]:
    """A part in the GenAI form, if its own form is known here."""
    if _FOREIGN.isdisjoint(part):
        return part
    for key in _CALL_KEYS:
        inner = part.get(key)
        if isinstance(inner, dict):
            return {"type": "tool_call", "id": identity(inner), "name": called(inner), "arguments": asked(inner)}
    for key in _RESPONSE_KEYS:
        inner = part.get(key)
        if isinstance(inner, dict):
            return {"type": "tool_call_response", "id": identity(inner), "response": answered(inner)}
    if part.get("thought") is True or isinstance(part.get("reasoningContent"), dict):
        return {"type": "reasoning"}
    if "type" not in part and isinstance(part.get("kind"), str):
        return {**part, "type": part["kind"]}
    return part


def kind_of(part: dict[str, Any]) -> str:
    """The type of a neutral part; a part with a text and no type is text."""
    return str(part.get("type") or ("text" if {"text", "content"} & part.keys() else ""))


def identity(item: dict[str, Any], *keys: str) -> str:
    """The id of a call, in whichever spelling; empty when there is none."""
    values = (item.get(key) for key in (*keys, *_ID_KEYS))
    return next((str(v) for v in values if isinstance(v, str | int) and not isinstance(v, bool) and v != ""), "")


def called(item: dict[str, Any]) -> str:
    """The name of the tool that is called."""
    values = (item.get(key) for key in ("name", "toolName", "tool_name"))
    return next((value for value in values if isinstance(value, str)), "")


def asked(item: dict[str, Any]) -> Any:
    """The arguments of a call; None where none are stated."""
    values = (item.get(key) for key in ("arguments", "args", "input", "parameters"))
    return next((value for value in values if value is not None), None)


def answered(item: dict[str, Any]) -> Any:
    """What a tool answered; None where nothing is stated."""
    values = (item.get(key) for key in ("response", "result", "content", "output", "error"))
    return joined(next((value for value in values if value is not None), None))


def joined(value: Any) -> Any:
    """Text parts of an answer as one text, one JSON part as its value, a typed value as the value."""
    if isinstance(value, dict) and value.keys() == {"type", "value"} and str(value["type"]) in _RESULT_TYPES:
        return joined(value["value"])
    if not isinstance(value, list) or not value or not all(isinstance(item, dict) for item in value):
        return value
    if len(value) == 1 and value[0].keys() == {"json"}:
        return value[0]["json"]
    if all(isinstance(item.get("text"), str) and _only_text(item) for item in value):
        return "\n".join(item["text"] for item in value)
    return value


def _only_text(item: dict[str, Any]) -> bool:
    return item.get("type") == "text" or item.keys() == {"text"}
