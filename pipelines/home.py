"""The data home's own files, and who answers for each when a person is erased.

Every folder of the data home is claimed by some ``Erasable``; a test fails for one that is not. Those claimed here
hold no data of people: logs of services, Dagster's records of counts and digests, the report of aggregate numbers.
``count`` proves it instead of assuming it: it searches every file for the subject's hash.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from governance.ports.erasable import Erasable
from governance.records.erasure import ArtifactState, ErasedArtifact
from governance.records.lineage import Node, NodeKind

CLAIMED = frozenset({"run", "dagster", "report", "played", "agent.json", "tidemill.db"})
"""Folders and files of the data home that this place answers for; the database's rows are the store's."""
CHUNK = 1 << 20


class HomeFiles(Erasable):
    """Logs, Dagster's storage and reports."""

    def __init__(self, home: Path, keys: Path) -> None:
        """``keys`` lies outside of ``home`` and is never searched."""
        self._home, self._keys = home, keys

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
        return sum(1 for _ in self._holding(subject))

    def erase(self, tenant_id: str, subject: str) -> tuple[ErasedArtifact, ...]:  # noqa: ARG002 - see count
        """Remove those files: a log or a report is made anew."""
        ended = []
        for path in list(self._holding(subject)):
            path.unlink()
            node = Node(kind=NodeKind.SUBJECT, id=f"file/{path.relative_to(self._home)}")
            ended.append(ErasedArtifact(node=node, state=ArtifactState.DELETED, detail="a log or report"))
        return tuple(ended)

    def _holding(self, subject: str) -> Iterator[Path]:
        needle = subject.encode()
        for name in sorted(CLAIMED - {"tidemill.db"}):
            place = self._home / name
            files = [place] if place.is_file() else sorted(place.rglob("*"))
            yield from (path for path in files if path.is_file() and _holds(path, needle))


def _holds(path: Path, needle: bytes) -> bool:
    tail = b""
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            if needle in tail + chunk:
                return True
            tail = chunk[-len(needle) :]
    return False
