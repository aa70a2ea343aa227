"""How a person leaves the store: one transaction over every table, along the declared paths and the lineage.

Deleted: their spans, trajectories, words, feedback, signals, tasks, grades with rollouts, dataset rows and lines,
exclusions, rights records, what masking lists and reviews hold of them, and the lineage edges that name them. Rebuilt
without them: worlds and patterns that hold others too.
Not deleted but named: a dataset's manifest (digests), adapters trained in part on them (retired), releases that use
such an adapter or a fact that lost its ground (tainted). Erasing again finds nothing and changes nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, delete, select, text, update

from governance.acting import audited
from governance.errors import RightsError
from governance.ports.erasable import Content, Erasable
from governance.records.erasure import ArtifactState, ErasedArtifact
from governance.records.lineage import Node, NodeKind
from governance.records.trajectory import UNKNOWN_SUBJECT
from governance.rescan.sqlite_file import together
from governance.store import (
    audit,
    citations,
    dialect,
    feedback_erasure,
    findings,
    lineage,
    release,
    requests,
    schema,
    spans,
    trajectories,
    version_checks,
    worlds,
)
from governance.store.chunks import chunks
from governance.store.kit import Kit
from governance.store.lineage import node
from governance.store.tables_audit import AuditSaltRow
from governance.store.tables_datasets import DatasetLineRow
from governance.store.tables_evidence import LineageRow
from governance.store.tables_learning import DatasetExclusionRow, DatasetRowTable, GradeRow, TaskRow
from governance.store.tables_masking import MaskingListRow, ReviewRow
from governance.store.tables_releases import AdapterRow, ReleaseRow
from governance.store.tables_rights import ConsentEventRow, RightsFactRow
from governance.store.tables_traces import SignalRow

PORTION = 1000
"""Rows that are read at once."""
REASON = "made in part from the data of a person who was erased"


class StoreErasable(Erasable):
    """Answers for every table."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    @property
    def name(self) -> str:
        """What reports call it."""
        return "store"

    @property
    def claims(self) -> frozenset[str]:
        """Every table."""
        return frozenset(schema.table_info())

    def count(self, tenant_id: str, subject: str) -> int:
        """Rows of the person, besides the suppression and the certificate."""
        with self._kit.db.read() as connection:
            return findings.count(connection, tenant_id, subject)

    def erase(self, tenant_id: str, subject: str) -> tuple[ErasedArtifact, ...]:
        """Remove or retire everything made from the person's data; idempotent.

        Raises:
            RightsError: for the unknown subject, who is not a person.

        """
        if subject == UNKNOWN_SUBJECT:
            raise RightsError("store: nobody can be erased as the unknown subject")
        return self._kit.db.run(lambda connection: tuple(_Erasure(connection, self._kit, tenant_id, subject).run()))

    def contents(self) -> Iterator[Content]:
        """The file of SQLite, whose pages are searched; of PostgreSQL every value of every row."""
        path = dialect.file_of(self._kit.db.engine)
        if path is not None:
            yield Content("database", path)
            return
        with self._kit.db.read() as connection:
            for name in schema.table_info():
                statement = text(f'SELECT * FROM "{name}"')  # noqa: S608 - a table's own name
                rows = connection.execute(statement, execution_options={"yield_per": PORTION})
                values = (value for row in rows for value in _words(row))
                yield from (Content(f"table {name}", data) for data in together(values))

    def scrub(self) -> None:
        """Leave no bytes of deleted rows in the database's files."""
        held = (name for name, info in schema.table_info().items() if not info.subject_path.startswith("none"))
        dialect.scrub(self._kit.db.engine, held)


