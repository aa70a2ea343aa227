"""Whether a folder's files hold some bytes, with archives and compressed files opened."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

DEEPEST = 4
"""Containers within containers."""


def mentions(folder: Path, needle: bytes) -> bool:
    """Whether any file under ``folder`` holds ``needle``, in its name or its content."""
    return any(
        needle in str(path.relative_to(folder)).encode() or (path.is_file() and holds(path.read_bytes(), needle))
        for path in folder.rglob("*")
    )


def holds(data: bytes, needle: bytes, depth: int = 0) -> bool:
    """Whether ``data`` holds ``needle``; zip and gzip are opened."""
    if needle in data:
        return True
    if depth >= DEEPEST:
        return False
    if data[:2] == b"\x1f\x8b":
        try:
            return holds(gzip.decompress(data), needle, depth + 1)
        except (OSError, EOFError):
            return False
    if data[:4] == b"PK\x03\x04":
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                return any(holds(archive.read(name), needle, depth + 1) for name in archive.namelist())
        except (zipfile.BadZipFile, RuntimeError):
            return False
    return False
