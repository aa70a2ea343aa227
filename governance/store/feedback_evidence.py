"""Which signals were made from which feedback, by the edges of the lineage."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, delete, select

from governance.records.lineage import NodeKind
from governance.store import dialect
from governance.store.chunks import chunks
from governance.store.tables_evidence import LineageRow
from governance.store.tables_traces import SignalRow


def made_from(connection: Connection, feedback: Iterable[str]) -> set[str]:
    """The signals that were made from feedback, by the ids of its nodes."""
    row, found = LineageRow, set[str]()
    for part in chunks(sorted(feedback), dialect.CHUNK):
        source = (row.source_kind == NodeKind.FEEDBACK.value, row.source_id.in_(part))
        found.update(connection.scalars(select(row.derived_id).where(*source)))
    return found


def retract(connection: Connection, signals: Iterable[str]) -> list[str]:
    """Delete signals, with what says of what they were made; the ids of those that were there."""
    row, gone = LineageRow, set[str]()
    for part in chunks(sorted(signals), dialect.CHUNK):
        gone.update(connection.scalars(select(SignalRow.id).where(SignalRow.id.in_(part))))
        connection.execute(delete(SignalRow).where(SignalRow.id.in_(part)))
        connection.execute(delete(row).where(row.derived_kind == NodeKind.SIGNAL.value, row.derived_id.in_(part)))
    return sorted(gone)
