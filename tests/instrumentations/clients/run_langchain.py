"""LangChain with openinference-instrumentation-langchain: the session in the run's metadata, as LangChain has it."""

from __future__ import annotations

import langchain_agent
import shop
import telemetry
from openinference.instrumentation import using_attributes
from openinference.instrumentation.langchain import LangChainInstrumentor

LangChainInstrumentor().instrument(tracer_provider=telemetry.start())
for session, stream in shop.sessions():
    answers = langchain_agent.answers({"metadata": {"session_id": session}}, stream=stream)
    for _ in shop.QUESTIONS:
        with using_attributes(user_id=shop.user()):
            next(answers)
