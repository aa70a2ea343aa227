"""The gateway: one release for each request, told truly, whatever is switched or broken meanwhile."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from governance.errors import StoreError
from governance.records.release import Deployment
from governance.store import Store
from serving.gateway import RELEASE_HEADER, create_app
from tests.serving.conftest import Upstream
from tests.serving.vllm_double import VllmDouble, serving
from tests.support.clock import ManualClock

SCOPE, OTHER = "shop@acme", "desk@acme+globex"
BODY = {"model": SCOPE, "prompt": [1, 2, 3], "max_tokens": 8, "return_token_ids": True}


class Flaky:
    """The store's deployments, which can be away, and counts reads."""

    def __init__(self, store: Store) -> None:
        self.store, self.away, self.reads = store, False, 0

    def current(self, scope: str) -> Deployment | None:
        self.reads += 1
        if self.away:
            raise StoreError("the database is away")
        return self.store.deployments.current(scope)


class Door:
    """A gateway before a double, with two releases in the store."""

    def __init__(self, upstream: Upstream, store: Store, clock: ManualClock) -> None:
        assert upstream.double is not None
        self.upstream, self.store, self.clock = upstream, store, clock
        self.double: VllmDouble = upstream.double
        self.table = Flaky(store)
        self.digests: dict[str, str] = {}
        for name in ("alpha", "beta"):
            bundle = upstream.bundle(name)
            store.releases.put(bundle, None, "test")
            self.digests[name] = bundle.release.digest()
            self.double.load(upstream.adapters[name][0].served_name, str(upstream.adapters[name][1]))
        self.version = 0
        self.switch("alpha")

    def served(self, name: str) -> str:
        return self.upstream.adapters[name][0].served_name

    def switch(self, name: str) -> None:
        self.store.deployments.switch(SCOPE, self.version, self.digests[name], "test", "tester")
        self.version += 1

    def app(self, **options: Any) -> FastAPI:
        return create_app(
            deployments=self.table,
            releases=self.store.releases,
            scopes=lambda: [SCOPE, OTHER],
            upstream_url=self.upstream.url,
            clock=self.clock,
            **options,
        )


@pytest.fixture
def door(double: Upstream, store: Store, clock: ManualClock) -> Door:
    return Door(double, store, clock)


@pytest.fixture
def client(door: Door) -> Iterator[httpx.Client]:
    with serving(door.app()) as url, httpx.Client(base_url=url, trust_env=False, timeout=20) as found:
        yield found


def ask(client: httpx.Client, **changes: Any) -> httpx.Response:
    return client.post("/v1/completions", json={**BODY, **changes})


def test_a_scope_is_answered_by_its_champion(door: Door, client: httpx.Client) -> None:
    """REG-03: every answer says which release gave it."""
    response = ask(client)
    assert response.status_code == 200
    assert response.headers[RELEASE_HEADER] == door.digests["alpha"]
    assert response.json()["model"] == door.served("alpha")
    assert door.double.requests[-1] == {**BODY, "model": door.served("alpha")}


def test_a_switch_is_seen_within_a_second(door: Door, client: httpx.Client) -> None:
    ask(client)
    door.switch("beta")
    door.clock.advance(seconds=1.1)
    response = ask(client)
    assert (response.headers[RELEASE_HEADER], response.json()["model"]) == (door.digests["beta"], door.served("beta"))


def test_the_table_is_read_once_a_second_at_most(door: Door, client: httpx.Client) -> None:
    ask(client)
    reads = door.table.reads
    for _ in range(5):
        ask(client)
    assert door.table.reads == reads


def test_a_request_under_way_finishes_on_its_release(door: Door) -> None:
    async def both() -> tuple[httpx.Response, httpx.Response]:
        transport = httpx.ASGITransport(door.app())
        async with httpx.AsyncClient(transport=transport, base_url="http://gateway", timeout=20) as client:
            door.double.hold.clear()
            slow = asyncio.create_task(client.post("/v1/completions", json=BODY))
            while not door.double.requests:
                await asyncio.sleep(0.01)
            door.switch("beta")
            door.clock.advance(seconds=2)
            door.double.hold.set()
            fast = await client.post("/v1/completions", json=BODY)
            return await slow, fast

    slow, fast = asyncio.run(both())
    assert (slow.headers[RELEASE_HEADER], slow.json()["model"]) == (door.digests["alpha"], door.served("alpha"))
    assert (fast.headers[RELEASE_HEADER], fast.json()["model"]) == (door.digests["beta"], door.served("beta"))


def test_an_unloaded_adapter_is_routed_anew(door: Door, client: httpx.Client) -> None:
    ask(client)
    door.switch("beta")
    door.double.unload(door.served("alpha"))
    response = ask(client)
    assert (response.status_code, response.headers[RELEASE_HEADER]) == (200, door.digests["beta"])
    door.double.unload(door.served("beta"))
    assert ask(client).status_code == 404


