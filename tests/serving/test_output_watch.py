"""The watch on answers: what a model lets out is counted and flagged, streamed or whole; what it was given is not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

from governance.keys import DerivedKeyProvider
from governance.masking.output_check import KeyedSurrogateCheck
from governance.masking.surrogate import Surrogates
from serving.gateway_metrics import GatewayMetrics
from serving.output_watch import SURROGATES_HEADER, OutputWatch, said_in
from tests.support.clock import ManualClock

KEYS = DerivedKeyProvider("watch")
NAME = Surrogates(KEYS, "acme").make("PERSON", "Anna")
SCOPE = "shop@acme"
ASKED = {"messages": [{"role": "user", "content": "Who is it?"}]}


def answer(text: str) -> bytes:
    return json.dumps({"choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]}).encode()


def events(text: str) -> list[bytes]:
    pieces = [text[place : place + 3] for place in range(0, len(text), 3)]
    made = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces]
    return [*(f"data: {json.dumps(one)}\n\n".encode() for one in made), b"data: [DONE]\n\n"]


def counted(metrics: GatewayMetrics) -> float:
    lines = metrics.render().decode().splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith("tidemill_gateway_surrogates_total"))


def test_a_surrogate_of_the_models_own_is_flagged_and_counted(clock: ManualClock) -> None:
    metrics = GatewayMetrics(clock)
    watch = OutputWatch(KeyedSurrogateCheck(KEYS), metrics)
    assert asyncio.run(watch.whole(SCOPE, ASKED, answer(f"It is {NAME}."))) == {SURROGATES_HEADER: "PERSON"}
    given = {"messages": [{"role": "user", "content": f"I am {NAME}"}]}
    assert asyncio.run(watch.whole(SCOPE, given, answer(f"It is {NAME}."))) == {}
    assert asyncio.run(watch.whole(SCOPE, ASKED, answer("It is Clara."))) == {}
    assert asyncio.run(OutputWatch(None, metrics).whole(SCOPE, ASKED, answer(NAME))) == {}
    assert counted(metrics) == 1


def test_a_stream_passes_as_it_comes_and_is_counted_at_its_end(clock: ManualClock) -> None:
    metrics = GatewayMetrics(clock)
    watch = OutputWatch(KeyedSurrogateCheck(KEYS), metrics)
    sent = events(f"It is {NAME}, I think.")

    async def chunks() -> AsyncIterator[bytes]:
        for chunk in sent:
            yield chunk

    async def collect() -> list[bytes]:
        return [chunk async for chunk in watch.stream(SCOPE, ASKED, chunks())]

    assert asyncio.run(collect()) == sent
    assert counted(metrics) == 1


def test_what_an_answer_says() -> None:
    call = {"function": {"name": "f", "arguments": '{"a": 1}'}}
    whole = {"choices": [{"index": 0, "message": {"content": None, "tool_calls": [call]}}, {"index": 1, "text": "b"}]}
    assert said_in(json.dumps(whole).encode()) == '{"a": 1}\nb'
    assert said_in(b"not json") == said_in(b"[1]") == said_in(b"\xff") == ""
