"""``store.segments``: which spool segments have been drained."""

from __future__ import annotations

from sqlalchemy import select

from governance.store import dialect
from governance.store.kit import Kit
from governance.store.tables_evidence import SegmentRow


class Segments:
    """Drained segments by id."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def done(self, segment_id: str) -> bool:
        """Whether everything in the segment is in the store."""
        with self._kit.db.read() as connection:
            found = connection.scalar(select(SegmentRow.segment_id).where(SegmentRow.segment_id == segment_id))
        return found is not None

    def finish(self, segment_id: str) -> None:
        """Everything in the segment is in the store; idempotent."""
        row = {
            "segment_id": segment_id,
            "finished_at": self._kit.clock.now(),
            "expires_at": self._kit.expires(SegmentRow),
        }
        self._kit.db.run(lambda connection: dialect.insert_new(connection, SegmentRow, [row]))
