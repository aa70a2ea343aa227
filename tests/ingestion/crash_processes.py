"""An intake and a drain as processes of their own, started in an instant so that they can be killed many times.

Run as a script it is the parent of both: everything is imported once, and each line on standard input
(``{"role": ..., ...}``) forks a process of that role and is answered with its pid. What it runs is what the control
process runs: the spool, both doors and ``pipelines.control.run``.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import grpc  # noqa: F401 - loaded before the forks

from governance.door import Door
from governance.keys import DerivedKeyProvider
from governance.ports.clock import RandomIds, SystemClock
from governance.store import Store
from ingestion.drain import Drain
from ingestion.intake import Intake
from ingestion.spool import Spool
from pipelines import control
from pipelines.settings import load_settings
from tests.ingestion.otlp_bodies import MailMasker

KEYS = DerivedKeyProvider("crash test")
TENANTS = {"key-of-acme": "acme", "key-of-bolt": "bolt"}


def open_spool(folder: Path) -> Spool:
    age = timedelta(seconds=0.3)
    return Spool(folder, KEYS, SystemClock(), RandomIds(), max_segment_bytes=60_000, max_segment_age=age)


def open_store(url: str) -> Store:
    return Store.open(url, clock=SystemClock(), block_key=lambda tenant: tenant.encode())


def drain_of(spool: Spool, store: Store) -> Drain:
    door = Door(store, MailMasker(), KEYS, SystemClock())
    return Drain(spool, door, store, clock=SystemClock(), hold=timedelta(0))


def serve(folder: str, url: str, http: int, grpc_port: int) -> None:
    """Both doors until SIGTERM."""
    settings = load_settings(data_home=folder, intake_port=http, intake_grpc_port=grpc_port)
    spool = open_spool(Path(folder) / "spool")
    intake = Intake(spool, TENANTS)
    doors = control.intake_server(intake, settings), control.grpc_door(intake, settings)
    asyncio.run(control.run([doors[0]], doors[1], intake.leave))
    spool.close()


def drain(folder: str, url: str, http: int, grpc_port: int) -> None:
    """Drain again and again."""
    runs = drain_of(open_spool(Path(folder) / "spool"), open_store(url))
    while True:
        runs.run()
        time.sleep(0.02)


ROLES: dict[str, Callable[..., None]] = {"intake": serve, "drain": drain}


class Processes:
    """Starts and kills them."""

    def __init__(self, root: Path, log: Path) -> None:
        self._log = log.open("ab")
        self._parent = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, cwd=root
        )

    def start(self, role: str, **held: Any) -> int:
        """The pid of a new process of that role."""
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        self._parent.stdin.write(json.dumps({"role": role, **held}).encode() + b"\n")
        self._parent.stdin.flush()
        return int(self._parent.stdout.readline())

    def end(self, pid: int, number: signal.Signals = signal.SIGKILL) -> None:
        """Send the signal and return when the process is gone."""
        with suppress(ProcessLookupError):
            os.kill(pid, number)
            deadline = time.monotonic() + 30
            while time.monotonic() < deadline:
                os.kill(pid, 0)
                time.sleep(0.005)
            raise AssertionError(f"process {pid} does not end")

    def close(self) -> None:
        assert self._parent.stdin is not None
        self._parent.stdin.close()
        self._parent.wait(timeout=20)
        self._log.close()


def main() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the dead are not waited for: a pid that answers is alive
    for line in sys.stdin:
        asked = json.loads(line)
        pid = os.fork()
        if not pid:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            ROLES[asked.pop("role")](**asked)
            os._exit(0)
        print(pid, flush=True)  # noqa: T201 - the answer


if __name__ == "__main__":
    main()
