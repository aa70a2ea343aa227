"""The search: whether anything of a person is in a place, with every container of it opened.

The same search runs before an erasure and after it. Before, it finds what is there (the positive control: a search that
finds nothing then proves nothing later); after, only what may stay. What may stay is named by its table.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Final

from governance.records.base import Record
from governance.rescan import containers, sqlite_file
from governance.rescan.needles import Needles

BATCH: Final = 1 << 20
"""Bytes that are searched at once."""
CHUNK: Final = 1 << 24
"""Bytes of a large file that are read at once."""

Piece = tuple[str, bytes]


class Findings(Record):
    """What a search of one place found."""

    place: str
    found: dict[str, int]
    """Where to how many pieces of data hold something of the person."""
    staying: int = 0
    """Pieces in which something was found that may stay: the suppression, certificates, requests."""
    unopened: tuple[str, ...] = ()
    """Containers that could not be opened, and so not searched inside."""

    @property
    def total(self) -> int:
        """How many pieces hold something that may not stay."""
        return sum(self.found.values())


def search(
    place: str, contents: Iterable[tuple[str, bytes | Path]], needles: Needles, staying: Collection[str] = ()
) -> Findings:
    """Search everything in a place; ``staying`` are the tables in which a hit may stay."""
    unopened: list[str] = []
    found: dict[str, int] = {}
    kept, ends = 0, tuple(f"table {table}" for table in staying)
    for where in _hits(_pieces(contents, unopened), needles):
        if where.endswith(ends) and "freed space" not in where:
            kept += 1
        else:
            found[where] = found.get(where, 0) + 1
    return Findings(place=place, found=dict(sorted(found.items())), staying=kept, unopened=tuple(sorted(set(unopened))))


def holds(data: bytes | Path, needles: Needles) -> bool:
    """Whether a file or some bytes hold any needle."""
    return any(True for _ in _hits(_pieces([("", data)], []), needles))


def _hits(pieces: Iterable[Piece], needles: Needles) -> Iterator[str]:
    """Where each piece with a needle is; small pieces are searched together first."""
    batch: list[Piece] = []
    size = 0
    for piece in pieces:
        batch.append(piece)
        size += len(piece[1])
        if size >= BATCH:
            yield from _hits_in(batch, needles)
            batch, size = [], 0
    yield from _hits_in(batch, needles)


def _hits_in(batch: list[Piece], needles: Needles) -> Iterator[str]:
    if needles.in_(b"\xff".join(data for _, data in batch)):
        yield from (where for where, data in batch if needles.in_(data))


def _pieces(contents: Iterable[tuple[str, bytes | Path]], unopened: list[str]) -> Iterator[Piece]:
    for where, data in contents:
        if isinstance(data, Path):
            yield where, str(data.name).encode()
            yield from _file(where, data, unopened)
        else:
            yield from _bytes(where, data, unopened)


def _file(where: str, path: Path, unopened: list[str]) -> Iterator[Piece]:
    try:
        with path.open("rb") as file:
            head = file.read(CHUNK)
            if head.startswith(sqlite_file.MAGIC):
                yield from _database(where, sqlite_file.pieces(path), unopened)
                return
            rest = file.read(CHUNK) if len(head) == CHUNK else b""
            if not rest:
                yield from _bytes(where, head, unopened)
                return
            if containers.is_archive(head) or where.endswith(".br"):
                yield from _bytes(where, head + rest + file.read(), unopened)
                return
            tail = b""
            while head:
                yield from _bytes(where, tail + head, unopened)
                tail, head, rest = head[-4096:], rest, file.read(CHUNK)
    except FileNotFoundError:
        return  # gone since it was listed, and so is what it held


def _bytes(where: str, data: bytes, unopened: list[str]) -> Iterator[Piece]:
    for inner in containers.opened(data, unopened, where):
        yield where, inner
        if inner.startswith(sqlite_file.MAGIC):
            yield from _database(where, sqlite_file.pieces_of(inner), unopened)


def _database(where: str, pieces: Iterable[Piece], unopened: list[str]) -> Iterator[Piece]:
    try:
        for part, value in pieces:
            if part.startswith("table "):
                yield from ((f"{where}: {part}", inner) for _, inner in _bytes(where, value, unopened))
            else:  # a page is no file, though the first one begins like one
                yield from ((f"{where}: {part}", inner) for inner in containers.opened(value, unopened, where))
    except sqlite3.DatabaseError as error:
        unopened.append(f"{where}: {error}")
