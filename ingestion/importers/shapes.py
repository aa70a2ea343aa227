"""The envelopes in which tools keep what a model was asked and what it answered; inside are messages.

Only the envelope is opened here. What a message looks like inside is the dialects' to read.
"""

from __future__ import annotations

from typing import Any, Final

from ingestion.importers.values import first, is_objects, json_text, obj, parsed, seq

_ROLES: Final = {"SystemMessage": "system", "HumanMessage": "user", "AIMessage": "assistant", "ToolMessage": "tool"}
_TYPES: Final = ("human", "ai", "AIMessageChunk", "tool", "system")
_ONE: Final = ("messages", "contents", "prompts", "prompt", "input", "query", "question", "output", "text", "content")


def messages(value: Any) -> Any:
    """The messages, the message or the text that an input or output holds; None where it holds none."""
    value = parsed(value)
    if isinstance(value, list):
        return [_message(item) for item in value] or None
    if not isinstance(value, dict):
        return None if value is None else json_text(value)
    if is_objects(value.get("choices")):
        return [_message(first(item, "message", "delta", "text")) for item in seq(value["choices"])]
    if isinstance(value.get("generations"), list):
        return _generations(value["generations"])
    if "role" in value or "kwargs" in value or "tool_call_id" in value or value.get("type") in _TYPES:
        return [_message(value)]
    return _held(value)


def _held(value: dict[str, Any]) -> Any:
    """What the one telling key holds; the JSON of the whole where there is no such key."""
    for key in _ONE:
        inner = parsed(value.get(key))
        if isinstance(inner, str) and inner and len(value) <= 2:
            return inner
        if isinstance(inner, list) and inner:
            return [_message(item) for item in inner]
        if isinstance(inner, dict) and ("role" in inner or "kwargs" in inner or "messages" in inner):
            return messages(inner) if key != "messages" else [_message(inner)]
    return json_text(value) if value else None


def _generations(value: list[Any]) -> list[Any]:
    inner = [item for part in value for item in (part if isinstance(part, list) else [part])]
    return [_message(first(obj(item), "message", "text")) for item in inner]


def _message(value: Any) -> Any:
    """A message; LangChain's constructor form says its role by its class, its older form keeps calls aside."""
    if isinstance(value, list):
        return [_message(item) for item in value]
    name = seq(obj(value).get("id"))[-1:]
    role = _ROLES.get(name[0].removesuffix("Chunk")) if name and isinstance(name[0], str) else None
    more = {"role": role} if role else {}
    asked = obj(obj(value).get("additional_kwargs")).get("tool_calls")
    if asked and not obj(value).get("tool_calls"):
        more["tool_calls"] = asked
    return {**value, **more} if more else value


def usage(*places: Any) -> tuple[Any, Any]:
    """Tokens in and out, from the first place that names them."""
    for place in places:
        fields = obj(parsed(place))
        found = (
            first(fields, "input_tokens", "prompt_tokens", "promptTokens", "inputTokens"),
            first(fields, "output_tokens", "completion_tokens", "completionTokens", "outputTokens"),
        )
        if found != (None, None):
            return found
    return None, None
