"""Synthetic agent traces for load: conversations of many turns whose every model call repeats the history.

A trace is a root ``invoke_agent`` span and one ``chat`` span for each turn, in the attribute form of the OpenTelemetry
GenAI conventions. Texts are drawn word by word from a vocabulary of 4,000 made-up words, so nothing repeats between
traces and nothing compresses better than such text does. Everything follows from the seed.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any, Final

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

TURNS: Final = 20
ASKED: Final = (6, 24)
"""Words of a question, at least and at most."""
ANSWERED: Final = (12, 48)
"""Words of an answer."""
_LETTERS: Final = "etaoinshrdlucmfwypvbgkjqxz"
SECOND: Final = 1_000_000_000


def vocabulary(size: int = 4000) -> list[str]:
    """Made-up words, shorter ones more often."""
    source = random.Random(7)
    weights = [1 / (place + 2) for place in range(len(_LETTERS))]
    return ["".join(source.choices(_LETTERS, weights, k=source.randint(2, 10))) for _ in range(size)]


class Traces:
    """Traces one after the other, as OTLP requests."""

    def __init__(self, seed: int, start_unix_nano: int, turns: int = TURNS) -> None:
        """``start_unix_nano`` is when the first trace begins; each begins a millisecond later."""
        self._source = random.Random(seed)
        self._words = vocabulary()
        self._start = start_unix_nano
        self._turns = turns
        self._count = 0

    @property
    def spans_of_a_trace(self) -> int:
        """The root and a model call for each turn."""
        return self._turns + 1

    def requests(self, traces: int) -> Iterator[bytes]:
        """Export requests of that many traces each, without end."""
        while True:
            request = ExportTraceServiceRequest()
            group = request.resource_spans.add()
            _put(group.resource, {"service.name": "assistant", "telemetry.sdk.language": "python"})
            scoped = group.scope_spans.add()
            scoped.scope.name = "assistant.tracing"
            for _ in range(traces):
                self._trace(scoped)
            yield request.SerializeToString()

    def _trace(self, scoped: Any) -> None:
        self._count += 1
        start = self._start + self._count * 1_000_000
        trace_id, root_id = self._source.randbytes(16), self._source.randbytes(8)
        session = f"session-{self._source.getrandbits(64):016x}"
        common = {"gen_ai.provider.name": "openai", "gen_ai.conversation.id": session}
        history: list[dict[str, Any]] = []
        for turn in range(self._turns):
            history.append(_message("user", self._text(ASKED)))
            answer = _message("assistant", self._text(ANSWERED))
            span = _span(scoped, trace_id, self._source.randbytes(8), "chat small", start + turn * SECOND)
            span.parent_span_id = root_id
            _put(span, common | self._call(history, answer))
            history.append(answer)
        root = _span(scoped, trace_id, root_id, "invoke_agent assistant", start)
        root.end_time_unix_nano = start + self._turns * SECOND
        person = f"person-{self._source.getrandbits(40):010x}"
        _put(
            root,
            common | {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "assistant", "user.id": person},
        )

    def _call(self, history: list[dict[str, Any]], answer: dict[str, Any]) -> dict[str, Any]:
        return {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "small",
            "gen_ai.response.model": "small-1",
            "gen_ai.response.id": f"resp-{self._source.getrandbits(64):016x}",
            "gen_ai.response.finish_reasons": "stop",
            "gen_ai.request.temperature": 0.2,
            "gen_ai.usage.input_tokens": 40 * len(history),
            "gen_ai.usage.output_tokens": 40,
            "gen_ai.input.messages": json.dumps(history),
            "gen_ai.output.messages": json.dumps([answer | {"finish_reason": "stop"}]),
        }

    def _text(self, bounds: tuple[int, int]) -> str:
        return " ".join(self._source.choices(self._words, k=self._source.randint(*bounds)))


def _message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def _span(scoped: Any, trace_id: bytes, span_id: bytes, name: str, start: int) -> Any:
    span = scoped.spans.add(name=name, kind=3, start_time_unix_nano=start, end_time_unix_nano=start + SECOND)
    span.trace_id, span.span_id = trace_id, span_id
    return span


def _put(holder: Any, attributes: dict[str, Any]) -> None:
    for key, value in attributes.items():
        held = holder.attributes.add(key=key).value
        if isinstance(value, str):
            held.string_value = value
        elif isinstance(value, int):
            held.int_value = value
        else:
            held.double_value = value
