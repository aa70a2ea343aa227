"""openai-agents with openinference-instrumentation-openai-agents."""

from __future__ import annotations

import agents_sdk
import shop
import telemetry
from openinference.instrumentation import using_attributes
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

OpenAIAgentsInstrumentor().instrument(tracer_provider=telemetry.start())
for session, stream in shop.sessions():
    answers = agents_sdk.answers(stream=stream)
    for _ in shop.QUESTIONS:
        with using_attributes(user_id=shop.user(), session_id=session):
            next(answers)
