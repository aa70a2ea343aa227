"""kill -9 at random instants: intake and drain are killed while clients send, and the books still balance."""

from __future__ import annotations

import json
import random
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
from sqlalchemy import func, select

from governance.records.ledger import Fate
from governance.records.rights import Basis, Contract, Purpose, PurposeTerm
from governance.store import Store
from governance.store.tables_traces import SpansRow, TrajectoryRow
from ingestion.otlp_decode import JSON
from ingestion.telemetry import Telemetry
from tests.ingestion.crash_processes import TENANTS, Processes, drain_of, open_spool, open_store
from tests.ingestion.log_bodies import as_protobuf
from tests.ingestion.otlp_bodies import body, span_json
from tests.support.clock import START

SpanId = tuple[str, str, str]


@dataclass
class Batch:
    """What one request carries, and what is known of it."""

    tenant: str
    content: bytes
    spans: dict[SpanId, str]
    """Each good span and the text in it."""
    malformed: int


@dataclass
class Sent:
    """What the clients were told."""

    acknowledged: list[Batch] = field(default_factory=list)
    tried: dict[SpanId, str] = field(default_factory=dict)
    retried: int = 0
    """Good spans whose batch was acknowledged again."""
    malformed: int = 0
    wrong: list[str] = field(default_factory=list)
    """Answers that are neither an acknowledgement nor a request to come back."""


def make_batch(draw: random.Random, client: int, number: int) -> Batch:
    key = draw.choice(sorted(TENANTS))
    tenant = TENANTS[key]
    spans, made = {}, []
    for position in range(draw.randint(1, 6)):
        trace = f"{client + 1:04x}{number:08x}{position // 3:04x}{draw.getrandbits(64):016x}"
        name = f"client {client} batch {number} span {position}"
        asked = json.dumps([{"role": "user", "content": name}])
        held = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": asked, "user.id": f"u{client}"}
        made.append(span_json(position + 1, None, trace, name=name, attributes=held))
        spans[tenant, trace, f"{position + 1:016x}"] = name
    bad = draw.random() < 0.3
    made += [span_json(99) | {"traceId": "0" * 32}] if bad else []
    return Batch(tenant, body(*made), spans, int(bad))


