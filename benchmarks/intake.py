"""Intake: acknowledged and stored spans per second beside MLflow and Phoenix, bytes on disk, growth of memory.

The same client sends the same requests to each server, one after the other on one machine: traces of 20 turns whose
every model call repeats the history, texts that do not repeat between traces (``benchmarks.traces``).

- The door: spans acknowledged over the time of sending. Tidemill's 200 comes after fsync; every acknowledged span is
  found again in the database afterwards, or the run fails.
- Stored: spans in the database over the time from the first byte sent to the last span that is there; Tidemill's count
  as stored when their trace has its trajectory. Its drain starts when the sending ends.
- Bytes: the database with its log after everything is stored, over the uncompressed OTLP.
- Memory: how much the intake and the drain have grown from a tenth of ``--memory-spans`` to all of them, as a share.

    python -m benchmarks.intake --json
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a file or as a module

from benchmarks.intake_drain import drained, settle
from benchmarks.intake_memory import memory_of
from benchmarks.intake_servers import Mlflow, Peer, Phoenix, Server, Tidemill
from benchmarks.traces import Traces

TRACES_IN_A_REQUEST: Final = 5
STORED_WITHIN_S: Final = 600.0
OK: Final = 200


class Sent(NamedTuple):
    """What a client sent and what came of it."""

    spans: int
    bytes: int
    seconds: float
    refused: int


class Load:
    """Requests, made before they are sent."""

    def __init__(self, requests: int, seed: int) -> None:
        """Each holds ``TRACES_IN_A_REQUEST`` traces."""
        traces = Traces(seed, time.time_ns() - 3600 * 10**9)
        self.bodies = list(islice(traces.requests(TRACES_IN_A_REQUEST), requests))
        self.spans_each = TRACES_IN_A_REQUEST * traces.spans_of_a_trace

    def send(self, server: Server, clients: int, seconds: float) -> Sent:
        """Send each request once, until all are sent or the time is over."""
        waiting = iter(self.bodies)
        guard = threading.Lock()
        taken: list[tuple[int, bool]] = []
        deadline = time.perf_counter() + seconds

        def client() -> None:
            connection = HTTPConnection("127.0.0.1", server.port, timeout=120)
            headers = {"content-type": "application/x-protobuf", **server.headers}
            while time.perf_counter() < deadline:
                with guard:
                    body = next(waiting, None)
                if body is None:
                    return
                connection.request("POST", "/v1/traces", body, headers)
                answer = connection.getresponse()
                answer.read()
                taken.append((len(body), answer.status == OK))

        started = time.perf_counter()
        threads = [threading.Thread(target=client) for _ in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took = time.perf_counter() - started
        sizes = [size for size, accepted in taken if accepted]
        return Sent(len(sizes) * self.spans_each, sum(sizes), took, len(taken) - len(sizes))


def of_tidemill(load: Load, chosen: argparse.Namespace, *, masking: bool = False) -> dict[str, Any]:
    """Tidemill's figures."""
    with tempfile.TemporaryDirectory(prefix="tidemill-") as name:
        server = Tidemill(Path(name))
        server.start()
        try:
            sent = load.send(server, chosen.clients, chosen.seconds)
        finally:
            server.stop()
        report, took = drained(server.folder, chosen.workers, masking=masking)
        settle(server.folder)
        found = server.stored()
        if found != sent.spans or not report.balances:
            raise SystemExit(f"{sent.spans} spans were acknowledged and {found} are stored: {report}")
        return figures(sent, took, server) | {"drain_spans_per_second": round(sent.spans / took, 1)}


def of_peer(server: Peer, load: Load, chosen: argparse.Namespace) -> dict[str, Any]:
    """A peer's figures."""
    server.start()
    try:
        sent = load.send(server, chosen.clients, chosen.peer_seconds)
        started = time.perf_counter()
        while server.stored() < sent.spans and time.perf_counter() - started < STORED_WITHIN_S:
            time.sleep(0.1)
        took = time.perf_counter() - started
    finally:
        server.stop()
    return figures(sent, took, server) | {"lost": sent.spans - server.stored()}


def figures(sent: Sent, storing: float, server: Server) -> dict[str, Any]:
    """What was measured of one server."""
    return {
        "spans": sent.spans,
        "refused": sent.refused,
        "door_spans_per_second": round(sent.spans / sent.seconds, 1),
        "stored_spans_per_second": round(server.stored() / (sent.seconds + storing), 1),
        "bytes_stored_per_byte": round(server.bytes_on_disk() / sent.bytes, 4) if sent.bytes else None,
        "otlp_bytes_per_span": round(sent.bytes / sent.spans, 1) if sent.spans else None,
    }


def peers(chosen: argparse.Namespace, load: Load) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each peer's figures."""
    for kind in (Mlflow, Phoenix):
        with tempfile.TemporaryDirectory(prefix="tidemill-") as name:
            yield kind.name, of_peer(kind(Path(name), chosen.peers), load, chosen)


def measure(chosen: argparse.Namespace) -> dict[str, Any]:
    """Everything, side by side."""
    tell(chosen, "making requests")
    load = Load(chosen.requests, seed=1)
    found: dict[str, Any] = {"benchmark": "intake", "machine": {"cores": _cores()}, "turns": 20}
    for name, one in peers(chosen, load) if chosen.peers else ():
        found[name] = one
        tell(chosen, f"{name}: {one}")
    found["tidemill"] = mine = of_tidemill(load, chosen)
    tell(chosen, f"tidemill: {mine}")
    found["tidemill_masking_on"] = of_tidemill(Load(chosen.masked_requests, seed=2), chosen, masking=True)
    tell(chosen, f"tidemill, masking on: {found['tidemill_masking_on']}")
    for key, figure in (("door_ratio_best_peer", "door"), ("stored_ratio_best_peer", "stored")):
        theirs = [found[name][f"{figure}_spans_per_second"] for name in ("mlflow", "phoenix") if name in found]
        found[key] = round(mine[f"{figure}_spans_per_second"] / max(theirs), 2) if theirs else None
    found["bytes_stored_per_byte"] = mine["bytes_stored_per_byte"]
    found["memory"] = memory_of(chosen.memory_spans) if chosen.memory_spans else None
    found["memory_slope"] = None if found["memory"] is None else found["memory"]["slope"]
    return found


def tell(chosen: argparse.Namespace, what: str) -> None:
    """Progress, on the error stream."""
    if not chosen.json:
        print(what, file=sys.stderr)


def _cores() -> int:
    import os

    return len(os.sched_getaffinity(0))


def main() -> None:
    """Measure and print; the last line is JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true", help="print the JSON line only")
    parser.add_argument("--requests", type=int, default=1000, help="of 105 spans each")
    parser.add_argument("--masked-requests", type=int, default=4, help="requests of the run with masking on")
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=120.0, help="sending to Tidemill at most")
    parser.add_argument("--peer-seconds", type=float, default=30.0, help="sending to each peer at most")
    parser.add_argument("--workers", type=int, default=_cores(), help="processes of the drain")
    parser.add_argument("--peers", type=Path, default=None, help="folder of the peers' environments; none: no peers")
    parser.add_argument("--memory-spans", type=int, default=0, help="spans of the memory run (the goal is at 2000000)")
    print(json.dumps(measure(parser.parse_args())))


if __name__ == "__main__":
    main()
