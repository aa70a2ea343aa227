"""Processor time of the drain, for each span and for each stage: one process, masking off, a fixed spool.

Traces of 20 turns whose every model call repeats the history (``benchmarks.traces``) are spooled as the door spools
them and drained several times, each time into a new database. ``time.process_time`` counts what this process computed
and never what it waited for, so a busy machine changes it little; the least of the runs is given. A stage is counted
without the stages that it calls:

- read: the segment opened and decoded, the owners of its traces found;
- dialects: messages out of attributes;
- door: rights, masking without detectors, carriers;
- assembly: trees, conversations, trajectories; signals apart;
- write: the transaction, with merging, packs and the ledger.

    python -m benchmarks.drain_cpu --json
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Final
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a file or as a module

from benchmarks.intake_drain import opened, spool_of
from benchmarks.traces import Traces
from ingestion.envelope import Envelope
from ingestion.otlp_decode import PROTOBUF

TRACES_IN_A_REQUEST: Final = 5
REST: Final = "rest"
STAGES: Final = {
    "ingestion.drain.read_groups": "read",
    "ingestion.admitting.items": "dialects",
    "governance.door.Door.admit": "door",
    "ingestion.assembler.Assembler.draft": "assembly",
    "ingestion.assembler.signals.detect": "signals",
    "ingestion.drain.Drain._commit": "write",
}


class Clock:
    """Processor time by stage, each moment counted for the innermost one."""

    def __init__(self) -> None:
        """Nothing is running."""
        self.spent: Counter[str] = Counter()
        self._stack = [REST]
        self._since = 0.0

    def wrap(self, stage: str, work: Callable[..., Any]) -> Callable[..., Any]:
        """The function, timed."""

        def timed(*given: Any, **named: Any) -> Any:
            self.turn()
            self._stack.append(stage)
            try:
                return work(*given, **named)
            finally:
                self.turn()
                self._stack.pop()

        return timed

    def start(self) -> None:
        """From now on."""
        self._since = time.process_time()

    def turn(self) -> None:
        """Count what has passed for what is running."""
        now = time.process_time()
        self.spent[self._stack[-1]] += now - self._since
        self._since = now


@contextmanager
def staged(clock: Clock) -> Iterator[None]:
    """Time the stages inside."""
    with ExitStack() as stack:
        for name, stage in STAGES.items():
            stack.enter_context(mock.patch(name, clock.wrap(stage, resolve_name(name))))
        yield


def spooled(folder: Path, requests: int) -> int:
    """Fill a folder's spool; how many spans are in it."""
    spool, traces = spool_of(folder), Traces(1, time.time_ns() - 3600 * 10**9)
    entries = TRACES_IN_A_REQUEST * traces.spans_of_a_trace
    for body in islice(traces.requests(TRACES_IN_A_REQUEST), requests):
        envelope = Envelope(content_type=PROTOBUF, received_unix_nano=time.time_ns(), entries=entries, body=body)
        spool.append("acme", envelope.pack())
    spool.close()
    return requests * entries


def drained(source: Path, spans: int) -> dict[str, float]:
    """Milliseconds of processor time for each span, by stage, of draining a copy of the spool into a new database."""
    clock = Clock()
    with tempfile.TemporaryDirectory(prefix="tidemill-") as name:
        shutil.copytree(source, Path(name) / "spool")
        with opened(name, masking=False) as drain, staged(clock):
            clock.start()
            report = drain.run()
            clock.turn()
    if report.received != spans or not report.balances:
        raise SystemExit(f"{spans} spans were spooled: {report}")
    return {stage: spent * 1000 / spans for stage, spent in clock.spent.items()}


def measure(chosen: argparse.Namespace) -> dict[str, Any]:
    """The run that took least."""
    with tempfile.TemporaryDirectory(prefix="tidemill-") as name:
        spans = spooled(Path(name), chosen.requests)
        runs = [drained(Path(name) / "spool", spans) for _ in range(chosen.runs)]
    totals = sorted(sum(run.values()) for run in runs)
    least = min(runs, key=lambda run: sum(run.values()))
    return {
        "benchmark": "drain_cpu",
        "spans": spans,
        "drain_cpu_ms_per_span": round(totals[0], 4),
        "all_runs": [round(total, 3) for total in totals],
        "stages": {stage: round(least.get(stage, 0.0), 4) for stage in (*STAGES.values(), REST)},
    }


def main() -> None:
    """Measure and print; the last line is JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true", help="print the JSON line only; nothing else is printed")
    parser.add_argument("--requests", type=int, default=64, help="of 105 spans each")
    parser.add_argument("--runs", type=int, default=5, help="drains of the same spool")
    print(json.dumps(measure(parser.parse_args())))


if __name__ == "__main__":
    main()
