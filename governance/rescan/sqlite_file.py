"""A SQLite file as a container: every value of every row, and what deleted rows left behind.

Rows are read through SQLite. What SQLite no longer shows is read from the pages themselves: the unallocated gap and the
free blocks of each b-tree page, pages of the free list, and the frames of a write-ahead log, each also where a
compressed value begins in it. A page belongs to the table whose b-tree it is in; overflow pages belong to rows, which
are read as rows. Source: sqlite.org/fileformat2.html, sections 1.3 (header), 1.5 (free list), 1.6 (b-tree pages), 4.1
(write-ahead log).
"""

from __future__ import annotations

import mmap
import sqlite3
import struct
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import Final

from governance.rescan.containers import is_packed, zlib_inside

MAGIC: Final = b"SQLite format 3\x00"
WAL_MAGIC: Final = (0x377F0682, 0x377F0683)
BATCH: Final = 1 << 14
"""Bytes of plain values that are one piece."""
INTERIOR: Final = frozenset({2, 5})
LEAF: Final = frozenset({10, 13})
_FRAME: Final = struct.Struct(">II16x")

Piece = tuple[str, bytes]
"""Where in the file, and the bytes."""
Bytes = bytes | mmap.mmap
Roots = Sequence[tuple[str, int]]


def pieces(path: Path) -> Iterator[Piece]:
    """Everything in a SQLite file and its write-ahead log; nothing but the schema in an empty one."""
    wal = path.with_name(f"{path.name}-wal")
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=60)) as connection:
        yield from _rows(connection)
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield from left_behind(data, _roots(connection), wal.read_bytes() if wal.exists() else b"")


def pieces_of(data: bytes) -> Iterator[Piece]:
    """The same of a database that is held in memory, as an archive may hold one."""
    plain = data[:18] + b"\x01\x01" + data[20:]  # a database in memory has no write-ahead log
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(plain)
        yield from _rows(connection)
        yield from left_behind(data, _roots(connection))


def _rows(connection: sqlite3.Connection) -> Iterator[Piece]:
    connection.text_factory = bytes
    tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
    for (name,) in connection.execute(tables).fetchall():
        table = name.decode()
        quoted = table.replace('"', '""')
        values = (
            value
            for row in connection.execute(f'SELECT * FROM "{quoted}"')  # noqa: S608 - a table's own name, quoted
            for value in row
            if isinstance(value, bytes)
        )
        yield from ((f"table {table}", data) for data in together(values))


def together(values: Iterable[bytes]) -> Iterator[bytes]:
    """Plain values many at a time, since most hold nothing; what is packed, or a file of its own, for itself."""
    batch: list[bytes] = []
    size = 0
    for value in values:
        if is_packed(value) or value.startswith(MAGIC):
            yield value
            continue
        batch.append(value)
        size += len(value)
        if size >= BATCH:
            yield b"\x00".join(batch)
            batch, size = [], 0
    if batch:
        yield b"\x00".join(batch)


def left_behind(data: Bytes, roots: Roots, wal: bytes = b"") -> Iterator[Piece]:
    """What deleted rows left in the file's pages and in its write-ahead log; ``roots`` are the roots of its b-trees."""
    size = int.from_bytes(data[16:18], "big")
    pages = _Pages(data, 65536 if size == 1 else size, roots)
    for number in pages.free():
        yield from _deep("free page", pages.page(number))
    for number, table in pages.owners.items():
        for part in pages.slack(number):
            if part.strip(b"\x00"):
                yield from _deep(f"freed space of table {table}", part)
    for number, page in _frames(wal):
        yield from _deep(f"write-ahead log: table {pages.owners.get(number, '?')}", page)


def _deep(where: str, data: bytes) -> Iterator[Piece]:
    yield where, data
    for inner in zlib_inside(data):
        yield where, inner


def _frames(wal: bytes) -> Iterator[tuple[int, bytes]]:
    """Number and image of each page in a write-ahead log, valid frames and stale ones alike."""
    if len(wal) < 32 or int.from_bytes(wal[:4], "big") not in WAL_MAGIC:
        return
    size = int.from_bytes(wal[8:12], "big")
    for at in range(32, len(wal) - _FRAME.size, size + _FRAME.size):
        number, _ = _FRAME.unpack_from(wal, at)
        yield number, wal[at + _FRAME.size : at + _FRAME.size + size]


class _Pages:
    """The pages of one file."""

    def __init__(self, data: Bytes, size: int, roots: Roots) -> None:
        self._data, self._size = data, size
        self._count = len(data) // size
        self._roots = roots

    def page(self, number: int) -> bytes:
        """One page, from 1 on."""
        return bytes(self._data[(number - 1) * self._size : number * self._size])

    def free(self) -> Iterator[int]:
        """Trunk pages of the free list and the pages that they name."""
        trunk, seen = int.from_bytes(self._data[32:36], "big"), set[int]()
        while 0 < trunk <= self._count and trunk not in seen:
            seen.add(trunk)
            yield trunk
            page = self.page(trunk)
            many = min(int.from_bytes(page[4:8], "big"), (self._size - 8) // 4)
            leaves = struct.unpack_from(f">{many}I", page, 8)
            yield from (leaf for leaf in leaves if 0 < leaf <= self._count)
            trunk = int.from_bytes(page[:4], "big")

    @cached_property
    def owners(self) -> dict[int, str]:
        """Page of a b-tree to the table that it, or its index, belongs to."""
        found = dict.fromkeys(self._tree(1), "sqlite_master")
        for table, root in self._roots:
            found.update(dict.fromkeys([root, *self._tree(root)], table))
        return found

    def _tree(self, root: int) -> Iterator[int]:
        waiting, seen = [root], set[int]()
        while waiting:
            number = waiting.pop()
            if number in seen or not 0 < number <= self._count:
                continue
            seen.add(number)
            yield number
            page, head = self.page(number), 100 if number == 1 else 0
            if page[head] in INTERIOR:
                cells = struct.unpack_from(f">{_short(page, head + 3)}H", page, head + 12)
                waiting += [int.from_bytes(page[cell : cell + 4], "big") for cell in cells]
                waiting.append(int.from_bytes(page[head + 8 : head + 12], "big"))

    def slack(self, number: int) -> Iterator[bytes]:
        """The parts of a b-tree page that no row takes up."""
        page, head = self.page(number), 100 if number == 1 else 0
        if not page or page[head] not in INTERIOR | LEAF:
            return  # still in the write-ahead log only
        first = head + (12 if page[head] in INTERIOR else 8) + 2 * _short(page, head + 3)
        yield page[first : _short(page, head + 5) or 65536]
        block, seen = _short(page, head + 1), set[int]()
        while block and block not in seen and block + 4 <= self._size:
            seen.add(block)
            yield page[block + 4 : block + _short(page, block + 2)]
            block = _short(page, block)


def _short(page: bytes, at: int) -> int:
    return int.from_bytes(page[at : at + 2], "big")


def _roots(connection: sqlite3.Connection) -> list[tuple[str, int]]:
    """Table and root page of every b-tree but the schema's own."""
    found = connection.execute("SELECT CAST(tbl_name AS BLOB), rootpage FROM sqlite_master WHERE rootpage > 0")
    return [(table.decode(), root) for table, root in found]
