"""What the engine client does when the engine does not do what it should."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from governance.ports.engine import Completion, CompletionRequest
from governance.records.harness import Sampling
from serving.errors import EngineBroken, EngineRejected, EngineUnavailable
from serving.vllm_admin import VllmAdmin
from serving.vllm_engine import VllmEngine, completion_of, payload
from tests.serving.conftest import Upstream

REQUEST = CompletionRequest(
    model="base",
    messages=(),
    prompt_token_ids=(1, 2, 3),
    tools=("reply",),
    action_schema={"type": "object", "properties": {"tool": {"const": "reply"}}},
    sampling=Sampling(),
)
ANSWER: dict[str, Any] = {
    "id": "r",
    "model": "base",
    "choices": [{"text": "x", "token_ids": [1], "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 1},
}


def complete(url: str, **options: Any) -> Completion:
    async def once() -> Completion:
        async with VllmEngine(url, pause=0.01, **options) as engine:
            return await engine.complete(REQUEST)

    return asyncio.run(once())


def pump(source: socket.socket, target: socket.socket) -> None:
    """Pass bytes on until either side is gone."""
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        return


@contextmanager
def hanging_up(times: int, target: str) -> Iterator[str]:
    """A port that hangs up on the first connections and then passes bytes on to ``target``."""
    host, port = target.removeprefix("http://").split(":")
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            for number in range(times + 1):
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                if number < times:
                    connection.close()
                    continue
                with connection, socket.create_connection((host, int(port))) as upstream:
                    threading.Thread(target=pump, args=(connection, upstream), daemon=True).start()
                    pump(upstream, connection)

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def test_a_lost_connection_is_tried_again(double: Upstream) -> None:
    with hanging_up(2, double.url) as url:
        assert complete(url).model == "base"


def test_nobody_at_the_port_is_unavailable(free_port: int) -> None:
    with pytest.raises(EngineUnavailable, match="ConnectError"):
        complete(f"http://127.0.0.1:{free_port}")
    with VllmAdmin(f"http://127.0.0.1:{free_port}") as admin, pytest.raises(EngineUnavailable):
        admin.adapters()


def test_a_5xx_and_a_4xx_are_told_apart_and_not_repeated(double: Upstream) -> None:
    assert double.double is not None
    for status, error in ((503, EngineUnavailable), (400, EngineRejected)):
        double.double.fail_with = status
        double.double.requests.clear()
        with pytest.raises(error, match="told to fail"):
            complete(double.url)
        assert len(double.double.requests) == 1


def test_a_time_limit_is_not_repeated(double: Upstream) -> None:
    assert double.double is not None
    double.double.hold.clear()
    try:
        with pytest.raises(EngineUnavailable, match="ReadTimeout"):
            complete(double.url, timeout=0.3)
    finally:
        double.double.hold.set()
    assert len(double.double.requests) == 1


def test_another_model_s_answer_is_broken(double: Upstream) -> None:
    assert double.double is not None
    double.double.lie_about_model = True
    with pytest.raises(EngineBroken, match="another answered"):
        complete(double.url)
    with VllmAdmin(double.url) as admin, pytest.raises(EngineBroken, match="another scored"):
        admin.logprobs("base", [1, 2, 3])


@pytest.mark.parametrize(
    "change",
    [
        {"choices": []},
        {"usage": None},
        {"choices": [{"text": "x", "finish_reason": "stop"}]},
        {"choices": [{"text": "x", "finish_reason": "stop", "token_ids": None}]},
        {"choices": [{"text": None, "finish_reason": "stop", "token_ids": [1]}]},
    ],
)
def test_an_answer_without_its_parts_is_broken(change: dict[str, Any]) -> None:
    assert completion_of(REQUEST, ANSWER).token_ids == (1,)
    with pytest.raises(EngineBroken):
        completion_of(REQUEST, {**ANSWER, **change})


@pytest.mark.parametrize("content", [b"", b"hello", b"[]", b"\xff"])
def test_an_answer_that_is_no_object_is_broken(content: bytes) -> None:
    response = httpx.Response(200, content=content, request=httpx.Request("GET", "http://engine/v1/models"))
    with pytest.raises(EngineBroken):
        payload(response)


def test_one_engine_serves_several_event_loops(double: Upstream) -> None:
    engine = VllmEngine(double.url)
    for _ in range(2):
        assert asyncio.run(engine.complete(REQUEST)).model == "base"
    asyncio.run(engine.aclose())
