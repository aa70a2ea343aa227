"""``tidemill test``: every check of the project, in the order in which they are cheapest to fail.

The same list runs in continuous integration. Each check is a command of a well-known tool; this module only runs
them, times them and says which failed. Tests that hold a model or a browser use every core and run by themselves; the
others run in as many processes as there are cores, a file in one process.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

TYPED = ("governance", "ingestion", "training", "serving", "pipelines", "examples", "locks/installed.py")

ALONE = "vllm or model or browser"
"""The markers of tests that run by themselves."""


@dataclass(frozen=True)
class Check:
    """One command that must exit with 0."""

    name: str
    command: Sequence[str]


def checks(*, long: bool, extra: Sequence[str] = ()) -> list[Check]:
    """The checks; ``long`` adds what takes more than minutes, ``extra`` goes to one run of pytest."""
    python = sys.executable
    pytest = [python, "-m", "pytest", "-q", *(["--long"] if long else [])]
    side_by_side = ["-n", str(os.cpu_count() or 1), "--dist", "loadfile"]
    tests = [Check("tests", [*pytest, *extra])]
    if not extra:
        tests = [
            Check("tests", [*pytest, *side_by_side, "-m", f"not ({ALONE})"]),
            Check("models", [*pytest, "-m", ALONE]),
        ]
    return [
        Check("ruff", [python, "-m", "ruff", "check", "."]),
        Check("format", [python, "-m", "ruff", "format", "--check", "."]),
        Check("types", [python, "-m", "mypy", *TYPED]),
        Check("imports", [str(Path(python).parent / "lint-imports"), "--no-cache"]),
        *tests,
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
