"""LangChain with OpenLLMetry's opentelemetry-instrumentation-langchain, under the span of a request."""

from __future__ import annotations

import langchain_agent
import shop
import telemetry
from opentelemetry import trace
from opentelemetry.instrumentation.langchain import LangchainInstrumentor

telemetry.start()
LangchainInstrumentor().instrument()
tracer = trace.get_tracer("shop")
for session, stream in shop.sessions():
    answers = langchain_agent.answers({"metadata": {"session_id": session}}, stream=stream)
    for _ in shop.QUESTIONS:
        with tracer.start_as_current_span("POST /chat", kind=trace.SpanKind.SERVER) as span:
            span.set_attribute("user.id", shop.user())
            next(answers)
