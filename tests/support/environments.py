"""A Python environment of its own, made from a lock the first time that a test needs it.

1. The environment lies in the checkout's cache. Its marker holds the digest of the lock and is written last: what was
   cut short, or made from another lock, is thrown away and made again.
2. Packages come from wherever pip is configured to take them. Where they cannot be had, ``EnvironmentMissing`` says so.
3. Two runs at once: one installs, the other waits.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

MARKER = ".made-from"
SECONDS = 600


class EnvironmentMissing(Exception):
    """An environment that cannot be made here, and why."""


def environment(lock: Path, folder: Path) -> Path:
    """The Python of an environment that holds exactly the lock's packages.

    Raises:
        EnvironmentMissing: when it does not stand yet and cannot be made.

    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(folder.name + ".lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        digest = hashlib.sha256(lock.read_bytes()).hexdigest()
        python, marker = folder / "bin" / "python", folder / MARKER
        if not (marker.is_file() and marker.read_text() == digest and python.exists()):
            shutil.rmtree(folder, ignore_errors=True)
            _run(sys.executable, "-I", "-m", "venv", str(folder))
            _run(
                str(python),
                "-I",
                "-m",
                "pip",
                "install",
                "--quiet",
                "--no-compile",
                "--no-deps",
                "--requirement",
                str(lock),
            )
            marker.write_text(digest)
        return python


def _run(*command: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentMissing(f"{' '.join(command)}: {error}") from error
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if "ERROR" in line] or done.stderr.splitlines()
        raise EnvironmentMissing(f"{' '.join(command)}: {' '.join(errors[-2:]) or done.returncode}")
