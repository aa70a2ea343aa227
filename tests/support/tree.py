"""The files of the checkout, as git sees them."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("governance", "ingestion", "training", "serving", "pipelines")


@cache
def tracked() -> tuple[Path, ...]:
    """Every file that is in git or would go in with ``git add``: what .gitignore names is left out."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    return tuple(sorted(path for name in listed if name and (path := ROOT / name).is_file()))


def texts() -> dict[str, str]:
    """Path from the root to content, for every tracked file that is text."""
    found: dict[str, str] = {}
    for path in tracked():
        try:
            found[path.relative_to(ROOT).as_posix()] = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
    return found


def documents() -> list[str]:
    """README and every page under docs/, from the root."""
    return [name for name in texts() if name.endswith(".md") and (name.startswith("docs/") or "/" not in name)]


def modules(*packages: str) -> list[str]:
    """The Python files of those packages, from the root."""
    return [name for name in texts() if name.endswith(".py") and name.split("/")[0] in packages]
