"""No sender can hold the intake: places and bytes per tenant, time for head and body, a prompt end, errors in form."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
import uvicorn
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]

from governance.keys import DerivedKeyProvider
from governance.ports.clock import RandomIds, SystemClock
from ingestion import http_protocol
from ingestion.budget import Budget
from ingestion.envelope import Envelope
from ingestion.errors import BudgetSpent
from ingestion.http_protocol import IntakeProtocol
from ingestion.intake import Intake
from ingestion.limits import Limits
from ingestion.otlp_decode import JSON, PROTOBUF
from ingestion.receiver import app_of
from ingestion.spool import Spool
from ingestion.telemetry import Telemetry
from tests.ingestion.doors import export, grpc_open
from tests.ingestion.log_bodies import as_protobuf
from tests.ingestion.otlp_bodies import body, span_json

ACME = {"x-tidemill-key": "key-of-acme", "content-type": JSON}
BOLT = ACME | {"x-tidemill-key": "key-of-bolt"}
GOOD = body(span_json(1))


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    spool = Spool(tmp_path / "spool", DerivedKeyProvider("places"), SystemClock(), RandomIds())
    yield spool
    spool.close()


def intake(spool: Spool, **limits: Any) -> Intake:
    return Intake(spool, {"key-of-acme": "acme", "key-of-bolt": "bolt"}, Limits(**limits))


@contextmanager
def served(made: Intake, port: int) -> Iterator[str]:
    """As the control process serves it."""
    config = uvicorn.Config(
        app_of(made), "127.0.0.1", port, log_level="critical", http=IntakeProtocol, timeout_graceful_shutdown=10
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        made.leave()
        server.should_exit = True
        thread.join(timeout=15)
        assert not thread.is_alive()


def slow(port: int, headers: dict[str, str], size: int = 1000, sent: bytes = b"{") -> socket.socket:
    """A sender that stops in the middle of its body."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=15)
    head = "".join(f"{name}: {text}\r\n" for name, text in headers.items())
    connection.sendall(f"POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-length: {size}\r\n{head}\r\n".encode() + sent)
    return connection


def answer(connection: socket.socket) -> tuple[int, dict[str, Any], bytes]:
    """Status, JSON and head of what the intake says until it closes or has said it."""
    data = b""
    while b"\r\n\r\n" not in data or len(data.partition(b"\r\n\r\n")[2]) < _length(data):
        chunk = connection.recv(65536)
        if not chunk:
            break
        data += chunk
    head, _, content = data.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(content), head.lower()


def _length(data: bytes) -> int:
    return int(data.lower().split(b"content-length: ")[1].split(b"\r\n")[0])


def post(url: str, headers: dict[str, str], content: bytes = GOOD) -> httpx.Response:
    return httpx.post(f"{url}/v1/traces", content=content, headers=headers, timeout=20)


def wait_for(made: Intake, places: int) -> None:
    deadline = time.monotonic() + 10
    while made._places._taken != places:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_one_key_cannot_hold_every_place(spool: Spool, free_port: int) -> None:
    made = intake(spool, max_in_flight=8, max_in_flight_of_tenant=5)
    with served(made, free_port) as url, ExitStack() as senders:
        held = [senders.enter_context(slow(free_port, ACME)) for _ in range(5)]
        wait_for(made, 5)
        refused = post(url, ACME)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "5")
        assert "of this tenant" in refused.json()["message"]
        assert post(url, BOLT).status_code == 200
        held[0].close()
        wait_for(made, 4)
        assert post(url, ACME).status_code == 200


def test_one_key_cannot_hold_every_byte(spool: Spool, free_port: int) -> None:
    bounds = {"max_body_bytes": 40_000, "max_unpacked_bytes": 60_000}
    made = intake(spool, max_bytes_in_flight=200_000, max_bytes_of_tenant=100_000, **bounds)
    padded = b" " * 35_000 + GOOD
    with served(made, free_port) as url, ExitStack() as senders:
        for _ in range(2):
            senders.enter_context(slow(free_port, ACME, 40_000, b" " * 39_900))
        deadline = time.monotonic() + 10
        while made._budget.held() < 79_800:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert post(url, ACME, padded).status_code == 503
        assert post(url, BOLT, padded).status_code == 200
        assert post(url, BOLT | {"content-encoding": "gzip"}, gzip.compress(padded)).status_code == 200


