"""How a person leaves the store: one transaction over every table, along the declared paths and the lineage.

Deleted: their spans, trajectories, words, feedback, signals, tasks, grades with rollouts, dataset rows, exclusions,
consent events, and the lineage edges that name them. Rebuilt without them: worlds and patterns that hold others too.
Not deleted but named: a dataset's manifest (digests), adapters trained in part on them (retired), releases that use
such an adapter or a fact that lost its ground (tainted). Erasing again finds nothing and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, delete, select, update

from governance.errors import RightsError
from governance.ports.erasable import Erasable
from governance.records.erasure import ArtifactState, ErasedArtifact
from governance.records.lineage import Node, NodeKind
from governance.records.trajectory import UNKNOWN_SUBJECT
from governance.store import (
    citations,
    dialect,
    feedback_erasure,
    findings,
    lineage,
    release,
    schema,
    spans,
    trajectories,
    worlds,
)
from governance.store.chunks import chunks
from governance.store.kit import Kit
from governance.store.lineage import node
from governance.store.tables_evidence import LineageRow
from governance.store.tables_learning import DatasetExclusionRow, DatasetRowTable, GradeRow, TaskRow
from governance.store.tables_releases import AdapterRow, ReleaseRow
from governance.store.tables_rights import ConsentEventRow
from governance.store.tables_traces import SignalRow

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


class _Erasure:
    """One erasure."""

    def __init__(self, connection: Connection, kit: Kit, tenant_id: str, subject: str) -> None:
        self._connection = connection
        self._kit = kit
        self._person = (tenant_id, subject)
        self._artifacts: list[ErasedArtifact] = []

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
        for old, new in worlds.remove_subject(self._connection, self._kit, tenant_id, subject):
            self._mark([node(NodeKind.WORLD, old)], ArtifactState.REBUILT_WITHOUT, f"replaced by {new}")
        self._forget()
        return self._artifacts

    def _derived(self, ids: Sequence[str]) -> list[Node]:
        """Delete what was made directly from the person's trajectories; the nodes that lineage goes on from."""
        signals = self._take(SignalRow, SignalRow.trajectory_id, ids, SignalRow.id)
        tasks = self._take(TaskRow, TaskRow.digest, self._tasks_from(ids), TaskRow.digest)
        digests = sorted({digest for (digest,) in tasks})
        self._take(GradeRow, GradeRow.task_digest, digests, GradeRow.task_digest)
        row = DatasetRowTable
        rows = self._take(row, row.trajectory_id, ids, row.root, row.digest)
        exclusions = DatasetExclusionRow
        self._take(exclusions, exclusions.trajectory_id, ids, exclusions.root)
        self._mark([node(NodeKind.SIGNAL, id_) for (id_,) in signals], ArtifactState.DELETED)
        made = [node(NodeKind.TASK, digest) for digest in digests]
        made += [node(NodeKind.DATASET_ROW, root, digest) for root, digest in rows]
        self._mark(made, ArtifactState.DELETED)
        return made

    def _tasks_from(self, ids: Sequence[str]) -> list[str]:
        row = LineageRow
        found: set[str] = set()
        for part in chunks(ids, dialect.CHUNK):
            source = (row.source_kind == NodeKind.TRAJECTORY.value, row.source_id.in_(part))
            derived = row.derived_kind == NodeKind.TASK.value
            found.update(self._connection.scalars(select(row.derived_id).where(*source, derived)))
        return sorted(found)

    def _take(self, table: Any, column: Any, keys: Sequence[str], *columns: Any) -> list[tuple[str, ...]]:
        """Delete a table's rows that are the person's or carry one of the keys; the named columns of each."""
        tenant_id, subject = self._person
        conditions = [(table.tenant_id == tenant_id) & (table.subject == subject)]
        conditions += [column.in_(part) for part in chunks(keys, dialect.CHUNK)]
        taken: set[tuple[str, ...]] = set()
        for condition in conditions:
            taken.update(tuple(found) for found in self._connection.execute(select(*columns).where(condition)))
            self._connection.execute(delete(table).where(condition))
        return sorted(taken)

    def _taint(self, made: Iterable[Node]) -> None:
        by_kind: dict[NodeKind, list[str]] = {}
        for item in made:
            by_kind.setdefault(item.kind, []).append(item.id)
        datasets = [node(NodeKind.DATASET, id_) for id_ in by_kind.get(NodeKind.DATASET, [])]
        self._mark(datasets, ArtifactState.PENDING_REBUILD, "rows deleted, manifest of digests kept")
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

    def _forget(self) -> None:
        """Delete the person's consent events and the edges that name them."""
        tenant_id, subject = self._person
        row = ConsentEventRow
        mine = (row.tenant_id == tenant_id, row.subject == subject)
        events = self._connection.execute(delete(row).where(*mine)).rowcount
        named = self._connection.execute(delete(LineageRow).where(findings.names_person(tenant_id, subject))).rowcount
        if events or named:
            detail = f"{events} consent events and {named} lineage edges"
            self._mark([node(NodeKind.SUBJECT, tenant_id, subject)], ArtifactState.DELETED, detail)

    def _mark(self, nodes: Iterable[Node], state: ArtifactState, detail: str = "") -> None:
        self._artifacts.extend(ErasedArtifact(node=item, state=state, detail=detail) for item in nodes)
