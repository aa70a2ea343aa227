"""What the store holds of a person: their traces, and what rests on them directly.

A span that identifies nobody belongs to the person of its trace, as on reading; a trace that names the person in its
content (``mentions``) goes as a whole, whoever's it is. A trajectory holds the words of all its spans, so it goes when
any of them is the person's, and is made again of what stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, or_, select

from governance.records.lineage import NodeKind
from governance.records.rights_request import RequestKind
from governance.records.trajectory import UNKNOWN_SUBJECT
from governance.store import dialect, feedback_erasure, schema
from governance.store.chunks import chunks
from governance.store.tables_evidence import LineageRow
from governance.store.tables_masking import ReviewRow
from governance.store.tables_rights import RightsRequestRow
from governance.store.tables_traces import MentionRow, SpansRow, TrajectoryRow

STAYING = frozenset({"suppressions", "erasures", "rights_requests", "erasure_notes"})
"""What keeps a person out, what proves that they left, and the request and its notes, which go when there is proof."""


@dataclass(frozen=True)
class Findings:
    """Keys of what is the person's."""

    spans: tuple[tuple[str, str, int], ...]
    """Rows of spans."""
    trajectories: tuple[str, ...]
    shared: frozenset[str] = frozenset()
    """Traces of which spans of others stay."""

    @property
    def whole(self) -> list[str]:
        """The traces of which nothing stays."""
        return [trace_id for trace_id in self.traces if trace_id not in self.shared]

    @property
    def traces(self) -> list[str]:
        """The ids of the traces that they are of."""
        of_runs = {id_.rpartition("/")[2] for id_ in self.trajectories}
        return sorted(of_runs | {trace for _, trace, _ in self.spans})


def find(connection: Connection, tenant_id: str, subject: str) -> Findings:
    """The person's spans and trajectories."""
    mine, named = _traces(connection, tenant_id, subject)
    spans = {
        (tenant_id, trace, number)
        for traces, subjects in ((mine, (subject, UNKNOWN_SUBJECT)), (named, None))
        for trace, number in _spans(connection, tenant_id, traces, subjects)
    }
    ids = {*_trajectories(connection, tenant_id, mine, None), *_trajectories(connection, tenant_id, named, None)}
    shared = frozenset(_shared(connection, tenant_id, sorted(set(mine) - set(named)), (subject, UNKNOWN_SUBJECT)))
    return Findings(tuple(sorted(spans)), tuple(sorted(ids)), shared)


def own_traces(connection: Connection, tenant_id: str, subject: str) -> list[str]:
    """The traces in which the person acts, without those that only mention them."""
    return _traces(connection, tenant_id, subject)[0]


def count(connection: Connection, tenant_id: str, subject: str) -> int:
    """Rows that the declared paths lead to, besides what stays after an erasure."""
    total = 0
    for name, column in subject_columns().items():
        if name not in STAYING:
            table = column.class_
            where = (table.tenant_id == tenant_id, column == subject)
            total += connection.scalar(select(func.count()).select_from(table).where(*where)) or 0
    total += _count_requests(connection, tenant_id, subject)
    owned = select(func.count()).where(SpansRow.tenant_id == tenant_id, SpansRow.subject == subject)
    held = find(connection, tenant_id, subject)
    total += len(held.spans) - (connection.scalar(owned) or 0)
    total += len(feedback_erasure.find_joined(connection, tenant_id, subject, held.whole))
    total += sum(_count_reviews(connection, tenant_id, subject, held.traces))
    edges = select(func.count()).select_from(LineageRow).where(names_person(tenant_id, subject))
    return total + (connection.scalar(edges) or 0)


def _count_requests(connection: Connection, tenant_id: str, subject: str) -> int:
    """What the person asked for, but for an erasure: its certificate takes its place."""
    row = RightsRequestRow
    mine = (row.tenant_id == tenant_id, row.subject == subject, row.kind != RequestKind.ERASURE.value)
    return connection.scalar(select(func.count()).select_from(row).where(*mine)) or 0