def test_another_model_s_answer_is_not_passed_on(door: Door, client: httpx.Client) -> None:
    door.double.lie_about_model = True
    response = ask(client)
    assert response.status_code == 502
    assert "another answered" in response.json()["error"]["message"]


def test_an_unknown_scope_is_told_what_there_is(client: httpx.Client) -> None:
    for name in ("shop@nobody", OTHER):
        response = ask(client, model=name)
        assert response.status_code == 404
        assert response.json()["error"]["scopes"] == [SCOPE]
    assert [model["id"] for model in client.get("/v1/models").json()["data"]] == [SCOPE]


def test_staleness_is_bounded(door: Door, client: httpx.Client) -> None:
    """REG-04: a route that cannot be read again is used for a second, and then it is an error."""
    assert ask(client).status_code == 200
    door.table.away = True
    assert ask(client).status_code == 200
    door.clock.advance(seconds=1.1)
    response = ask(client)
    assert response.status_code == 503
    assert "cannot be read" in response.json()["error"]["message"]
    door.table.away = False
    assert ask(client).status_code == 200


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"{}", b'{"model": 3}', b"[" * 100_000, b"\xff"])
def test_a_body_that_is_no_request_is_refused(client: httpx.Client, body: bytes) -> None:
    assert client.post("/v1/completions", content=body).status_code == 400


def test_bodies_are_bounded(door: Door) -> None:
    with serving(door.app(max_body_bytes=2000)) as url, httpx.Client(base_url=url, trust_env=False) as client:
        assert ask(client).status_code == 200
        assert ask(client, prompt="x" * 3000).status_code == 413
        chunks = iter([b"x" * 1500, b"x" * 1500])
        assert client.post("/v1/completions", content=chunks).status_code == 413


def test_a_key_opens_its_tenant_s_scopes(door: Door) -> None:
    door.store.deployments.switch(OTHER, 0, door.digests["beta"], "test", "tester")
    keys = {"k-acme": "acme", "k-globex": "globex"}
    with serving(door.app(tenant_keys=keys)) as url, httpx.Client(base_url=url, trust_env=False) as client:

        def status(scope: str, **headers: str) -> int:
            return client.post("/v1/completions", json={**BODY, "model": scope}, headers=headers).status_code

        assert status(SCOPE) == 401
        assert status(SCOPE, **{"x-tidemill-key": "wrong"}) == 401
        assert status(SCOPE, **{"x-tidemill-key": "k-acme"}) == 200
        assert status(SCOPE, authorization="Bearer k-acme") == 200
        assert status(SCOPE, **{"x-tidemill-key": "k-globex"}) == 403
        assert status(OTHER, **{"x-tidemill-key": "k-globex"}) == 200


def test_a_key_in_force_is_asked_for_on_each_request(door: Door) -> None:
    held = {"k-acme": "acme"}
    with serving(door.app(tenant_keys=lambda: held)) as url, httpx.Client(base_url=url, trust_env=False) as client:
        headers = {"x-tidemill-key": "k-acme"}
        assert client.post("/v1/completions", json=BODY, headers=headers).status_code == 200
        held.clear()
        assert client.post("/v1/completions", json=BODY, headers=headers).status_code == 401
        assert client.post("/v1/completions", json=BODY).status_code == 401


def test_a_chat_stream_passes_through(door: Door, client: httpx.Client) -> None:
    body = {"model": SCOPE, "messages": [{"role": "user", "content": "hello"}], "stream": True}
    with client.stream("POST", "/v1/chat/completions", json=body) as response:
        assert response.headers[RELEASE_HEADER] == door.digests["alpha"]
        assert response.headers["content-type"].startswith("text/event-stream")
        lines = [line for line in response.iter_lines() if line]
    assert len(lines) == 4
    assert json.loads(lines[0].removeprefix("data: "))["model"] == door.served("alpha")
    assert lines[-1] == "data: [DONE]"
    whole = client.post("/v1/chat/completions", json={**body, "stream": False})
    assert whole.json()["model"] == door.served("alpha")


def test_the_engine_s_errors_are_passed_on_and_its_absence_is_told(door: Door, client: httpx.Client) -> None:
    door.double.fail_with = 400
    assert ask(client).status_code == 400
    door.double.fail_with = 500
    assert ask(client).status_code == 500
    door.upstream.url = "http://127.0.0.1:9"
    with serving(door.app()) as url, httpx.Client(base_url=url, trust_env=False) as lonely:
        assert ask(lonely).status_code == 502
        assert lonely.get("/health").status_code == 503


def test_health_and_metrics(client: httpx.Client) -> None:
    ask(client)
    ask(client, model="made-up-name")
    assert client.get("/health").json() == {"status": "ok"}
    text = client.get("/metrics").text
    assert f'tidemill_gateway_requests_total{{scope="{SCOPE}",status="200"}} 1.0' in text
    assert 'tidemill_gateway_requests_total{scope="",status="404"} 1.0' in text
    assert "made-up-name" not in text
    assert "tidemill_gateway_in_flight 0.0" in text
