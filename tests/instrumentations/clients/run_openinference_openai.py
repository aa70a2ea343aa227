"""openinference-instrumentation-openai: person and session by ``using_attributes``, the request as an agent's span."""

from __future__ import annotations

import openai_loop
import shop
import telemetry
from openai import OpenAI
from openinference.instrumentation import using_attributes
from openinference.instrumentation.openai import OpenAIInstrumentor

provider = telemetry.start()
OpenAIInstrumentor().instrument(tracer_provider=provider)
tracer = provider.get_tracer("shop")
client = OpenAI(max_retries=0)
for session, stream in shop.sessions():
    answers = openai_loop.answers(client, stream=stream)
    for _ in shop.QUESTIONS:
        with using_attributes(user_id=shop.user(), session_id=session), tracer.start_as_current_span("chat"):
            next(answers)
