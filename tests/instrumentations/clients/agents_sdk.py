"""openai-agents, whole and as a stream, over the Responses API; who instruments it is the caller's business."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import shop
from agents import Agent, Runner, TResponseInputItem, function_tool

_LOOP = asyncio.new_event_loop()
"""One loop for all answers: the client of the model keeps its connections between them."""


def answers(*, stream: bool) -> Iterator[str]:
    """Ask the questions in turn."""
    tools = [function_tool(tool) for tool in shop.TOOLS]
    agent = Agent(name="support", instructions=shop.INSTRUCTIONS, model=shop.MODEL, tools=list(tools))
    items: list[TResponseInputItem] = []
    for question in shop.QUESTIONS:
        items.append({"role": "user", "content": question})
        answer, items = _LOOP.run_until_complete(_ask(agent, items, stream=stream))
        yield answer


async def _ask(agent: Agent, items: list[TResponseInputItem], *, stream: bool) -> tuple[str, list[TResponseInputItem]]:
    if not stream:
        done = await Runner.run(agent, items)
        return str(done.final_output), done.to_input_list()
    streamed = Runner.run_streamed(agent, items)
    async for _ in streamed.stream_events():
        pass
    return str(streamed.final_output), streamed.to_input_list()