class Client(threading.Thread):
    """Sends batches, each until it is acknowledged; half of the clients over gRPC."""

    def __init__(self, number: int, seed: int, ports: tuple[int, int], sent: Sent, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self._number, self._draw, self._sent, self._stop_asked = number, random.Random(seed), sent, stop
        self._key = {tenant: key for key, tenant in TENANTS.items()}
        self._post = self._over_grpc(ports[1]) if number % 2 else self._over_http(ports[0])

    def run(self) -> None:
        number = 0
        while not self._stop_asked.is_set():
            number += 1
            batch = make_batch(self._draw, self._number, number)
            self._sent.tried.update(batch.spans)
            self._deliver(batch)
            self._sent.acknowledged.append(batch)
            self._sent.malformed += batch.malformed
            if self._draw.random() < 0.3:  # as a client does whose answer was lost
                self._deliver(batch)
                self._sent.retried += len(batch.spans)
            time.sleep(self._draw.uniform(0.02, 0.12))  # enough is sent that every kill meets something in progress

    def _deliver(self, batch: Batch) -> None:
        while True:
            answer = self._post(batch)
            if answer == "taken":
                return
            if answer != "later":
                self._sent.wrong.append(answer)
                return
            time.sleep(self._draw.uniform(0.01, 0.1))

    def _over_http(self, port: int) -> Any:
        client = httpx.Client(timeout=5)

        def post(batch: Batch) -> str:
            headers = {"content-type": JSON, "x-tidemill-key": self._key[batch.tenant]}
            try:
                status = client.post(
                    f"http://127.0.0.1:{port}/v1/traces", content=batch.content, headers=headers
                ).status_code
            except httpx.HTTPError:
                return "later"
            return {200: "taken", 429: "later", 503: "later"}.get(status, f"HTTP {status}")

        return post

    def _over_grpc(self, port: int) -> Any:
        pause = [(f"grpc.{name}_reconnect_backoff_ms", 100) for name in ("initial", "min", "max")]
        call = grpc.insecure_channel(f"127.0.0.1:{port}", options=pause).unary_unary(
            f"/{Telemetry.TRACES.service}/Export"
        )

        def post(batch: Batch) -> str:
            try:
                call(as_protobuf(batch.content), timeout=5, metadata=(("x-tidemill-key", self._key[batch.tenant]),))
            except grpc.RpcError as error:
                code = error.code()
                passing = ("UNAVAILABLE", "RESOURCE_EXHAUSTED", "DEADLINE_EXCEEDED", "CANCELLED")
                return "later" if code.name in passing else f"gRPC {code}"
            return "taken"

        return post


class Scene:
    """The processes of one data home."""

    def __init__(self, root: Path, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url
        self.ports = free_ports()
        self.processes = Processes(root, folder / "processes.log")
        self.running: dict[str, int] = {}

    def start(self, role: str) -> None:
        held = {"folder": str(self.folder), "url": self.url, "http": self.ports[0], "grpc_port": self.ports[1]}
        self.running[role] = self.processes.start(role, **held)

    def kill(self, *roles: str) -> None:
        for role in roles:
            self.processes.end(self.running[role])

    def wait_until_served(self) -> None:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            with suppress(httpx.HTTPError):
                if httpx.get(f"http://127.0.0.1:{self.ports[0]}/health", timeout=2).status_code == 200:
                    return
            time.sleep(0.02)
        raise AssertionError((self.folder / "processes.log").read_text()[-2000:])


def free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as two:
        one.bind(("127.0.0.1", 0))
        two.bind(("127.0.0.1", 0))
        return one.getsockname()[1], two.getsockname()[1]


@pytest.fixture
def scene(root: Path, tmp_path: Path, database_url: str) -> Iterator[Scene]:
    store = open_store(database_url)
    terms = tuple(PurposeTerm(purpose=purpose, basis=Basis.CONTRACT) for purpose in Purpose)
    for tenant in TENANTS.values():
        early = START - timedelta(days=400)
        contract = Contract(id=f"c-{tenant}", tenant_id=tenant, terms=terms, valid_from=early, recorded_at=early)
        store.rights.add_contract(contract)
    store.close()
    made = Scene(root, tmp_path, database_url)
    yield made
    for pid in made.running.values():
        made.processes.end(pid)
    made.processes.close()


def play(scene: Scene, seed: int, rounds: int, clients: int = 4) -> Sent:
    """Send and kill, then let everything end in order."""
    draw, sent, stop = random.Random(seed), Sent(), threading.Event()
    for role in ("intake", "drain"):
        scene.start(role)
    scene.wait_until_served()
    senders = [Client(number, seed * 100 + number, scene.ports, sent, stop) for number in range(clients)]
    for sender in senders:
        sender.start()
    for _ in range(rounds):
        time.sleep(draw.uniform(0.02, 0.5))
        victims = draw.choice((["intake"], ["drain"], ["intake", "drain"]))
        scene.kill(*victims)
        for role in victims:
            scene.start(role)
        if draw.random() < 0.7:  # now and then it is killed again before it serves
            scene.wait_until_served()
    scene.wait_until_served()
    stop.set()
    for sender in senders:
        sender.join(timeout=60)
        assert not sender.is_alive()
    scene.processes.end(scene.running["intake"], signal.SIGTERM)
    scene.kill("drain")
    return sent


def check(scene: Scene, sent: Sent) -> None:
    """Every acknowledged span is there exactly once, and the ledger says what became of the rest."""
    assert sent.wrong == []
    assert len(sent.acknowledged) > 20
    spool, store = open_spool(scene.folder / "spool"), open_store(scene.url)
    report = drain_of(spool, store).run()
    assert (report.corrupt, report.waiting) == (0, 0)
    stored = stored_spans(store, {key[:2] for key in sent.tried})
    acknowledged = {key: text for batch in sent.acknowledged for key, text in batch.spans.items()}
    assert acknowledged.items() <= stored.items() <= sent.tried.items()
    fates: Counter[Fate] = Counter()
    for line in store.ledger.lines():
        assert line.balances, line
        fates.update({fate: sum(reasons.values()) for fate, reasons in line.fates.items()})
    assert fates[Fate.STORED] == len(stored)
    assert (fates[Fate.UPDATED], fates[Fate.QUARANTINED]) == (0, 0)
    assert fates[Fate.DUPLICATE] >= sent.retried > 0
    assert fates[Fate.REJECTED] >= sent.malformed > 0
    assert rows(store, TrajectoryRow) == len({key[:2] for key in stored})
    with store._kit.db.read() as connection:
        assert connection.scalar(select(func.sum(SpansRow.size))) == len(stored)
    left = [path.name for path in spool.folder.iterdir() if path.name != "writer.lock"]
    assert left == []
    store.close()


def stored_spans(store: Store, traces: set[tuple[str, str]]) -> dict[SpanId, str]:
    found = [item for trace in sorted(traces) for item in store.spans.trace(*trace, Purpose.DEBUG)]
    assert all(item.content is not None for item in found)
    return {(item.tenant_id, item.span.trace_id, item.span.span_id): item.span.name for item in found}


def rows(store: Store, table: Any) -> int:
    with store._kit.db.read() as connection:
        return connection.scalar(select(func.count()).select_from(table)) or 0


def test_killed_at_random_nothing_acknowledged_is_lost_and_nothing_doubled(scene: Scene) -> None:
    check(scene, play(scene, seed=3, rounds=5))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(11, 17))
def test_killed_at_random_for_minutes(scene: Scene, seed: int) -> None:
    check(scene, play(scene, seed, rounds=60, clients=8))
