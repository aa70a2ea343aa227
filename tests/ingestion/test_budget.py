"""The bytes of all requests in progress are bounded, and given back however a request ends."""

from __future__ import annotations

import asyncio
import gzip
import random
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from governance.keys import DerivedKeyProvider
from governance.ports.clock import RandomIds, SystemClock
from ingestion import intake
from ingestion.budget import Budget
from ingestion.errors import BudgetSpent, DecodeError
from ingestion.limits import Limits
from ingestion.otlp_decode import JSON, unpack_gzip
from ingestion.receiver import create_app
from ingestion.spool import Spool
from tests.ingestion.otlp_bodies import body, serving, span_json

KEY = {"x-tidemill-key": "key-of-acme", "content-type": JSON}
LIMITS = Limits(max_body_bytes=40_000, max_unpacked_bytes=60_000, max_bytes_in_flight=100_000, retry_after_s=7)


class Watched(Budget):
    """Keeps every level it stood at."""

    def __init__(self, limit: int, limit_of_tenant: int | None = None) -> None:
        self.levels = [0]
        super().__init__(limit, limit_of_tenant)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name == "_held":
            self.levels.append(value)


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    spool = Spool(tmp_path / "spool", DerivedKeyProvider("budget test"), SystemClock(), RandomIds())
    yield spool
    spool.close()


STEPS = st.tuples(st.integers(0, 3), st.sampled_from(["claim", "give_back", "leave"]), st.integers(0, 120))


@given(st.lists(STEPS, max_size=40))
def test_what_is_held_is_the_sum_of_the_shares_and_within_the_bound(steps: list[tuple[int, str, int]]) -> None:
    budget = Budget(100)
    shares = [budget.share() for _ in range(4)]
    for which, action, size in steps:
        before = budget.held()
        if action == "claim":
            try:
                shares[which].claim(size)
            except BudgetSpent:
                assert budget.held() == before
        elif action == "give_back":
            shares[which].give_back(size)
        else:
            with shares[which]:
                pass
            assert shares[which].held == 0
        assert 0 <= budget.held() == sum(share.held for share in shares) <= 100
    for share in shares:
        with share:
            pass
    assert budget.held() == 0


