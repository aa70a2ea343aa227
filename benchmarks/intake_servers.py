"""The servers that the intake benchmark loads: Tidemill's own and its peers, each with a folder of its own.

Each says where it takes OTLP, how many spans lie in its database, and which files its data is in. Peers come from PyPI
into environments of their own under the folder of peers, and are installed when they are not there.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import httpx

API_KEY: Final = "benchmark-key"
STARTS_WITHIN_S: Final = 300.0
REQUIREMENTS: Final = {"mlflow": "mlflow==3.17.2", "phoenix": "arize-phoenix==20.26.1"}


class Server(ABC):
    """One server on a loopback port."""

    name: str
    headers: dict[str, str]
    database: Path

    def __init__(self, folder: Path) -> None:
        """Nothing is started yet."""
        self.folder = folder
        self.port = free_port()

    @property
    def url(self) -> str:
        """Where it takes traces."""
        return f"http://127.0.0.1:{self.port}/v1/traces"

    @abstractmethod
    def start(self) -> None:
        """Start it and wait until it answers."""

    @abstractmethod
    def stop(self) -> None:
        """Stop it."""

    def stored(self) -> int:
        """Spans in its database; 0 while there is none."""
        with suppress(sqlite3.OperationalError), sqlite3.connect(f"file:{self.database}?mode=ro", uri=True) as held:
            return int(held.execute(self.counting()).fetchone()[0] or 0)
        return 0

    def counting(self) -> str:
        """The query that counts them."""
        return "select count(*) from spans"

    def bytes_on_disk(self) -> int:
        """Bytes of the database with its log."""
        files = [self.database, *(self.database.with_name(self.database.name + end) for end in ("-wal", "-journal"))]
        return sum(path.stat().st_size for path in files if path.exists())


class Peer(Server):
    """A server in an environment of its own."""

    def __init__(self, folder: Path, peers: Path) -> None:
        """``peers`` holds the environments."""
        super().__init__(folder)
        self.environment = peers / self.name
        self._process: subprocess.Popen[bytes] | None = None

    @abstractmethod
    def command(self) -> tuple[list[str], dict[str, str]]:
        """The command and what it needs in its environment."""

    @property
    @abstractmethod
    def health(self) -> str:
        """The path that answers when it is ready."""

    def start(self) -> None:
        """Install it when it is not there, start it, wait."""
        if not (self.environment / "bin" / self.name).exists():
            subprocess.run([sys.executable, "-m", "venv", str(self.environment)], check=True)
            pip = [str(self.environment / "bin" / "pip"), "install", "--quiet", REQUIREMENTS[self.name]]
            subprocess.run(pip, check=True)
        arguments, variables = self.command()
        log = (self.folder / f"{self.name}.log").open("wb")
        self._process = subprocess.Popen(
            arguments, env=os.environ | variables, stdout=log, stderr=log, start_new_session=True, cwd=self.folder
        )
        wait_for(f"http://127.0.0.1:{self.port}{self.health}")

    def stop(self) -> None:
        """End its process group."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGTERM)
            try:
                self._process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)


class Mlflow(Peer):
    """``mlflow server`` on SQLite: committed at the ack."""

    name = "mlflow"
    headers: dict[str, str] = {"x-mlflow-experiment-id": "0"}
    health = "/health"

    def command(self) -> tuple[list[str], dict[str, str]]:
        """One worker, without its job runner."""
        self.database = self.folder / "mlflow.db"
        uri = f"sqlite:///{self.database}"
        program = str(self.environment / "bin" / "mlflow")
        arguments = [program, "server", "--backend-store-uri", uri, "--host", "127.0.0.1", "--port", str(self.port)]
        return [*arguments, "--workers", "1"], {
            "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
            "MLFLOW_DISABLE_TELEMETRY": "true",
        }


class Phoenix(Peer):
    """``phoenix serve`` on SQLite: acknowledged in memory."""

    name = "phoenix"
    headers: dict[str, str] = {}
    health = "/healthz"

    def command(self) -> tuple[list[str], dict[str, str]]:
        """On its defaults."""
        self.database = self.folder / "phoenix.db"
        return [str(self.environment / "bin" / "phoenix"), "serve"], {
            "PHOENIX_WORKING_DIR": str(self.folder),
            "PHOENIX_HOST": "127.0.0.1",
            "PHOENIX_PORT": str(self.port),
            "PHOENIX_GRPC_PORT": str(free_port()),
            "PHOENIX_TELEMETRY_ENABLED": "false",
        }


class Tidemill(Server):
    """The real intake in a process of its own; the drain is started apart (``benchmarks.intake``)."""

    name = "tidemill"
    headers: dict[str, str] = {"x-tidemill-key": API_KEY}

    def __init__(self, folder: Path) -> None:
        """The spool and the database lie in the folder."""
        super().__init__(folder)
        self.database = folder / "tidemill.db"
        self.process: Any = None

    def counting(self) -> str:
        """Spans of traces that have a trajectory."""
        return "select sum(size) from spans join trajectories using (tenant_id, trace_id)"

    def start(self) -> None:
        """Start the intake."""
        context = multiprocessing.get_context("spawn")
        self.process = context.Process(target=serve, args=(str(self.folder), self.port), daemon=True)
        self.process.start()
        wait_for(f"http://127.0.0.1:{self.port}/health")

    def stop(self) -> None:
        """Stop it; what it acknowledged lies in the spool."""
        if self.process is not None:
            self.process.terminate()
            self.process.join(timeout=60)


def serve(folder: str, port: int) -> None:
    """The receiver in a process of its own."""
    import uvicorn

    from benchmarks.intake_drain import spool_of
    from ingestion.receiver import create_app

    spool = spool_of(Path(folder))
    uvicorn.run(create_app(spool, {API_KEY: "acme"}), host="127.0.0.1", port=port, log_level="error")
    spool.close()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def wait_for(url: str) -> None:
    """Wait until a server answers."""
    deadline = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < deadline:
        with suppress(httpx.HTTPError):
            httpx.get(url, timeout=5).raise_for_status()
            return
        time.sleep(0.2)
    raise SystemExit(f"nothing answers at {url} within {STARTS_WITHIN_S:.0f} s")
