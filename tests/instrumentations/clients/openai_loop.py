"""An agent without a framework: the loop over chat completions that its developer wrote."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import shop
from openai import OpenAI, RateLimitError


def answers(client: OpenAI, *, stream: bool) -> Iterator[str]:
    """Ask the questions in turn; each answer costs as many calls of the model and of tools as it takes."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": shop.INSTRUCTIONS}]
    for question in shop.QUESTIONS:
        messages.append({"role": "user", "content": question})
        yield _answer(client, messages, stream=stream)


def _answer(client: OpenAI, messages: list[dict[str, Any]], *, stream: bool) -> str:
    while True:
        try:
            message = _streamed(client, messages) if stream else _whole(client, messages)
        except RateLimitError:
            continue  # its own retry, so that the refusal is seen as a call of its own
        messages.append(message)
        if "tool_calls" not in message:
            return str(message["content"])
        for one in message["tool_calls"]:
            result = shop.call(one["function"]["name"], one["function"]["arguments"])
            messages.append({"role": "tool", "tool_call_id": one["id"], "content": result})


def _whole(client: OpenAI, messages: Any) -> dict[str, Any]:
    answer = client.chat.completions.create(model=shop.MODEL, messages=messages, tools=shop.schemas())
    return answer.choices[0].message.model_dump(include={"role", "content", "tool_calls"}, exclude_none=True)


def _streamed(client: OpenAI, messages: Any) -> dict[str, Any]:
    chunks = client.chat.completions.create(
        model=shop.MODEL,
        messages=messages,
        tools=shop.schemas(),
        stream=True,
        stream_options={"include_usage": True},
    )
    text, calls = "", dict[int, dict[str, Any]]()
    for chunk in chunks:
        delta = chunk.choices[0].delta if chunk.choices else None
        text += (delta and delta.content) or ""
        for piece in (delta and delta.tool_calls) or ():
            function = {"name": piece.function.name, "arguments": ""}
            call = calls.setdefault(piece.index, {"id": piece.id, "type": "function", "function": function})
            call["function"]["arguments"] += piece.function.arguments or ""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    return message | ({"tool_calls": [calls[index] for index in sorted(calls)]} if calls else {})
