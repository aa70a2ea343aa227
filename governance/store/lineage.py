"""``store.lineage``: what was made from what, both ways, each in one recursive query (``lineage_queries``).

The store itself writes the edges of what it stores (task from trajectory, dataset from row, adapter from dataset,
release from adapter and facts, ...); the steps add what only they know. Ids of nodes: a trajectory's id; digests of
tasks, facts, adapters, releases; a dataset's root; ``cycle/key`` of a pattern; ``cycle/digest`` of a proposal;
``root/digest`` of a dataset row; ``tenant/key`` of a feedback; ``tenant/subject`` of a person.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, select

from governance.errors import NotFound
from governance.records.descent import (
    Derived,
    Nodes,
    ReleaseLineage,
    RowLineage,
    Run,
    Source,
    SourceKind,
    SubjectLineage,
)
from governance.records.lineage import LineageEdge, Node, NodeKind
from governance.records.manifest import ManifestLine
from governance.records.rights import Contract, Purpose
from governance.store import dialect, lineage_queries
from governance.store.kit import Kit
from governance.store.tables_evidence import LineageRow
from governance.store.tables_releases import ReleaseRow
from governance.store.tables_rights import ContractRow


class Lineage:
    """The lineage graph. Edges are added and, but for those that name a person, never removed."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def add(self, edges: Sequence[LineageEdge]) -> None:
        """Add edges; idempotent."""
        self._kit.db.run(lambda connection: add(connection, edges))

    def of_release(self, digest: str, purpose: Purpose) -> ReleaseLineage:
        """Everything that a release was made from: datasets, rows, runs, people, bases and clauses of contracts.

        It names people, so only ``comply`` may read it; the read is logged in the chain of each tenant in it.

        Raises:
            NotFound: when there is no such release.
            RoleDenied: to who may not read for ``comply``.

        """
        with self._kit.reading(purpose) as connection:
            if connection.scalar(select(ReleaseRow.digest).where(ReleaseRow.digest == digest)) is None:
                raise NotFound(f"store: no release {digest}")
            found = _of_release(digest, connection.execute(lineage_queries.ancestors_of_release(digest)).all())
            tenants = {run.tenant_id for run in found.runs} | {row.tenant_id for row in found.rows}
            self._kit.log_comply(connection, purpose, tenants, f"release:{digest}")
        return found

    def of_subject(self, tenant_id: str, subject: str, purpose: Purpose) -> SubjectLineage:
        """Everything that was made from a person's data; logged.

        Raises:
            RoleDenied: to who may not read for ``comply``.

        """
        with self._kit.reading(purpose) as connection:
            self._kit.log_comply(connection, purpose, [tenant_id], f"subject:{tenant_id}/{subject}")
            made = made_from_person(connection, tenant_id, subject)
        return SubjectLineage(tenant_id=tenant_id, subject=subject, made=made)

    def derived(self, source: Source) -> tuple[Derived, ...]:
        """Everything made from a source, in whole or in part, the source's own nodes among them.

        Raises:
            NotFound: for an id that is not its tenant's, whether another has it or nobody.

        """
        with self._kit.db.read() as connection:
            _refuse_foreign(connection, source)
            contracts = _contracts(connection, source) if source.kind is SourceKind.CONTRACT else []
            starts = lineage_queries.starts_of_source(source, contracts)
            if not starts:
                return ()
            return _derived(connection.execute(lineage_queries.descendants_with_sources(starts)).all())

    def edges(self, nodes: Iterable[Node]) -> list[LineageEdge]:
        """What each of the nodes was made from directly, but for rows of datasets."""
        row = LineageRow
        found = []
        with self._kit.db.read() as connection:
            for one in nodes:
                apart = row.source_kind != NodeKind.DATASET_ROW.value
                where = (row.derived_kind == one.kind.value, row.derived_id == one.id, apart)
                statement = (
                    select(row.source_kind, row.source_id).where(*where).order_by(row.source_kind, row.source_id)
                )
                sources = connection.execute(statement)
                found += [edge(one, Node(kind=NodeKind(kind), id=id_)) for kind, id_ in sources]
        return found

    def descendants(self, node: Node) -> list[Node]:
        """Everything made from the node, in whole or in part, by (kind, id)."""
        with self._kit.db.read() as connection:
            return descendants(connection, [node])

    def ancestors(self, node: Node) -> list[Node]:
        """Everything that the node was made from, by (kind, id)."""
        row = LineageRow
        with self._kit.db.read() as connection:
            return _closure(connection, [node], (row.source_kind, row.source_id), (row.derived_kind, row.derived_id))


def edge(derived: Node, source: Node) -> LineageEdge:
    """``derived`` was made from ``source``."""
    return LineageEdge(derived=derived, source=source)


def node(kind: NodeKind, *parts: str) -> Node:
    """A node whose id is the parts joined by ``/``."""
    return Node(kind=kind, id="/".join(parts))


def add(connection: Connection, edges: Iterable[LineageEdge]) -> None:
    """Add edges inside a transaction."""
    keys = {(e.derived.kind.value, e.derived.id, e.source.kind.value, e.source.id) for e in edges}
    names = ("derived_kind", "derived_id", "source_kind", "source_id")
    dialect.insert_new(connection, LineageRow, [dict(zip(names, key, strict=True)) for key in sorted(keys)])


