"""``store.lineage``: what was made from what, and every descendant of a thing in one recursive query.

The store itself writes the edges of what it stores (task from trajectory, dataset from row, adapter from dataset,
release from adapter and facts, ...); the steps add what only they know. Ids of nodes: a trajectory's id; digests of
tasks, facts, adapters, releases; a dataset's root; ``cycle/key`` of a pattern; ``cycle/digest`` of a proposal;
``root/digest`` of a dataset row; ``tenant/key`` of a feedback; ``tenant/subject`` of a person.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, select

from governance.records.lineage import LineageEdge, Node, NodeKind
from governance.store import dialect
from governance.store.kit import Kit
from governance.store.tables_evidence import LineageRow


class Lineage:
    """The lineage graph. Edges are added and, but for those that name a person, never removed."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def add(self, edges: Sequence[LineageEdge]) -> None:
        """Add edges; idempotent."""
        self._kit.db.run(lambda connection: add(connection, edges))

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


__all__ = ["Lineage", "add", "descendants", "edge", "node"]
