"""openai-agents with OpenLLMetry's opentelemetry-instrumentation-openai-agents, under the span of a request."""

from __future__ import annotations

import agents_sdk
import shop
import telemetry
from agents import set_trace_processors
from opentelemetry import trace
from opentelemetry.instrumentation.openai_agents import OpenAIAgentsInstrumentor

telemetry.start()
set_trace_processors([])  # the SDK's own, which sends to OpenAI
OpenAIAgentsInstrumentor().instrument()
tracer = trace.get_tracer("shop")
for session, stream in shop.sessions():
    answers = agents_sdk.answers(stream=stream)
    for _ in shop.QUESTIONS:
        with tracer.start_as_current_span("POST /chat", kind=trace.SpanKind.SERVER) as span:
            span.set_attributes({"user.id": shop.user(), "session.id": session})
            next(answers)
