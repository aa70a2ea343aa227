"""LangChain with LangSmith's own OpenTelemetry export."""

from __future__ import annotations

import langchain_agent
import shop
import telemetry
from langchain_core.tracers.langchain import wait_for_all_tracers
from opentelemetry import trace

telemetry.start()
tracer = trace.get_tracer("shop")
for session, stream in shop.sessions():
    answers = langchain_agent.answers({"metadata": {"session_id": session}}, stream=stream)
    for _ in shop.QUESTIONS:
        with tracer.start_as_current_span("POST /chat", kind=trace.SpanKind.SERVER) as span:
            span.set_attribute("user.id", shop.user())
            next(answers)
wait_for_all_tracers()
