"""Services of this machine: started once, found again by any command, stopped by id.

1. A service is a command, a port on loopback and a health address. ``ensure`` starts it unless it is already healthy.
2. What was started is written to ``run/NAME.json`` under the data home: process id and its start time, so that a
   recycled id is never taken for ours.
3. Two commands that ensure the same service at once start it once (a file lock per service).
4. Only processes that stand in these files are ever ended: SIGTERM to the process group, SIGKILL after a grace.
"""

from __future__ import annotations

import json
import os
import signal
import ssl
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from filelock import FileLock

from pipelines.errors import ServiceError

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Service:
    """One process to keep."""

    name: str
    command: Sequence[str]
    health: str
    """Address that answers below 400 when the service is ready."""
    address: str
    """What a person opens or points an exporter at."""
    environment: Mapping[str, str] = field(default_factory=dict)
    start_seconds: float = 180.0
    certificate: Path | None = None
    """The certificate that the service shows; None where it speaks in clear."""


class Supervisor:
    """Starts, finds and stops services."""

    def __init__(self, run_dir: Path) -> None:
        """``run_dir`` holds a record and a log for each service; it is made with the first."""
        self._run_dir = run_dir

    def ensure(self, service: Service, progress: Progress = lambda _: None) -> None:
        """Start the service unless it is healthy, and wait until it is.

        Raises:
            ServiceError: when the port is somebody else's, the process dies, or it is not ready in time.
        """
        self._run_dir.mkdir(parents=True, exist_ok=True)
        with FileLock(self._run_dir / f"{service.name}.lock"):
            if self.running(service.name) is not None:
                self._wait(service, progress)
                return
            if healthy(service.health, timeout=1.0, certificate=service.certificate):
                raise ServiceError(
                    f"{service.name}: something that this data home did not start answers at {service.health}; "
                    "stop it or choose another port (docs/engineers.md, Settings)"
                )
            self._spawn(service)
            self._wait(service, progress)

    def running(self, name: str) -> psutil.Process | None:
        """The live process of a service that was started from here, or None."""
        record = self._run_dir / f"{name}.json"
        if not record.exists():
            return None
        try:
            entry = json.loads(record.read_text())
            process = psutil.Process(entry["pid"])
            same = abs(process.create_time() - entry["created"]) < 1.0
            alive = same and process.is_running() and process.status() != psutil.STATUS_ZOMBIE
        except (psutil.Error, ValueError, KeyError, TypeError):
            return None
        return process if alive else None

    def names(self) -> list[str]:
        """Names of the services whose processes live."""
        return sorted(path.stem for path in self._run_dir.glob("*.json") if self.running(path.stem) is not None)

    def stop(self, name: str, grace_seconds: float = 15.0) -> bool:
        """End the service's process group; False when it was not running."""
        process = self.running(name)
        if process is not None:
            family = [process, *process.children(recursive=True)]
            _signal_group(process.pid, signal.SIGTERM)
            _, alive = psutil.wait_procs(family, timeout=grace_seconds)
            for survivor in alive:
                survivor.kill()
        (self._run_dir / f"{name}.json").unlink(missing_ok=True)
        return process is not None

    def log(self, name: str) -> Path:
        """Where the service writes what it says."""
        return self._run_dir / f"{name}.log"

    def _spawn(self, service: Service) -> None:
        with self.log(service.name).open("ab") as log:
            process = subprocess.Popen(  # noqa: S603 - the commands are built in pipelines.services, never from input
                list(service.command),
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env=dict(service.environment),
                start_new_session=True,
            )
        entry = {"pid": process.pid, "created": psutil.Process(process.pid).create_time()}
        partial = self._run_dir / f"{service.name}.new"
        partial.write_text(json.dumps(entry))
        partial.replace(self._run_dir / f"{service.name}.json")

    def _wait(self, service: Service, progress: Progress) -> None:
        started = time.monotonic()
        said = started
        while not healthy(service.health, timeout=2.0, certificate=service.certificate):
            now = time.monotonic()
            if self.running(service.name) is None:
                raise ServiceError(f"{service.name}: died while starting; {self._tail(service.name)}")
            if now - started > service.start_seconds:
                raise ServiceError(
                    f"{service.name}: not ready after {service.start_seconds:.0f} s; {self._tail(service.name)}"
                )
            if now - said > 10:
                progress(f"{service.name}: starting, {now - started:.0f} s")
                said = now
            time.sleep(0.25)

    def _tail(self, name: str) -> str:
        path = self.log(name)
        lines = path.read_text(errors="replace").splitlines()[-5:] if path.exists() else []
        return f"last lines of {path}: " + " | ".join(lines)


def healthy(address: str, timeout: float, certificate: Path | None = None) -> bool:
    """Whether the address answers with less than 400, and with this certificate if one is given."""
    import httpx

    try:
        verify = verification(certificate)
        return httpx.get(address, timeout=timeout, follow_redirects=True, verify=verify).status_code < 400
    except httpx.HTTPError:
        return False


def verification(certificate: Path | None) -> ssl.SSLContext | bool:
    """How a client of this machine knows the server: by this very certificate, whatever name it is for."""
    if certificate is None:
        return True
    context = ssl.create_default_context(cafile=str(certificate))
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return context


def _signal_group(pid: int, number: signal.Signals) -> None:
    try:
        os.killpg(pid, number)
    except ProcessLookupError:
        return