def descendants(connection: Connection, nodes: Sequence[Node]) -> list[Node]:
    """Everything made from any of the nodes."""
    row = LineageRow
    return _closure(connection, nodes, (row.derived_kind, row.derived_id), (row.source_kind, row.source_id))


def made_from_person(connection: Connection, tenant_id: str, subject: str) -> Nodes:
    """Everything made from a person's data, by kind, their own runs and statements among it."""
    query = lineage_queries.descendants(lineage_queries.starts_of_person(tenant_id, subject))
    found = [(kind, id_) for kind, id_ in connection.execute(query) if kind != NodeKind.SUBJECT.value]
    return _by_kind(found)


def _by_kind(found: Iterable[tuple[str, str]]) -> Nodes:
    kinds: dict[NodeKind, set[str]] = defaultdict(set)
    for kind, id_ in found:
        kinds[NodeKind(kind)].add(id_)
    return {kind: tuple(sorted(kinds[kind])) for kind in sorted(kinds)}


def _of_release(digest: str, found: Sequence[Any]) -> ReleaseLineage:
    rows = [_row(id_, ManifestLine.model_validate(body)) for _, id_, body, _, _ in found if body is not None]
    runs = {id_: (tenant, whose) for kind, id_, _, tenant, whose in found if kind == NodeKind.TRAJECTORY.value}
    people = {id_ for kind, id_, *_ in found if kind == NodeKind.SUBJECT.value}
    people |= {f"{tenant}/{whose}" for tenant, whose in runs.values() if whose is not None}
    people |= {f"{row.tenant_id}/{row.subject}" for row in rows}
    apart = {NodeKind.TRAJECTORY.value, NodeKind.SUBJECT.value, NodeKind.DATASET_ROW.value}
    return ReleaseLineage(
        release=digest,
        made_from=_by_kind((kind, id_) for kind, id_, *_ in found if kind not in apart),
        rows=tuple(rows),
        runs=tuple(
            Run(id=id_, tenant_id=tenant or id_.partition("/")[0], subject=whose)
            for id_, (tenant, whose) in sorted(runs.items())
        ),
        subjects=tuple(sorted(people)),
    )


def _row(dataset: str, line: ManifestLine) -> RowLineage:
    verdict = line.verdict
    return RowLineage(
        dataset=dataset,
        row=line.row,
        tenant_id=line.tenant_id,
        subject=line.subject,
        trajectory_id=line.trajectory_id,
        basis=verdict.basis,
        clause=f"{line.contract}/{verdict.purpose.value}" if line.contract else None,
        as_of=verdict.as_of,
        policy_version=verdict.policy_version,
    )


def _contracts(connection: Connection, source: Source) -> list[Contract]:
    row = ContractRow
    statement = select(row.body).where(row.tenant_id == source.tenant_id, row.id.in_(source.ids)).order_by(row.id)
    return [Contract.model_validate(body) for body in connection.scalars(statement)]


def _refuse_foreign(connection: Connection, source: Source) -> None:
    """Another tenant's id answers like one that nobody has: neither is there for this tenant."""
    if source.kind is SourceKind.RUN:
        mine = {id_ for id_ in source.ids if id_.startswith(f"{source.tenant_id}/")}
    elif (query := lineage_queries.owned(source)) is not None:
        mine = set(connection.scalars(query))
    else:
        return
    if foreign := [id_ for id_ in source.ids if id_ not in mine]:
        raise NotFound(f"nothing is known here of {source.kind} {', '.join(foreign)} of {source.tenant_id}")


def _derived(found: Sequence[Any]) -> tuple[Derived, ...]:
    """What is whole is so by its sources: a start has none that count, anything else as far as all of its are."""
    sources: dict[tuple[str, str], list[tuple[tuple[str, str], bool]]] = defaultdict(list)
    for kind, id_, source_kind, source_id, known in found:
        counts = source_kind is not None and (known or source_kind != NodeKind.SUBJECT.value)
        sources[kind, id_] += [((source_kind, source_id), bool(known))] if counts else []
    part = {key for key, of in sources.items() if any(known for _, known in of) and not all(known for _, known in of)}
    grown = True
    while grown:
        new = {key for key, of in sources.items() if key not in part and any(source in part for source, _ in of)}
        part, grown = part | new, bool(new)
    return tuple(
        Derived(
            node=Node(kind=NodeKind(kind), id=id_),
            whole=(kind, id_) not in part,
            sources=len(of),
            tainted=sum(known for _, known in of),
        )
        for (kind, id_), of in sorted(sources.items())
    )


def _closure(connection: Connection, nodes: Sequence[Node], to: Any, of: Any) -> list[Node]:
    found: set[tuple[str, str]] = set()
    for start in nodes:
        if (start.kind.value, start.id) in found:
            continue
        first = select(to[0].label("kind"), to[1].label("id")).where(of[0] == start.kind.value, of[1] == start.id)
        reached = first.cte("reached", recursive=True)
        further = select(to[0], to[1]).join(reached, (of[0] == reached.c.kind) & (of[1] == reached.c.id))
        reached = reached.union(further)
        found.update((kind, id_) for kind, id_ in connection.execute(select(reached.c.kind, reached.c.id)))
    return [Node(kind=NodeKind(kind), id=id_) for kind, id_ in sorted(found)]


__all__ = ["Lineage", "add", "descendants", "edge", "made_from_person", "node"]
