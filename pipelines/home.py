"""The data home's own files, and who answers for each when a person is erased.

Every folder of the data home is claimed by some ``Erasable``; a test fails for one that is not. What nobody knows (a
copy that somebody put there) is this place's too: it is searched and purged as a log is. Those claimed here by name are
not made to hold data of people: logs of services, Dagster's events and compute logs, the report of aggregate numbers.
``count`` proves it instead of assuming it, by the same search that runs after an erasure: containers opened, SQLite
files down to their pages. A file that holds the person is removed; of a SQLite file only the rows are, since a service
may have it open.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from governance.ports.erasable import Content, Erasable
from governance.records.erasure import ArtifactState, ErasedArtifact
from governance.records.lineage import Node, NodeKind
from governance.rescan import sqlite_file
from governance.rescan.needles import Needles
from governance.rescan.search import holds

DATABASE = "tidemill.db"
CLAIMED = frozenset({"run", "dagster", "report", "played", "agent.json", "erasures", DATABASE})
"""Folders and files of the data home that this place answers for; the database's rows are the store's."""
BESIDE = ("-wal", "-shm", "-journal")
"""What lies beside a SQLite file and is searched with it."""


class HomeFiles(Erasable):
    """Logs, Dagster's storage, reports, and every file that no other place claims."""

    def __init__(self, home: Path, keys: Path, others: frozenset[str] = frozenset()) -> None:
        """``keys`` is never searched; ``others``: names in the data home that other places claim."""
        self._home, self._keys, self._others = home, keys.resolve(), others

    @property
    def name(self) -> str:
        """What reports call it."""
        return "files of the data home"

    @property
    def claims(self) -> frozenset[str]:
        """Folders and files."""
        return CLAIMED

    def count(self, tenant_id: str, subject: str) -> int:  # noqa: ARG002 - the hash is the tenant's already
        """How many files hold the subject's hash."""
        return sum(1 for _ in self._holding(Needles(subject=subject)))

    def erase(self, tenant_id: str, subject: str) -> tuple[ErasedArtifact, ...]:  # noqa: ARG002 - see count
        """Remove what holds it: a log or a report is made anew."""
        return self.purge(Needles(subject=subject))

    def contents(self) -> Iterator[Content]:
        """Every file; what lies beside a SQLite file is searched with it."""
        yield from (Content(str(path.relative_to(self._home)), path) for path in self._files())

    def purge(self, needles: Needles) -> tuple[ErasedArtifact, ...]:
        """Remove the files that hold any of the words, and the rows of SQLite files that do; idempotent."""
        ended = []
        for path in list(self._holding(needles)):
            if _is_database(path):
                detail = f"{_delete_rows(path, needles)} rows"
            else:
                path.unlink(missing_ok=True)
                detail = "a log or report"
            node = Node(kind=NodeKind.BLOCK, id=f"file/{path.relative_to(self._home)}")
            ended.append(ErasedArtifact(node=node, state=ArtifactState.DELETED, detail=detail))
        return tuple(ended)

    def _holding(self, needles: Needles) -> Iterator[Path]:
        yield from (path for path in self._files() if holds(path, needles))

    def _files(self) -> Iterator[Path]:
        stores = {DATABASE, *(DATABASE + end for end in BESIDE)}
        here = sorted(self._home.iterdir()) if self._home.is_dir() else []
        for place in here:
            if place.name in self._others | stores or place.resolve() == self._keys:
                continue
            files = [place] if place.is_file() else sorted(place.rglob("*"))
            yield from (path for path in files if path.is_file() and not _is_beside(path))


def _is_beside(path: Path) -> bool:
    """Whether a file belongs to a SQLite file that is there."""
    found = [path.with_name(path.name.removesuffix(end)) for end in BESIDE if path.name.endswith(end)]
    return any(one.exists() for one in found)


def _is_database(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(sqlite_file.MAGIC)) == sqlite_file.MAGIC


def _delete_rows(path: Path, needles: Needles) -> int:
    """Delete the rows that hold any of the words, and leave no bytes of them; how many."""
    gone = 0
    with closing(sqlite3.connect(path, timeout=60)) as connection:
        connection.execute("PRAGMA secure_delete = ON")
        connection.text_factory = bytes
        tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND name NOT LIKE 'sqlite_%'"
        for (name,) in connection.execute(tables).fetchall():
            quoted = '"' + name.decode().replace('"', '""') + '"'
            rows = connection.execute(f"SELECT rowid, * FROM {quoted}")  # noqa: S608 - a table's own name, quoted
            doomed = [row[0] for row in rows if any(isinstance(one, bytes) and holds(one, needles) for one in row[1:])]
            delete = f"DELETE FROM {quoted} WHERE rowid = ?"  # noqa: S608 - the same
            connection.executemany(delete, [(one,) for one in doomed])
            gone += len(doomed)
        connection.commit()
        for statement in ("PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
            connection.execute(statement).fetchall()
    return gone
