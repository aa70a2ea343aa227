"""opentelemetry-instrumentation-openai-v2 under the span of a request, as web frameworks make it."""

from __future__ import annotations

import openai_loop
import shop
import telemetry
from openai import OpenAI
from opentelemetry import trace
from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor

telemetry.start()
OpenAIInstrumentor().instrument()
tracer = trace.get_tracer("shop")
client = OpenAI(max_retries=0)
for session, stream in shop.sessions():
    answers = openai_loop.answers(client, stream=stream)
    for _ in shop.QUESTIONS:
        with tracer.start_as_current_span("POST /chat", kind=trace.SpanKind.SERVER) as span:
            span.set_attributes({"user.id": shop.user(), "session.id": session})
            next(answers)
