"""Files into documents: unpacked and parsed within bounds, whatever the bytes are.

1. What a file is follows from its bytes, never from its name: gzip, zip, JSON, JSON lines, else protobuf.
2. A bound on the file, on what it unpacks to, on an archive's members and on nesting; unpacking stops at the bound.
   Nothing is written, so a member's name leads nowhere; one that tries to is refused all the same.
3. A broken line of a JSON-lines file costs itself.
4. The only exception is an ``ImportRefused`` with the reason.
"""

from __future__ import annotations

import gzip
import json
import zipfile
import zlib
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final, NamedTuple

from governance.records.base import Record
from ingestion.errors import ImportRefused
from ingestion.importers.form import Archive, Document, Refused

_GZIP: Final = b"\x1f\x8b"
_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
_BOUNDED: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""What can be unpacked a step at a time; a few bytes of bzip2 or LZMA unpack to any size at once."""
_STEP: Final = 2**18


class FileLimits(Record):
    """How much a file may hold."""

    max_file_bytes: int = 128 * 2**20
    max_unpacked_bytes: int = 512 * 2**20
    max_members: int = 20_000
    max_depth: int = 200
    """Levels of nesting of a JSON value."""
    max_values: int = 8_000_000
    """JSON values of one text, counted by the signs that stand before them: each becomes an object."""


class Loaded(NamedTuple):
    """A document, and the parts of its file that could not be read."""

    document: Document
    refused: tuple[Refused, ...] = ()


def read_file(path: Path, limits: FileLimits) -> bytes:
    """The bytes of a regular file.

    Raises:
        ImportRefused: when it is none, cannot be read, or is too large.

    """
    try:
        if not path.is_file():
            raise ImportRefused(f"{path}: {'is no regular file' if path.exists() else 'there is no such file'}")
        with path.open("rb") as file:
            data = file.read(limits.max_file_bytes + 1)
    except (OSError, ValueError) as error:
        raise ImportRefused(f"{str(path)!r}: cannot be read: {error}") from error
    if len(data) > limits.max_file_bytes:
        raise ImportRefused(f"{path}: larger than {limits.max_file_bytes} bytes")
    return data


def load(data: bytes, source: str, limits: FileLimits) -> Loaded:
    """The document that the bytes hold; bytes that are no JSON are themselves the document.

    Raises:
        ImportRefused: when they are empty, broken, or beyond the bounds.

    """
    if data.startswith(_GZIP):
        data = _gunzip(data, source, limits)
    if data.startswith(_ZIP):
        return Loaded(_archive(data, source, limits))
    if not data.strip():
        raise ImportRefused(f"{source}: holds nothing")
    start = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return _json(data, source, limits) if start in (b"{", b"[") else Loaded(data)


def _gunzip(data: bytes, source: str, limits: FileLimits) -> bytes:
    try:
        with gzip.open(BytesIO(data)) as packed:
            return _bounded(packed, limits.max_unpacked_bytes)
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise ImportRefused(f"{source}: not gzip that can be read: {str(error)[:200]}") from error


def _json(data: bytes, source: str, limits: FileLimits) -> Loaded:
    content = data.decode("utf-8-sig", "replace")
    try:
        return Loaded(parse(content, limits))
    except ValueError as error:
        lines = [(number, line) for number, line in enumerate(content.split("\n"), 1) if line.strip()]
        if len(lines) < 2:
            raise ImportRefused(f"{source}: not JSON: {error}") from error
    return _lines(lines, source, limits)


def _lines(lines: list[tuple[int, str]], source: str, limits: FileLimits) -> Loaded:
    values, refused = [], []
    for number, line in lines:
        try:
            values.append(parse(line, limits))
        except ValueError as error:
            refused.append(Refused(where=f"{source}: line {number}", reason=f"not JSON: {str(error)[:200]}"))
    if not any(isinstance(value, dict | list) for value in values):
        first = refused[0].reason if refused else "no line is an object"
        raise ImportRefused(f"{source}: neither JSON nor JSON lines: {first}")
    return Loaded(values, tuple(refused))


def parse(content: str, limits: FileLimits) -> Any:
    """The one JSON value of a text.

    Raises:
        ValueError: when it is none, or nests deeper than the bound.

    """
    if sum(content.count(sign) for sign in ",[{") > limits.max_values:
        raise ValueError(f"more than {limits.max_values} values")
    try:
        value = json.loads(content)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    level, depth = [value], 0
    while level:
        if depth > limits.max_depth:
            raise ValueError(f"nested deeper than {limits.max_depth} levels")
        inner: list[Any] = []
        for item in level:
            inner.extend(item.values() if isinstance(item, dict) else item if isinstance(item, list) else ())
        level, depth = [item for item in inner if isinstance(item, dict | list)], depth + 1
    return value


def _archive(data: bytes, source: str, limits: FileLimits) -> Archive:
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            return Archive(_members(archive, limits))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError,
            OverflowError) as error:  # fmt: skip
        raise ImportRefused(f"{source}: not an archive that can be read: {str(error)[:200]}") from error


def _members(archive: zipfile.ZipFile, limits: FileLimits) -> dict[str, Any]:
    """The JSON members by name; what is too much or leads outside is a ``ValueError``."""
    infos = archive.infolist()
    if len(infos) > limits.max_members:
        raise ValueError(f"more than {limits.max_members} members")
    left = limits.max_unpacked_bytes
    found = {}
    for info in infos:
        path = PurePosixPath(info.filename.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts:
            raise ValueError(f"the member {info.filename[:100]!r} leads outside of the archive")
        if info.compress_type not in _BOUNDED:
            raise ValueError(
                f"the member {info.filename[:100]!r} is packed by method {info.compress_type}, not read here"
            )
        if path.suffix == ".json":
            with archive.open(info) as member:
                content = _bounded(member, left)
            left -= len(content)
            found[str(path)] = parse(content.decode("utf-8-sig", "replace"), limits)
    return found


def _bounded(member: IO[bytes] | gzip.GzipFile, left: int) -> bytes:
    parts: list[bytes] = []
    while part := member.read(min(_STEP, left + 1)):
        left -= len(part)
        if left < 0:
            raise ValueError("unpacks to more bytes than a file may")
        parts.append(part)
    return b"".join(parts)
