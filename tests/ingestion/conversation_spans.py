"""Spans of conversations, written out, and turns in short."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from governance.records.content import AdmittedSpan
from governance.records.message import Message, TextPart, ToolCallPart
from governance.records.trajectory import Turn
from tests.ingestion.otlp_bodies import T0, admitted, make_span


def said(*messages: tuple[str, str]) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]} for role, text in messages])


def chat(number: int, told: str, answer: str | None = None, parent: int | None = 1, **more: Any) -> AdmittedSpan:
    held = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": told} | more.pop("attributes", {})
    if answer is not None:
        held["gen_ai.output.messages"] = answer if answer.startswith("[") else said(("assistant", answer))
    return admitted(make_span(number, parent, attributes=held, **more))


def agent(number: int, told: str | None, answer: str | None, parent: int | None = None, **more: Any) -> AdmittedSpan:
    held = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": f"agent-{number}"} | more.pop("extra", {})
    if told is not None:
        held["gen_ai.input.messages"] = told
    if answer is not None:
        held["gen_ai.output.messages"] = said(("assistant", answer))
    times = {"end_unix_nano": T0 + 900_000_000} | more
    return admitted(make_span(number, parent, attributes=held, **times))


def tool(number: int, name: str, arguments: Any, result: Any = None, parent: int = 1, **more: Any) -> AdmittedSpan:
    held = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.arguments": json.dumps(arguments),
    }
    if result is not None:
        held["gen_ai.tool.call.result"] = json.dumps(result)
    return admitted(make_span(number, parent, attributes=held | more.pop("attributes", {}), **more))


def call(name: str, arguments: Any, id_: str = "") -> str:
    part = {"type": "tool_call", "id": id_, "name": name, "arguments": arguments}
    return json.dumps([{"role": "assistant", "parts": [part]}])


def lines(turns: Sequence[Turn]) -> list[str]:
    """Who says what, in short."""
    return [f"{'*' if turn.earlier else ''}{turn.actor}: {_short(turn.message)}" for turn in turns]


def _short(message: Message) -> str:
    found = []
    for part in message.parts:
        if isinstance(part, TextPart):
            found.append(part.text)
        elif isinstance(part, ToolCallPart):
            found.append(f"{part.name}({json.dumps(part.arguments)})")
        else:
            found.append(f"= {json.dumps(part.response)}")
    return " | ".join(found)


ASKED = ("user", "Where is order A-17?")
MS = 1_000_000
