"""Compares the environment that runs this file with a lock, by the installed packages' metadata.

``python locks/installed.py missing LOCK`` names the pins that are absent or stand in another version;
``python locks/installed.py surplus LOCK`` names what is installed and not in the lock (the installers pip and uv
may stay). One name a line, nothing when all is well. Standard library only: it runs before anything is installed.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import distributions
from pathlib import Path

INSTALLERS = frozenset({"pip", "uv"})


def canonical(name: str) -> str:
    """A project's name in its one normalised form (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(lock: Path) -> dict[str, str]:
    """Name to version, as the lock has it."""
    found: dict[str, str] = {}
    for line in lock.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, version = line.split("==")
            found[canonical(name)] = version.strip()
    return found


def installed() -> dict[str, str]:
    """Name to version, as this environment has it."""
    found: dict[str, str] = {}
    for each in distributions():
        if "Name" in each.metadata:  # absent when an install was cut short
            found[canonical(each.metadata["Name"])] = each.version
    return found


def missing(lock: Path) -> list[str]:
    """Pins that do not hold, as ``name==version``."""
    have = installed()
    return sorted(f"{name}=={version}" for name, version in pins(lock).items() if have.get(name) != version)


def surplus(lock: Path) -> list[str]:
    """Names installed that the lock does not have."""
    return sorted(set(installed()) - set(pins(lock)) - INSTALLERS)


if __name__ == "__main__":
    question, path = sys.argv[1:]
    answers = {"missing": missing, "surplus": surplus}[question](Path(path))
    sys.stdout.writelines(f"{answer}\n" for answer in answers)
