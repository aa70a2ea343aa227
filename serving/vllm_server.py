"""A vLLM server as a child process: started, waited for, stopped, and never left behind.

The child gets its own process group (so a stop reaches its workers), its own log file, and exactly the environment that
is given here plus the settings vLLM reads from its environment: the parent's environment is never read or changed.
``ready`` trusts nothing but an answer that names the model that was asked for, since another process may hold the port.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Self

import httpx

from serving.compatibility import ATTENTION, SERVED_AS
from serving.errors import ServerError
from serving.vllm_launcher import PARENT_FLAG

ROOT = Path(__file__).resolve().parent.parent
POLL_SECONDS = 0.5
SAY_SECONDS = 5.0
STRUCTURED = '{"backend":"xgrammar","disable_any_whitespace":true}'
"""One text form of JSON: a small model that may write white space writes it without end. It is a switch of the server:
in a request vLLM takes ``disable_any_whitespace`` and ignores it."""
LOG_LINES = 15

Progress = Callable[[str], None]


@dataclass(frozen=True)
class VllmSettings:
    """How vLLM runs. The defaults are for a 135M model on two cores."""

    model_dir: Path
    port: int
    served_name: str = "base"
    host: str = "127.0.0.1"
    dtype: str = "bfloat16"
    max_model_len: int = 2048
    max_num_seqs: int = 32
    block_size: int = 32
    max_loras: int = 2
    max_lora_rank: int = 16
    adapter_modules: tuple[str, ...] = ATTENTION
    """The modules that adapters may change; each one more costs a product in every layer."""
    kv_cache_gib: int = 1
    threads: str = "auto"
    """``VLLM_CPU_OMP_THREADS_BIND``: cores such as ``0-1``, or ``auto``."""
    lora: bool = True
    extra_arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    """The child's base environment (``PATH``, ``HOME``); vLLM's own variables are added."""
    ready_seconds: float = 240.0
    stop_seconds: float = 15.0

    @property
    def base_url(self) -> str:
        """Where the server answers."""
        return f"http://{self.host}:{self.port}"

    def arguments(self) -> list[str]:
        """The command line after the launcher."""
        command = ["serve", str(self.model_dir), "--host", self.host, "--port", str(self.port)]
        command += ["--served-model-name", self.served_name, "--dtype", self.dtype, "--enforce-eager"]
        command += ["--max-model-len", str(self.max_model_len), "--max-num-seqs", str(self.max_num_seqs)]
        command += ["--block-size", str(self.block_size), "--structured-outputs-config", STRUCTURED]
        if self.lora:
            command += ["--enable-lora", "--max-loras", str(self.max_loras)]
            command += ["--max-lora-rank", str(self.max_lora_rank)]
            command += ["--lora-target-modules", *sorted({SERVED_AS[name] for name in self.adapter_modules})]
        return [*command, *self.extra_arguments]

    def child_environment(self) -> dict[str, str]:
        """The whole environment of the child."""
        return {
            **self.environment,
            "VLLM_CPU_KVCACHE_SPACE": str(self.kv_cache_gib),
            "VLLM_CPU_OMP_THREADS_BIND": self.threads,
            "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "1",
            "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
            "VLLM_NO_USAGE_STATS": "1",
            "DO_NOT_TRACK": "1",
            "HF_HUB_OFFLINE": "1",
        }


def native_dtype(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """``bfloat16`` where the CPU multiplies it natively, else ``float32``: emulated bf16 is several times slower."""
    try:
        text = cpuinfo.read_text()
    except OSError:
        return "float32"
    flags = next((line for line in text.splitlines() if line.startswith("flags")), "").split()
    return "bfloat16" if {"avx512_bf16", "amx_bf16"} & set(flags) else "float32"


class VllmServer:
    """One vLLM process."""

    def __init__(self, settings: VllmSettings, log_file: Path) -> None:
        """``log_file`` gets everything the process says."""
        self.settings = settings
        self._log_file = log_file
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The process's id while it runs."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    def start(self) -> None:
        """Start the process; does nothing while it runs.

        Raises:
            ServerError: when the port is taken.

        """
        if self.pid is not None:
            return
        _require_free(self.settings.host, self.settings.port)
        self._log_file.parent.mkdir(parents=True, exist_ok=True)
        self._log = self._log_file.open("ab")
        command = [sys.executable, "-m", "serving.vllm_launcher", PARENT_FLAG, str(os.getpid())]
        self._process = subprocess.Popen(  # noqa: S603 - the command is built here, from settings
            [*command, *self.settings.arguments()],
            cwd=ROOT,
            env=self.settings.child_environment(),
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def ready(self, progress: Progress = lambda _: None) -> float:
        """Wait until the server answers for its model; returns the seconds it took.

        Raises:
            ServerError: when the process ends, or is not ready in time (it is stopped then).

        """
        began = time.monotonic()
        said = began
        while not self._answers():
            waited = time.monotonic() - began
            if self.pid is None:
                raise ServerError(f"vLLM ended before it was ready; its log says:\n{self.log_tail()}")
            if time.monotonic() - said >= SAY_SECONDS:
                said = time.monotonic()
                progress(f"waiting for vLLM, {waited:.0f} s (30 s is usual on an idle machine)")
            if waited > self.settings.ready_seconds:
                self.stop()
                raise ServerError(f"vLLM was not ready after {waited:.0f} s; its log says:\n{self.log_tail()}")
            time.sleep(POLL_SECONDS)
        return time.monotonic() - began

    def stop(self) -> None:
        """End the process group: SIGTERM, then SIGKILL; idempotent."""
        if self._process is not None and self._process.poll() is None:
            self._signal(signal.SIGTERM)
            try:
                self._process.wait(self.settings.stop_seconds)
            except subprocess.TimeoutExpired:
                self._signal(signal.SIGKILL)
                self._process.wait()
        self._process = None
        if self._log is not None:
            self._log.close()
            self._log = None

    def log_tail(self) -> str:
        """The last lines of the log."""
        if not self._log_file.is_file():
            return "(no log)"
        return "\n".join(self._log_file.read_text(errors="replace").splitlines()[-LOG_LINES:])

    def _signal(self, number: signal.Signals) -> None:
        if self._process is None:
            return
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            return

    def _answers(self) -> bool:
        try:
            if httpx.get(f"{self.settings.base_url}/health", timeout=5, trust_env=False).status_code != httpx.codes.OK:
                return False
            models = httpx.get(f"{self.settings.base_url}/v1/models", timeout=5, trust_env=False).json()
        except (httpx.HTTPError, ValueError):
            return False
        return any(model.get("id") == self.settings.served_name for model in models.get("data", []))

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def free_port(host: str = "127.0.0.1") -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def _require_free(host: str, port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise ServerError(f"port {port} on {host} is taken: {error}") from error
