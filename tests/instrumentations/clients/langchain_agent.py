"""LangChain's agent, whole and as a stream; who instruments it is the caller's business."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import shop
from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI


def answers(config: Mapping[str, Any], *, stream: bool) -> Iterator[str]:
    """Ask the questions in turn."""
    model = ChatOpenAI(model=shop.MODEL, streaming=stream, stream_usage=True)
    tools = [tool(each) for each in shop.TOOLS]
    agent: Any = create_agent(model, tools, system_prompt=shop.INSTRUCTIONS, name="support")
    messages: list[Any] = []
    for question in shop.QUESTIONS:
        messages.append({"role": "user", "content": question})
        if stream:
            states = list(agent.stream({"messages": messages}, config=config, stream_mode=["messages", "values"]))
            messages = [state for mode, state in states if mode == "values"][-1]["messages"]
        else:
            messages = agent.invoke({"messages": messages}, config=config)["messages"]
        yield messages[-1].text