def test_a_tenants_share_is_given_back() -> None:
    budget = Budget(100, 60)
    with budget.share() as one, budget.share() as two, budget.share() as other:
        one.tenant = two.tenant = "acme"
        other.tenant = "bolt"
        one.claim(40)
        with pytest.raises(BudgetSpent, match="tenant holds 40 of 60"):
            two.claim(21)
        two.claim(20)
        other.claim(40)
        one.give_back(30)
        two.claim(30)
    assert budget.held() == 0
    assert dict(budget._of) == {}


@pytest.mark.parametrize("name", ["max_bytes_in_flight", "max_bytes_of_tenant"])
def test_a_bound_that_no_body_fits_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        Limits(**{name: 2**20})


def test_the_end_does_not_wait_for_slow_bodies(spool: Spool, free_port: int) -> None:
    made = intake(spool)
    with served(made, free_port) as url, grpc_open(made) as address, ExitStack() as senders:
        held = [senders.enter_context(slow(free_port, ACME)) for _ in range(3)]
        waiting = SlowCall(address, "key-of-acme")
        wait_for(made, 4)
        started = time.monotonic()
        made.leave()
        told = [answer(connection) for connection in held]
        assert [status for status, _, _ in told] == [503] * 3
        assert all(b"retry-after: 5" in head and "ending" in said["message"] for _, said, head in told)
        assert waiting.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert post(url, ACME).status_code == 503
        with pytest.raises(grpc.RpcError):
            export(address, as_protobuf(GOOD), {"x-tidemill-key": "key-of-acme"})
        assert time.monotonic() - started < 5
    assert time.monotonic() - started < 8


class SlowCall:
    """A gRPC call whose message does not come."""

    def __init__(self, address: str, key: str) -> None:
        self._go = threading.Event()
        self.channel = grpc.insecure_channel(address)
        call = self.channel.stream_unary(f"/{Telemetry.TRACES.service}/Export")
        self._future = call.future(self._messages(), metadata=(("x-tidemill-key", key),), timeout=30)

    def _messages(self) -> Iterator[bytes]:
        self._go.wait(30)
        yield from ()

    def code(self) -> grpc.StatusCode:
        code: grpc.StatusCode = self._future.exception(timeout=20).code()
        self._go.set()
        self.channel.close()
        return code


def test_a_body_that_comes_too_late_may_come_again(spool: Spool, free_port: int) -> None:
    with served(intake(spool, body_timeout_s=0.3), free_port), slow(free_port, ACME) as connection:
        status, said, head = answer(connection)
    assert (status, said["code"]) == (503, 14)
    assert b"retry-after: 5" in head


def test_a_message_has_the_time_of_a_body(spool: Spool) -> None:
    with grpc_open(intake(spool, body_timeout_s=0.3)) as address:
        assert SlowCall(address, "key-of-acme").code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert SlowCall(address, "no").code() is grpc.StatusCode.PERMISSION_DENIED


@pytest.mark.parametrize("count", [0, 2])
def test_a_call_holds_one_message(spool: Spool, count: int) -> None:
    with grpc_open(intake(spool)) as address, grpc.insecure_channel(address) as channel:
        call = channel.stream_unary(f"/{Telemetry.TRACES.service}/Export")
        with pytest.raises(grpc.RpcError) as caught:
            call(iter([as_protobuf(GOOD)] * count), metadata=(("x-tidemill-key", "key-of-acme"),), timeout=20)
    error: Any = caught.value
    assert (error.code(), "exactly one message" in error.details()) == (grpc.StatusCode.INVALID_ARGUMENT, True)


