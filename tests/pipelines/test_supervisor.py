"""Services: started once, found again, stopped by id, never taken for another process."""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path

import pytest

from pipelines.errors import ServiceError
from pipelines.supervisor import Service, Supervisor, healthy


def web(port: int, folder: Path, name: str = "web") -> Service:
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory", str(folder)]
    return Service(name, command, address, address, environment={"PATH": os.environ["PATH"]}, start_seconds=30)


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    return tmp_path / "run"


def test_a_service_is_started_once_and_stopped(run_dir: Path, tmp_path: Path, free_port: int) -> None:
    service = web(free_port, tmp_path)
    first, second = Supervisor(run_dir), Supervisor(run_dir)
    threads = [threading.Thread(target=one.ensure, args=(service,)) for one in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    process = first.running("web")
    assert process is not None
    assert second.names() == ["web"]
    assert first.stop("web")
    assert not healthy(service.health, timeout=1)
    assert first.running("web") is None
    assert not first.stop("web")


def test_a_foreign_server_on_the_port_is_not_ours(run_dir: Path, tmp_path: Path, free_port: int) -> None:
    other = Supervisor(tmp_path / "other")
    other.ensure(web(free_port, tmp_path))
    try:
        with pytest.raises(ServiceError, match="did not start"):
            Supervisor(run_dir).ensure(web(free_port, tmp_path))
    finally:
        other.stop("web")


def test_a_recycled_id_is_never_ended(run_dir: Path) -> None:
    supervisor = Supervisor(run_dir)
    run_dir.mkdir()
    (run_dir / "web.json").write_text(json.dumps({"pid": os.getpid(), "created": 1.0}))
    assert supervisor.running("web") is None
    assert not supervisor.stop("web")


def test_a_service_that_dies_says_its_last_words(run_dir: Path, free_port: int) -> None:
    address = f"http://127.0.0.1:{free_port}"
    dying = Service("bad", [sys.executable, "-c", "print('no such port'); raise SystemExit(3)"], address, address)
    with pytest.raises(ServiceError, match="no such port"):
        Supervisor(run_dir).ensure(dying)