def _count_reviews(connection: Connection, tenant_id: str, subject: str, traces: Sequence[str]) -> Iterable[int]:
    """Texts to review of the traces, that are under others."""
    row = ReviewRow
    for part in chunks(traces, dialect.CHUNK):
        theirs = (row.tenant_id == tenant_id, row.trace_id.in_(part), row.subject != subject)
        yield connection.scalar(select(func.count()).select_from(row).where(*theirs)) or 0


def subject_columns() -> dict[str, Any]:
    """Table name to the column that holds a person's keyed hash, for the tables that have one."""
    found = {}
    for mapper in schema.mappers():
        cls = mapper.class_
        column = getattr(cls, cls.subject_path, None)
        if column is not None:
            found[cls.__tablename__] = column
    return dict(sorted(found.items()))


def names_person(tenant_id: str, subject: str) -> ColumnElement[bool]:
    """Lineage edges that name the person."""
    row, id_, kind = LineageRow, f"{tenant_id}/{subject}", NodeKind.SUBJECT.value
    return or_((row.source_kind == kind) & (row.source_id == id_), (row.derived_kind == kind) & (row.derived_id == id_))


def _traces(connection: Connection, tenant_id: str, subject: str) -> tuple[list[str], list[str]]:
    mine: set[str] = set()
    for row in (SpansRow, TrajectoryRow):
        statement = select(row.trace_id).where(row.tenant_id == tenant_id, row.subject == subject).distinct()
        mine.update(connection.scalars(statement))
    mentions = select(MentionRow.trace_id).where(MentionRow.tenant_id == tenant_id, MentionRow.mention == subject)
    return sorted(mine), sorted(set(connection.scalars(mentions)))


def _spans(
    connection: Connection, tenant_id: str, traces: Sequence[str], subjects: Sequence[str] | None
) -> Iterable[tuple[str, int]]:
    for part in chunks(traces, dialect.CHUNK):
        statement = select(SpansRow.trace_id, SpansRow.number).where(
            SpansRow.tenant_id == tenant_id, SpansRow.trace_id.in_(part)
        )
        if subjects is not None:
            statement = statement.where(SpansRow.subject.in_(subjects))
        yield from ((trace, number) for trace, number in connection.execute(statement))


def people_of(connection: Connection, tenant_id: str, traces: Sequence[str]) -> set[str]:
    """Everybody whose spans or trajectories the traces hold."""
    found: set[str] = set()
    for part in chunks(traces, dialect.CHUNK):
        for row in (SpansRow, TrajectoryRow):
            found.update(
                connection.scalars(
                    select(row.subject).where(row.tenant_id == tenant_id, row.trace_id.in_(part)).distinct()
                )
            )
    return found - {UNKNOWN_SUBJECT}


def _shared(connection: Connection, tenant_id: str, traces: Sequence[str], subjects: Sequence[str]) -> Iterable[str]:
    """Those of the traces that hold spans of others than ``subjects``."""
    for part in chunks(traces, dialect.CHUNK):
        mine = (SpansRow.tenant_id == tenant_id, SpansRow.trace_id.in_(part), SpansRow.subject.not_in(subjects))
        yield from connection.scalars(select(SpansRow.trace_id).where(*mine).distinct())


def _trajectories(
    connection: Connection, tenant_id: str, traces: Sequence[str], subjects: Sequence[str] | None
) -> Iterable[str]:
    for part in chunks(traces, dialect.CHUNK):
        statement = select(TrajectoryRow.id).where(
            TrajectoryRow.tenant_id == tenant_id, TrajectoryRow.trace_id.in_(part)
        )
        if subjects is not None:
            statement = statement.where(TrajectoryRow.subject.in_(subjects))
        yield from connection.scalars(statement)
