"""How memory grows: many spans through one intake and one drain that stay, their resident size read on the way."""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final

from benchmarks.intake_drain import opened
from benchmarks.intake_servers import Tidemill
from benchmarks.traces import Traces

WARM: Final = 0.1
"""Share of the spans after which growth counts."""
WAVES: Final = 40
TRACES: Final = 5


def memory_of(spans: int) -> dict[str, Any]:
    """Growth of the intake and of a drain over ``spans`` spans, each as a share of its size at a tenth of them."""
    with tempfile.TemporaryDirectory(prefix="tidemill-") as name:
        server = Tidemill(Path(name))
        server.start()
        here, there = multiprocessing.get_context("spawn").Pipe()
        drain = multiprocessing.get_context("spawn").Process(target=_drains, args=(name, there), daemon=True)
        drain.start()
        try:
            sizes = _waves(server, here, drain.pid, spans)
        finally:
            server.stop()
            drain.terminate()
            drain.join(timeout=60)
    first = next(one for one in sizes if one[0] >= spans * WARM)
    last = sizes[-1]
    slopes = {part: round(last[place] / first[place] - 1, 4) for place, part in ((1, "intake"), (2, "drain"))}
    return {"spans": last[0], "slope": max(slopes.values()), **slopes, "mebibytes": [last[1] >> 20, last[2] >> 20]}


def _waves(server: Tidemill, drain: Any, drain_pid: int | None, spans: int) -> list[tuple[int, int, int]]:
    """(spans so far, bytes of the intake, bytes of the drain) after each wave."""
    traces = Traces(3, time.time_ns() - 3600 * 10**9)
    bodies = traces.requests(TRACES)
    each = TRACES * traces.spans_of_a_trace
    headers = {"content-type": "application/x-protobuf", **server.headers}
    sizes: list[tuple[int, int, int]] = []
    sent = 0
    for wave in range(1, WAVES + 1):
        connection = HTTPConnection("127.0.0.1", server.port, timeout=120)  # an idle one is closed by the server
        while sent < spans * wave / WAVES:
            connection.request("POST", "/v1/traces", next(bodies), headers)
            connection.getresponse().read()
            sent += each
        connection.close()
        drain.send(wave)
        if drain.recv() != sent:
            raise SystemExit(f"{sent} spans were sent, and the drain has another number")
        sizes.append((sent, _resident(server.process.pid), _resident(drain_pid)))
    return sizes


def _drains(folder: str, line: Any) -> None:
    """Drain whenever asked; say how many spans there were in all."""
    total = 0
    with opened(folder, masking=False) as drain:
        while True:
            line.recv()
            total += drain.run().received
            line.send(total)


def _resident(pid: int | None) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * 4096
