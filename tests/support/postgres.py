"""One real PostgreSQL server for a test session.

It listens on a Unix socket in its own temporary folder only, so it needs no port and nothing else can meet it. Its
files live until ``stop``; fsync is off since they never outlive the session. PostgreSQL refuses to run as root: then
it runs as the user ``postgres``, or ``nobody`` where there is none. ``initdb`` and ``postgres`` are taken from the path
or from the folders in which Debian and Red Hat keep them.
"""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

BINARIES = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin")
READY_SECONDS = 60.0


class PostgresMissing(Exception):
    """No PostgreSQL server program is installed."""


def binaries() -> Path:
    """The folder that holds ``initdb`` and ``postgres``, the newest version when there are several.

    Raises:
        PostgresMissing: when there is none.

    """
    on_path = shutil.which("initdb")
    candidates = [Path(on_path).resolve().parent] if on_path else []
    for pattern in BINARIES:
        folders = Path("/").glob(pattern.lstrip("/"))
        candidates += sorted(folders, key=lambda folder: _version(folder.parent.name), reverse=True)
    for folder in candidates:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    msg = f"neither the path nor {', '.join(BINARIES)} has initdb and postgres (Debian: apt-get install postgresql)"
    raise PostgresMissing(msg)


def _version(name: str) -> tuple[int, ...]:
    return tuple(int(part) for part in name.replace("pgsql-", "").split(".") if part.isdigit())


def _runner() -> pwd.struct_passwd | None:
    """The user to run the server as; None means the present one."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    msg = "PostgreSQL refuses to run as root, and there is neither a user postgres nor nobody"
    raise PostgresMissing(msg)


def _as_user(user: pwd.struct_passwd | None) -> dict[str, Any]:
    """What subprocess needs to run a child as ``user``."""
    return {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _ends_with_parent() -> list[str]:
    """A prefix by which the kernel stops the server when the tests are killed and cannot (util-linux's setpriv)."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "INT"] if setpriv else []


class PostgresServer:
    """A running server; ``database()`` gives the URL of a fresh, empty database."""

    def __init__(self, folder: Path, process: subprocess.Popen[bytes]) -> None:
        self._folder = folder
        self._process = process

    def _dsn(self, database: str) -> str:
        return f"host={self._folder} user=tidemill dbname={database}"

    def _run(self, statement: str) -> None:
        import psycopg

        with psycopg.connect(self._dsn("postgres"), autocommit=True) as connection:
            connection.execute(statement)

    @contextmanager
    def database(self) -> Iterator[str]:
        """A fresh database for one test as a SQLAlchemy URL; dropped at the end, open connections and all."""
        name = f"test_{secrets.token_hex(8)}"
        self._run(f'CREATE DATABASE "{name}" TEMPLATE template0')
        try:
            yield f"postgresql+psycopg://tidemill@/{name}?host={quote(str(self._folder), safe='')}"
        finally:
            self._run(f'DROP DATABASE "{name}" WITH (FORCE)')

    def wait_until_ready(self) -> None:
        """Return when the server takes connections.

        Raises:
            RuntimeError: with the end of the server's log, when it ends or is not ready in time.

        """
        import psycopg

        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                psycopg.connect(self._dsn("postgres"), connect_timeout=2).close()
            except psycopg.OperationalError:
                time.sleep(0.05)
            else:
                return
        log = (self._folder / "log").read_text(errors="replace")[-2000:]
        msg = f"PostgreSQL in {self._folder} is not ready (exit status {self._process.poll()}):\n{log}"
        raise RuntimeError(msg)

    def stop(self) -> None:
        """End the server by its pid (SIGINT is PostgreSQL's fast shutdown) and remove its files."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


def start() -> PostgresServer:
    """Make a cluster in a temporary folder and start its server.

    Raises:
        PostgresMissing: when no server program is installed.
        RuntimeError: when the server does not come up.

    """
    programs, user = binaries(), _runner()
    folder = Path(tempfile.mkdtemp(prefix="tidemill-pg-"))  # short: a socket's path has at most 107 bytes
    if user is not None:
        os.chown(folder, user.pw_uid, user.pw_gid)
    run_as, data = _as_user(user), folder / "data"
    init = [
        str(programs / "initdb"),
        "-D",
        str(data),
        "-U",
        "tidemill",
        "--auth=trust",
        "--encoding=UTF8",
        "--locale=C",
        "-N",
    ]
    made = subprocess.run(init, cwd=folder, capture_output=True, text=True, check=False, **run_as)
    if made.returncode:
        shutil.rmtree(folder, ignore_errors=True)
        msg = f"initdb failed with {made.returncode}: {made.stderr.strip()}"
        raise RuntimeError(msg)
    options = {
        "listen_addresses": "",
        "unix_socket_directories": str(folder),
        "max_connections": "60",
        "fsync": "off",
        "synchronous_commit": "off",
        "full_page_writes": "off",
    }
    arguments = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*_ends_with_parent(), str(programs / "postgres"), "-D", str(data), *arguments],
            cwd=folder,
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C in the terminal reaches pytest, which then stops the server in order
            **run_as,
        )
    server = PostgresServer(folder, process)
    try:
        server.wait_until_ready()
    except BaseException:
        server.stop()
        raise
    return server
