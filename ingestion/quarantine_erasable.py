"""Quarantine as a place that answers for the people in it: sealed records are opened to see whose they are.

A record holds the spans of one trace, or one item of feedback, so it goes whole. What does not open holds nothing that
anybody can read, and is destroyed at its expiry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from governance.ports.erasable import Content, Erasable
from governance.records.base import canonical_json
from governance.records.erasure import ArtifactState, ErasedArtifact
from governance.records.lineage import Node, NodeKind
from governance.store import Store
from governance.store.quarantine import Quarantined
from ingestion.errors import SpoolError
from ingestion.people import Subjects
from ingestion.setting_aside import Held, opened
from ingestion.spool import Spool

DESTROYED = "destroyed_by_erasure"


def quarantine_erasable(spool: Callable[[], Spool], store: Store, subjects: Callable[[], Subjects]) -> Erasable:
    """``spool`` has the key of what is sealed; neither is asked for while nothing is."""
    return _QuarantineErasable(spool, store, subjects)


class _QuarantineErasable(Erasable):
    def __init__(self, spool: Callable[[], Spool], store: Store, subjects: Callable[[], Subjects]) -> None:
        self._spool, self._store, self._subjects = spool, store, subjects

    @property
    def name(self) -> str:
        return "quarantine"

    @property
    def claims(self) -> frozenset[str]:
        """Nothing besides the store, whose table it is: the store cannot open what is in it."""
        return frozenset()

    def count(self, tenant_id: str, subject: str) -> int:
        """Sealed spans and items of feedback."""
        return sum(item.spans for item, _ in self._theirs(tenant_id, subject))

    def erase(self, tenant_id: str, subject: str) -> tuple[ErasedArtifact, ...]:
        ended = []
        for item, _ in self._theirs(tenant_id, subject):
            if self._store.quarantine.destroy(item.id, DESTROYED, opened=True):
                node = Node(kind=NodeKind.BLOCK, id=f"quarantine/{item.id}")
                detail = f"{item.spans} sealed spans"
                ended.append(ErasedArtifact(node=node, state=ArtifactState.DELETED, detail=detail))
        return tuple(ended)

    def contents(self) -> Iterator[Content]:
        """What is sealed, opened."""
        for item, held in self._open():
            said = [[span.plain() for span in held.spans], [one.sent() for one in held.feedback]]
            yield Content(f"record {item.id[:12]}", canonical_json(said))

    def _theirs(self, tenant_id: str, subject: str) -> Iterator[tuple[Quarantined, Held]]:
        for item, held in self._open():
            if item.tenant_id == tenant_id and self._is_theirs(tenant_id, subject, held):
                yield item, held

    def _is_theirs(self, tenant_id: str, subject: str, held: Held) -> bool:
        subjects = self._subjects()
        named = (held.owner, *(one.user_id for one in held.feedback))
        hashes = {subjects.hashed(tenant_id, raw) for raw in named if raw is not None}
        return subject in hashes or bool(subjects.traces_of(tenant_id, subject, held.spans))

    def _open(self) -> Iterator[tuple[Quarantined, Held]]:
        for item in self._store.quarantine.list():
            try:
                yield item, opened(self._spool(), item)
            except SpoolError:
                continue
