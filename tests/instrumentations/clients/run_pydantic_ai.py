"""Pydantic AI with its own instrumentation, under the span of a request that names the person."""

from __future__ import annotations

import shop
import telemetry
from opentelemetry import trace
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.openai import OpenAIChatModel

telemetry.start()
Agent.instrument_all()
tracer = trace.get_tracer("shop")
agent = Agent(OpenAIChatModel(shop.MODEL), name="support", instructions=shop.INSTRUCTIONS, tools=list(shop.TOOLS))
for session, stream in shop.sessions():
    history: list[ModelMessage] = []
    for question in shop.QUESTIONS:
        with tracer.start_as_current_span("POST /chat", kind=trace.SpanKind.SERVER) as span:
            span.set_attribute("user.id", shop.user())
            if stream:
                streamed = agent.run_stream_sync(question, message_history=history, conversation_id=session)
                streamed.get_output()
                history = streamed.all_messages()
            else:
                history = agent.run_sync(question, message_history=history, conversation_id=session).all_messages()
