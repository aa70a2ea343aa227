"""The spool as a place that answers for the people in it: those whom raw spans and raw feedback name.

A raw segment is not edited: it is drained. The person is suppressed before an erasure starts, so the door refuses their
spans, the ledger counts them as rejected, and the segment's key is destroyed with the segment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from governance.ports.erasable import Content, Erasable
from governance.records.base import canonical_json
from governance.records.erasure import ArtifactState, ErasedArtifact
from governance.records.lineage import Node, NodeKind
from ingestion.batch import read_groups
from ingestion.errors import SpoolError
from ingestion.feedback.item import Item
from ingestion.people import Subjects
from ingestion.spool import Spool


def spool_erasable(spool: Spool, subjects: Subjects, drain: Callable[[], object]) -> Erasable:
    """``drain`` empties the spool whatever waits (a ``Drain`` with ``hold`` zero)."""
    return _SpoolErasable(spool, subjects, drain)


class _SpoolErasable(Erasable):
    def __init__(self, spool: Spool, subjects: Subjects, drain: Callable[[], object]) -> None:
        self._spool = spool
        self._subjects = subjects
        self._drain = drain

    @property
    def name(self) -> str:
        return "spool of raw spans"

    @property
    def claims(self) -> frozenset[str]:
        return frozenset({"spool"})

    def count(self, tenant_id: str, subject: str) -> int:
        """Raw spans of the traces that name the subject, and raw feedback that names them or is about those traces."""
        return sum(found for _, found in self._found(tenant_id, subject))

    def erase(self, tenant_id: str, subject: str) -> tuple[ErasedArtifact, ...]:
        before = dict(self._found(tenant_id, subject))
        if before:
            self._drain()
        after = dict(self._found(tenant_id, subject))
        return tuple(
            ErasedArtifact(
                node=Node(kind=NodeKind.BLOCK, id=f"spool/{segment_id}"),
                state=ArtifactState.HELD if segment_id in after else ArtifactState.DELETED,
                detail=f"{found} raw spans and items of feedback",
            )
            for segment_id, found in before.items()
        )

    def contents(self) -> Iterator[Content]:
        """Raw spans and feedback, unsealed; a segment that does not open is left to who drains it."""
        for segment_id in self._spool.sealed():
            try:
                groups = read_groups(self._spool.read(segment_id))
            except SpoolError:
                continue
            for group in groups:
                said = [[span.plain() for span in group.spans], [item.sent() for item in group.feedback]]
                yield Content(f"segment {segment_id}", canonical_json(said))

    def _found(self, tenant_id: str, subject: str) -> Iterator[tuple[str, int]]:
        self._spool.seal()
        for segment_id in self._spool.sealed():
            try:
                groups = read_groups(self._spool.read(segment_id))
            except SpoolError:
                continue
            found = 0
            for group in groups:
                if group.tenant_id == tenant_id:
                    theirs = self._subjects.traces_of(tenant_id, subject, group.spans)
                    found += sum(1 for span in group.spans if span.trace_id in theirs)
                    found += sum(1 for item in group.feedback if self._is_theirs(tenant_id, subject, item, theirs))
            if found:
                yield segment_id, found

    def _is_theirs(self, tenant_id: str, subject: str, item: Item, traces: set[str]) -> bool:
        named = item.user_id is not None and self._subjects.hashed(tenant_id, item.user_id) == subject
        return named or item.target.trace_id in traces