@pytest.mark.parametrize(
    "sent",
    [b"\x16\x03\x01\x02\x00\x01", b"GET\r\n\r\n", b"POST /v1/traces HTTP/1.1\r\nbad header\r\n\r\n", b"\x00" * 20],
)
def test_what_is_no_http_is_said_in_form(spool: Spool, free_port: int, sent: bytes) -> None:
    with served(intake(spool), free_port), socket.create_connection(("127.0.0.1", free_port), timeout=10) as connection:
        connection.sendall(sent)
        status, said, head = answer(connection)
        assert (status, said["code"]) == (400, 3)
        assert b"content-type: application/json" in head
        assert connection.recv(10) == b""


def test_a_head_has_its_time_and_its_size(spool: Spool, free_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IntakeProtocol, "head_seconds", 0.4)
    with served(intake(spool), free_port) as url:
        for sent in (b"", b"POST /v1/traces HTTP/1.1\r\nhost: x\r\nx-a: "):
            with socket.create_connection(("127.0.0.1", free_port), timeout=10) as connection:
                connection.sendall(sent)
                assert answer(connection)[0] == 408
        for part in (b"x-a: b\r\n" * 1000, b"y" * 20_000):
            with socket.create_connection(("127.0.0.1", free_port), timeout=10) as connection:
                connection.sendall(b"POST /v1/traces HTTP/1.1\r\n" + (b"x-b: " if part[:1] == b"y" else b""))
                for _ in range(1 + http_protocol.HEAD_BYTES // len(part)):
                    connection.sendall(part)
                assert answer(connection)[0] == 431
        with httpx.Client() as client:  # one connection: the time counts anew for each request, not over a body
            for _ in range(3):
                assert client.post(f"{url}/v1/traces", content=GOOD, headers=ACME).status_code == 200
                time.sleep(0.3)
        with slow(free_port, ACME, len(GOOD), GOOD[:9]) as connection:
            time.sleep(0.6)
            connection.sendall(GOOD[9:])
            assert answer(connection)[0] == 200


@pytest.mark.parametrize("content_type", [JSON, PROTOBUF])
def test_a_failure_of_the_intake_is_said_in_form(
    spool: Spool, free_port: int, monkeypatch: pytest.MonkeyPatch, content_type: str
) -> None:
    made = intake(spool)
    monkeypatch.setattr(made, "take", lambda *_: (_ for _ in ()).throw(RuntimeError("a secret")))
    with served(made, free_port) as url:
        reply = post(url, ACME | {"content-type": content_type})
        metrics = httpx.get(f"{url}/metrics").text
    assert (reply.status_code, reply.headers["content-type"]) == (500, content_type)
    code = Status.FromString(reply.content).code if content_type == PROTOBUF else reply.json()["code"]
    assert code == 13
    assert b"secret" not in reply.content
    assert 'tidemill_intake_requests_total{status="500"} 1.0' in metrics
    assert "tidemill_intake_bytes_in_flight 0.0" in metrics


def test_few_large_bodies_are_read_at_a_time(spool: Spool, free_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made = intake(spool, decoders=2)
    at_once, most = [0], [0]
    guard = threading.Lock()
    real = Envelope.spans

    def counted(envelope: Envelope) -> Any:
        with guard:
            at_once[0] += 1
            most[0] = max(most[0], at_once[0])
        time.sleep(0.1)
        try:
            return real(envelope)
        finally:
            with guard:
                at_once[0] -= 1

    monkeypatch.setattr(Envelope, "spans", counted)
    large = b" " * 100_000 + GOOD

    async def many(url: str) -> list[int]:
        async with httpx.AsyncClient(timeout=30) as client:
            sent = [client.post(f"{url}/v1/traces", content=large, headers=ACME) for _ in range(12)]
            return [reply.status_code for reply in await asyncio.gather(*sent)]

    with served(made, free_port) as url:
        assert asyncio.run(many(url)) == [200] * 12
    assert most[0] == 2
