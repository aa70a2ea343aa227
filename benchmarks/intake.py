"""Intake throughput: acknowledged spans per second over loopback, through the real receiver and a real disk.

A uvicorn process serves ``create_app`` on a free loopback port; client threads post protobuf bodies of agent spans for
a fixed time. A span counts when the 200 for its body has arrived, which is after fsync. Afterwards every acknowledged
span is read back from the spool and counted, so the figure is of durable spans or there is none.

    python -m benchmarks.intake --json
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import secrets
import socket
import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import httpx
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from governance.keys import DerivedKeyProvider
from governance.ports.clock import RandomIds, SystemClock
from governance.records.span import Span
from ingestion.envelope import Envelope
from ingestion.otlp_decode import PROTOBUF
from ingestion.receiver import create_app
from ingestion.spool import Spool

KEYS = DerivedKeyProvider("intake benchmark")
API_KEY = "benchmark-key"


def serve(folder: str, port: int) -> None:
    """The receiver in a process of its own."""
    import uvicorn

    spool = Spool(Path(folder), KEYS, SystemClock(), RandomIds(), max_bytes=8 * 2**30)
    uvicorn.run(create_app(spool, {API_KEY: "acme"}), host="127.0.0.1", port=port, log_level="error")
    spool.close()


def body(spans: int) -> bytes:
    """A protobuf export of that many agent spans, about 600 bytes each."""
    request = ExportTraceServiceRequest()
    scoped = request.resource_spans.add().scope_spans.add()
    now = time.time_ns()
    text = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Where is my order A-1001? " * 8}]}])
    for _ in range(spans):
        span = scoped.spans.add(name="chat tiny", kind=1, start_time_unix_nano=now, end_time_unix_nano=now + 1)
        span.trace_id, span.span_id = secrets.token_bytes(16), secrets.token_bytes(8)
        held = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "tiny", "gen_ai.input.messages": text}
        for key, value in held.items():
            span.attributes.add(key=key).value.string_value = value
        span.attributes.add(key="gen_ai.usage.input_tokens").value.int_value = 42
    data: bytes = request.SerializeToString()
    return data


class Load:
    """Client threads and what they saw."""

    def __init__(self, url: str, spans: int, seconds: float) -> None:
        """Each thread posts bodies of ``spans`` spans for ``seconds``."""
        self.url, self.spans, self.seconds = url, spans, seconds
        self.acknowledged = 0
        self.refused = 0
        self.latencies: list[float] = []
        self._guard = threading.Lock()

    def run(self, clients: int) -> float:
        """Post until the time is over; returns the wall time."""
        threads = [threading.Thread(target=self._post) for _ in range(clients)]
        started = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return time.perf_counter() - started

    def _post(self) -> None:
        headers = {"x-tidemill-key": API_KEY, "content-type": PROTOBUF}
        content = body(self.spans)
        deadline = time.perf_counter() + self.seconds
        with httpx.Client(timeout=30) as client:
            while (begun := time.perf_counter()) < deadline:
                ok = client.post(self.url, content=content, headers=headers).status_code == httpx.codes.OK
                with self._guard:
                    self.latencies.append(time.perf_counter() - begun)
                    self.acknowledged += self.spans if ok else 0
                    self.refused += 0 if ok else 1


def durable_spans(folder: str) -> int:
    """What the spool holds, read back."""
    spool = Spool(Path(folder), KEYS, SystemClock(), RandomIds())
    spool.seal()
    return sum(
        isinstance(item, Span)
        for segment_id in spool.sealed()
        for _, payload in spool.read(segment_id)
        for item in Envelope.unpack(payload).spans()
    )


def measure(seconds: float, clients: int, spans: int) -> dict[str, Any]:
    """One measurement."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        server = multiprocessing.get_context("spawn").Process(target=serve, args=(folder, port), daemon=True)
        server.start()
        try:
            _wait(f"http://127.0.0.1:{port}/health")
            load = Load(f"http://127.0.0.1:{port}/v1/traces", spans, seconds)
            wall = load.run(clients)
        finally:
            server.terminate()
            server.join(timeout=20)
        return _result(load, wall, clients, durable_spans(folder))


def _wait(url: str) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            httpx.get(url).raise_for_status()
        except httpx.HTTPError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit("the receiver did not start within a minute")


def _result(load: Load, wall: float, clients: int, durable: int) -> dict[str, Any]:
    ordered = sorted(load.latencies)
    return {
        "benchmark": "intake",
        "acknowledged_spans_per_second": round(load.acknowledged / wall, 1),
        "acknowledged": load.acknowledged,
        "durable": durable,
        "every_acknowledged_span_is_durable": durable >= load.acknowledged,
        "requests": len(ordered),
        "refused": load.refused,
        "latency_p50_ms": round(statistics.median(ordered) * 1000, 2),
        "latency_p99_ms": round(ordered[int(len(ordered) * 0.99)] * 1000, 2) if ordered else None,
        "seconds": round(wall, 2),
        "clients": clients,
        "spans_per_request": load.spans,
    }


def main() -> None:
    """Measure and print; the last line is JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true", help="print the JSON line only")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--spans", type=int, default=100, help="spans in each request")
    chosen = parser.parse_args()
    result = measure(min(chosen.seconds, 60.0), min(chosen.clients, 64), min(chosen.spans, 1000))
    if not chosen.json:
        rate = result["acknowledged_spans_per_second"]
        print(f"{rate} durable spans/s, p99 {result['latency_p99_ms']} ms, {clients_of(result)}")
    print(json.dumps(result))


def clients_of(result: dict[str, Any]) -> str:
    """The load in words."""
    return f"{result['clients']} clients with {result['spans_per_request']} spans a request"


if __name__ == "__main__":
    main()
