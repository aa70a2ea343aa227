"""What is said in the spans of every convention, and the parts in which they say it."""

from __future__ import annotations

import json
from typing import Any

from governance.records.span import Span, SpanEvent
from tests.ingestion.otlp_bodies import T0, make_span

SYSTEM = "You forecast the weather."
USER = "Weather in Zürich and Genève?"
ANSWER = "Both are rainy at 57°F."
RESULT = "rainy, 57°F in Zürich"
CITIES = ("Zürich", "Genève")
IDS = ("call_1", "call_2")
TOOL = "get_weather"


def text(value: Any) -> str:
    """JSON with escapes, as most exporters write it."""
    return json.dumps(value)


def event(name: str, **attributes: Any) -> SpanEvent:
    return SpanEvent(name=name, time_unix_nano=T0, attributes=attributes)


def openai_calls() -> list[dict[str, Any]]:
    return [
        {"id": one, "type": "function", "function": {"name": TOOL, "arguments": text({"city": city})}}
        for one, city in zip(IDS, CITIES, strict=True)
    ]


def parts_calls() -> list[dict[str, Any]]:
    return [
        {"type": "tool_call", "id": one, "name": TOOL, "arguments": {"city": city}}
        for one, city in zip(IDS, CITIES, strict=True)
    ]


def vercel_calls() -> list[dict[str, Any]]:
    return [
        {"type": "tool-call", "toolCallId": one, "toolName": TOOL, "input": text({"city": city})}
        for one, city in zip(IDS, CITIES, strict=True)
    ]


def google_calls() -> list[dict[str, Any]]:
    return [
        {"function_call": {"id": one, "name": TOOL, "args": {"city": city}}}
        for one, city in zip(IDS, CITIES, strict=True)
    ]


def bedrock_calls() -> list[dict[str, Any]]:
    return [
        {"toolUse": {"toolUseId": one, "name": TOOL, "input": {"city": city}}}
        for one, city in zip(IDS, CITIES, strict=True)
    ]


def indexed_calls(prefix: str, key: str = "") -> dict[str, Any]:
    return {
        f"{prefix}.{number}.{key}{name}": value
        for number, (one, city) in enumerate(zip(IDS, CITIES, strict=True))
        for name, value in (("id", one), ("name", TOOL), ("arguments", text({"city": city})))
    }


ASKED = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": USER}]
PARTS = [{"role": one["role"], "parts": [{"type": "text", "content": one["content"]}]} for one in ASKED]
GOOGLE = {
    "model": "gemini",
    "config": {"system_instruction": SYSTEM},
    "contents": [{"role": "user", "parts": [{"text": USER}]}],
}
USAGE = {"gen_ai.usage.input_tokens": 97, "gen_ai.usage.output_tokens": 52}
KEPT: dict[str, Any] = {"gen_ai.request.model": "tiny", "session.id": "s1", "http.route": "/chat"}
"""What stays in the structure whatever the convention."""


def span(operation: dict[str, Any], *events: SpanEvent, **attributes: Any) -> Span:
    return make_span(1, attributes=KEPT | operation | attributes, events=events)


def completion(message: dict[str, Any]) -> str:
    return text({"id": "c", "object": "chat.completion", "choices": [{"index": 0, "message": message}]})