def test_threads_never_overdraw_it() -> None:
    budget = Watched(1_000)

    def work(seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(300):
            try:
                with budget.share() as share:
                    for _ in range(4):
                        share.claim(chance.randrange(300))
                        share.give_back(chance.randrange(200))
            except BudgetSpent:
                continue

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert min(budget.levels) == 0
    assert max(budget.levels) <= 1_000
    assert budget.held() == 0


def test_a_thread_that_outlives_its_request_claims_nothing() -> None:
    budget = Budget(100)
    with budget.share() as share:
        share.claim(10)
    with pytest.raises(BudgetSpent):
        share.claim(1)
    assert budget.held() == 0


@given(st.lists(st.binary(max_size=2_000), min_size=1, max_size=4), st.integers(1, 300))
def test_unpacking_in_steps_gives_the_same_and_claims_every_byte(members: list[bytes], repeat: int) -> None:
    plain = [member * repeat for member in members]
    claimed: list[int] = []
    packed = b"".join(gzip.compress(member) for member in plain)
    size = sum(map(len, plain))
    assert unpack_gzip(packed, size, claimed.append) == b"".join(plain)
    assert sum(claimed) == size
    with pytest.raises(DecodeError):
        unpack_gzip(packed[:-1], size)


def test_a_refused_claim_ends_unpacking_early() -> None:
    budget = Budget(1_000_000)
    with budget.share() as share, pytest.raises(BudgetSpent):
        unpack_gzip(gzip.compress(b"0" * 30_000_000), 32_000_000, share.claim)


def test_the_largest_lawful_body_must_fit() -> None:
    with pytest.raises(ValidationError, match="max_bytes_in_flight"):
        Limits(max_body_bytes=10, max_unpacked_bytes=10, max_bytes_in_flight=19)


def halfway(port: int, declared: int, sent: bytes) -> socket.socket:
    """A sender that stops before its body's end."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=10)
    head = f"POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-length: {declared}\r\n"
    head += "".join(f"{name}: {text}\r\n" for name, text in KEY.items())
    connection.sendall(head.encode() + b"\r\n" + sent)
    return connection


def test_a_spent_budget_says_come_back_and_a_disconnect_frees_it(spool: Spool, free_port: int) -> None:
    with serving(create_app(spool, {"key-of-acme": "acme"}, LIMITS), free_port) as url:
        slow = [halfway(free_port, 40_000, b" " * 39_900) for _ in range(2)]
        wait_for(url, 79_800)
        data = b" " * 30_000 + body(span_json(1))
        packed = gzip.compress(data)
        for content, headers in ((data, {}), (iter([data]), {}), (packed, {"content-encoding": "gzip"})):
            refused = httpx.post(f"{url}/v1/traces", content=content, headers=KEY | headers)
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "7")
            assert refused.json()["code"] == 14
        with halfway(free_port, 30_000, b"") as early:
            assert early.recv(12) == b"HTTP/1.1 503"
        assert httpx.post(f"{url}/v1/traces", content=body(span_json(1)), headers=KEY).status_code == 200
        for connection in slow:
            connection.close()
        wait_for(url, 0)
        assert httpx.post(f"{url}/v1/traces", content=data, headers=KEY).status_code == 200


def wait_for(url: str, held: int) -> None:
    line = f"tidemill_intake_bytes_in_flight {float(held)}"
    until = time.monotonic() + 10
    while line not in httpx.get(f"{url}/metrics").text:
        assert time.monotonic() < until, f"never came to {line}"
        time.sleep(0.02)


GOOD = body(*(span_json(number) for number in range(1, 60)))
REQUESTS: dict[str, tuple[list[bytes | None], dict[str, str]]] = {
    "good": ([GOOD[:900], GOOD[900:]], {}),
    "packed": ([gzip.compress(GOOD)], {"content-encoding": "gzip"}),
    "malformed": ([b"{", b"x" * 5_000], {}),
    "not gzip": ([b"x" * 5_000], {"content-encoding": "gzip"}),
    "cut gzip": ([gzip.compress(GOOD)[:-9]], {"content-encoding": "gzip"}),
    "bomb": ([gzip.compress(b" " * 900_000)], {"content-encoding": "gzip"}),
    "oversized": ([b"x" * 15_000] * 3, {}),
    "declared": ([], {"content-length": "40001"}),
    "left": ([b"x" * 9_000, None], {}),
    "left packed": ([gzip.compress(GOOD)[:200], None], {"content-encoding": "gzip"}),
    "cancelled": ([b"x" * 9_000, b"stay"], {}),
    "no key": ([GOOD], {"x-tidemill-key": "no"}),
}
"""What a sender does, chunk by chunk; None is a disconnect."""


async def send(app: FastAPI, kind: str) -> int:
    """One request, straight into the application. Its status; 0 when it was cancelled before an answer."""
    chunks, headers = REQUESTS[kind]
    waiting = list(chunks)
    statuses: list[int] = []

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(0)
        if waiting and waiting[0] == b"stay":
            await asyncio.sleep(60)
        chunk = waiting.pop(0) if waiting else b""
        if chunk is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": chunk, "more_body": bool(waiting)}

    async def answer(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    pairs = [(name.encode(), text.encode()) for name, text in (KEY | headers).items()]
    scope = {"type": "http", "method": "POST", "path": "/v1/traces", "headers": pairs, "query_string": b""}
    task = asyncio.ensure_future(app(scope, receive, answer))
    await asyncio.wait([task], timeout=0.05 if kind == "cancelled" else None)
    task.cancel()
    await asyncio.wait([task])
    return statuses[0] if statuses else 0


@settings(max_examples=25, deadline=None)
@given(kinds=st.lists(st.sampled_from(sorted(REQUESTS)), min_size=1, max_size=24))
def test_any_mix_of_requests_gives_everything_back(tmp_path_factory: Any, kinds: list[str]) -> None:
    budgets: list[Watched] = []

    def watched(limit: int, limit_of_tenant: int) -> Watched:
        budgets.append(Watched(limit, limit_of_tenant))
        return budgets[-1]

    folder = tmp_path_factory.mktemp("spool")
    spool = Spool(folder, DerivedKeyProvider("budget test"), SystemClock(), RandomIds())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intake, "Budget", watched)
        app = create_app(spool, {"key-of-acme": "acme"}, LIMITS)

    async def together() -> list[int]:
        return await asyncio.gather(*(send(app, kind) for kind in kinds))

    statuses = asyncio.run(together())
    spool.close()
    (budget,) = budgets
    assert budget.held() == 0
    assert min(budget.levels) >= 0
    assert max(budget.levels) <= LIMITS.max_bytes_in_flight
    assert set(statuses) <= {0, 200, 400, 403, 408, 413, 503}
    if len(kinds) == 1:
        assert statuses != [503]