class _Erasure:
    """One erasure."""

    def __init__(self, connection: Connection, kit: Kit, tenant_id: str, subject: str) -> None:
        self._connection = connection
        self._kit = kit
        self._person = (tenant_id, subject)
        self._artifacts: list[ErasedArtifact] = []
        self._gone: set[str] = set()
        self._lines: list[tuple[str, int]] = []

    def run(self) -> Sequence[ErasedArtifact]:
        tenant_id, subject = self._person
        held = findings.find(self._connection, tenant_id, subject)
        left = citations.leave_patterns(self._connection, self._kit, self._person, held.trajectories)
        self._artifacts.extend(left.artifacts)
        starts = [node(NodeKind.SUBJECT, tenant_id, subject), *left.groundless]
        starts += [node(NodeKind.TRAJECTORY, id_) for id_ in held.trajectories]
        starts += self._derived(held.trajectories)
        self._mark(left.groundless, ArtifactState.PENDING_REBUILD, "no other evidence asks for it")
        self._taint(lineage.descendants(self._connection, starts))
        self._artifacts.extend(feedback_erasure.leave(self._connection, tenant_id, subject, held.whole))
        self._delete_traces(held)
        reviewed = self._take_reviews(held.traces)
        for old, new in worlds.remove_subject(self._connection, self._kit, tenant_id, subject):
            self._mark([node(NodeKind.WORLD, old)], ArtifactState.REBUILT_WITHOUT, f"replaced by {new}")
        self._forget(reviewed)
        self._note_lines()
        return self._artifacts

    def _derived(self, ids: Sequence[str]) -> list[Node]:
        """Delete what was made directly from the person's trajectories; the nodes that lineage goes on from."""
        signals = self._take(SignalRow, SignalRow.trajectory_id, ids, SignalRow.id)
        tasks = self._take(TaskRow, TaskRow.digest, self._tasks_from(ids), TaskRow.digest)
        digests = sorted({digest for (digest,) in tasks})
        self._take(GradeRow, GradeRow.task_digest, digests, GradeRow.task_digest)
        row = DatasetRowTable
        rows = self._take(row, row.trajectory_id, ids, row.root, row.digest)
        line = DatasetLineRow
        self._lines = self._take(line, line.trajectory_id, ids, line.root, line.position)
        exclusions = DatasetExclusionRow
        self._take(exclusions, exclusions.trajectory_id, ids, exclusions.root)
        self._mark([node(NodeKind.SIGNAL, id_) for (id_,) in signals], ArtifactState.DELETED)
        made = [node(NodeKind.TASK, digest) for digest in digests]
        made += [node(NodeKind.DATASET_ROW, root, digest) for root, digest in rows]
        self._mark(made, ArtifactState.DELETED)
        return made

    def _note_lines(self) -> None:
        """Write into the tenant's chain which lines of which version went, so that no other line goes unnoticed.

        Last of all, as every writer does: the chain's lock is taken by who has the rows already.
        """
        places: dict[str, list[int]] = defaultdict(list)
        for root, position in self._lines:
            places[root].append(position)
        for root, gone in sorted(places.items()):
            about = (self._person[0], version_checks.LINES_ERASED, f"dataset:{root}", {"positions": sorted(gone)})
            audit.append(self._connection, audited(self._kit.ids, self._kit.clock.now(), *about))

    def _tasks_from(self, ids: Sequence[str]) -> list[str]:
        row = LineageRow
        found: set[str] = set()
        for part in chunks(ids, dialect.CHUNK):
            source = (row.source_kind == NodeKind.TRAJECTORY.value, row.source_id.in_(part))
            derived = row.derived_kind == NodeKind.TASK.value
            found.update(self._connection.scalars(select(row.derived_id).where(*source, derived)))
        return sorted(found)

    def _take(self, table: Any, column: Any, keys: Sequence[str], *columns: Any) -> list[tuple[Any, ...]]:
        """Delete a table's rows that are the person's or carry one of the keys; the named columns of each."""
        tenant_id, subject = self._person
        conditions = [(table.tenant_id == tenant_id) & (table.subject == subject)]
        conditions += [column.in_(part) for part in chunks(keys, dialect.CHUNK)]
        taken: set[tuple[Any, ...]] = set()
        for condition in conditions:
            taken.update(tuple(found) for found in self._connection.execute(select(*columns).where(condition)))
            self._connection.execute(delete(table).where(condition))
        return sorted(taken)

    def _taint(self, made: Iterable[Node]) -> None:
        by_kind: dict[NodeKind, list[str]] = {}
        for item in made:
            by_kind.setdefault(item.kind, []).append(item.id)
        datasets = [node(NodeKind.DATASET, id_) for id_ in by_kind.get(NodeKind.DATASET, [])]
        self._mark(datasets, ArtifactState.PENDING_REBUILD, "rows and lines deleted, digests and leaves kept")
        for kind, table, key, reason, state in (
            (NodeKind.ADAPTER, AdapterRow, AdapterRow.content_digest, "retired_reason", ArtifactState.RETIRED),
            (NodeKind.RELEASE, ReleaseRow, ReleaseRow.digest, "tainted_reason", ArtifactState.PENDING_REBUILD),
        ):
            ids = by_kind.get(kind, [])
            self._mark([node(kind, id_) for id_ in ids], state, REASON)
            for part in chunks(ids, dialect.CHUNK):
                mine = (key.in_(part), getattr(table, reason).is_(None))
                self._connection.execute(update(table).where(*mine).values({reason: REASON}))

    def _delete_traces(self, held: findings.Findings) -> None:
        """Delete what goes of the traces; those of which something stays are assembled again."""
        tenant_id, _ = self._person
        self._gone = {f"{tenant_id}/{trace_id}" for trace_id in held.whole}
        trajectories.delete_trajectories(self._connection, [(tenant_id, id_) for id_ in held.trajectories])
        counts = dict.fromkeys(held.traces, 0)
        for key in held.spans:
            counts[key[1]] += spans.delete_spans(self._connection, [key])
        spans.bump(self._connection, [(tenant_id, trace_id) for trace_id in sorted(held.shared)])
        release.tidy(self._connection, self._kit, [(tenant_id, trace_id) for trace_id in counts])
        for trace_id, number in sorted(counts.items()):
            gone = node(NodeKind.TRAJECTORY, f"{tenant_id}/{trace_id}")
            if trace_id in held.shared:
                self._mark([gone], ArtifactState.PENDING_REBUILD, f"{number} spans deleted; made again without them")
            else:
                self._mark([gone], ArtifactState.DELETED, f"with {number} spans")

    def _take_reviews(self, traces: Sequence[str]) -> int:
        """Delete the texts to review of traces, whoever's they are: a sealed text does not outlive its trace."""
        row, gone = ReviewRow, 0
        for part in chunks(traces, dialect.CHUNK):
            theirs = (row.tenant_id == self._person[0], row.trace_id.in_(part))
            gone += self._connection.execute(delete(row).where(*theirs)).rowcount
        return gone

    def _forget(self, reviewed: int) -> None:
        """Delete the person's rights records, what lists hold of them, and the edges that name them.

        ``reviewed``: how many texts to review went with their traces.
        """
        tenant_id, subject = self._person
        for part in chunks(sorted(self._gone), dialect.CHUNK):
            self._connection.execute(delete(RightsFactRow).where(RightsFactRow.trajectory_id.in_(part)))
        asked_for = requests.forget(self._connection, tenant_id, subject)
        events, facts, listed, asked = (
            self._connection.execute(delete(row).where(row.tenant_id == tenant_id, row.subject == subject)).rowcount
            for row in (ConsentEventRow, RightsFactRow, MaskingListRow, ReviewRow)
        )
        salt = (AuditSaltRow.tenant_id == tenant_id, AuditSaltRow.subject == subject)
        self._connection.execute(delete(AuditSaltRow).where(*salt))
        named = self._connection.execute(delete(LineageRow).where(findings.names_person(tenant_id, subject))).rowcount
        asked += reviewed
        if events or facts or named or listed or asked or asked_for:
            masking = f"{listed} acts on masking lists and {asked} texts to review"
            detail = f"{events + facts + asked_for} rights records, {named} lineage edges, {masking}"
            self._mark([node(NodeKind.SUBJECT, tenant_id, subject)], ArtifactState.DELETED, detail)

    def _mark(self, nodes: Iterable[Node], state: ArtifactState, detail: str = "") -> None:
        self._artifacts.extend(ErasedArtifact(node=item, state=state, detail=detail) for item in nodes)


def _words(row: Iterable[Any]) -> Iterator[bytes]:
    """The texts and bytes of a row as they lie in the database."""
    for value in row:
        if isinstance(value, str):
            yield value.encode("utf-8", "surrogatepass")
        elif isinstance(value, bytes | memoryview):
            yield bytes(value)
