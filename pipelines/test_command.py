"""``tidemill test``: every check of the project, in the order in which they are cheapest to fail.

The same list runs in continuous integration. Each check is a command of a well-known tool; this module only runs
them, times them and says which failed.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

TYPED = ("governance", "ingestion", "training", "serving", "pipelines", "examples", "locks/installed.py")


@dataclass(frozen=True)
class Check:
    """One command that must exit with 0."""

    name: str
    command: Sequence[str]


def checks(*, long: bool, extra: Sequence[str] = ()) -> list[Check]:
    """The checks; ``long`` adds what takes more than minutes, ``extra`` goes to pytest."""
    python = sys.executable
    tests = [python, "-m", "pytest", "-q", *(["--long"] if long else []), *extra]
    return [
        Check("ruff", [python, "-m", "ruff", "check", "."]),
        Check("format", [python, "-m", "ruff", "format", "--check", "."]),
        Check("types", [python, "-m", "mypy", *TYPED]),
        Check("imports", [str(Path(python).parent / "lint-imports"), "--no-cache"]),
        Check("tests", tests),
    ]


def run_checks(chosen: Sequence[Check], root: Path) -> dict[str, dict[str, float | int]]:
    """Run each check to its end and return its exit status and seconds; all run even when one fails."""
    results: dict[str, dict[str, float | int]] = {}
    for check in chosen:
        print(f"== {check.name}: {' '.join(check.command[:6])}", flush=True)  # noqa: T201 - a runner prints
        started = time.monotonic()
        status = subprocess.run(list(check.command), cwd=root, check=False).returncode  # noqa: S603 - fixed commands
        results[check.name] = {"status": status, "seconds": round(time.monotonic() - started, 1)}
        print(f"== {check.name}: exit {status}, {results[check.name]['seconds']} s", flush=True)  # noqa: T201
    return results
