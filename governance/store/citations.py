"""A person leaves the patterns that cite them.

A pattern that rests on others too goes on without the person: their trajectories leave its citations and its evidence,
together with the values that only their trajectories contain. A pattern that rests on nobody any more is deleted with
its proposals, and a fact that no remaining proposal asks for has lost its ground.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, or_, select, update

from governance.records.erasure import ArtifactState, ErasedArtifact
from governance.records.lineage import Node, NodeKind
from governance.store import dialect, trajectories
from governance.store.chunks import chunks
from governance.store.kit import Kit
from governance.store.lineage import node
from governance.store.tables_evidence import LineageRow
from governance.store.tables_learning import PatternRow, PatternSourceRow, ProposalRow

SHORTEST_QUOTE = 3
"""Shorter strings in a pattern's evidence are names of the pattern, not quotes of a person."""


class Left(NamedTuple):
    """What became of the patterns, and the facts that lost their ground."""

    artifacts: list[ErasedArtifact]
    groundless: list[Node]


def leave_patterns(connection: Connection, kit: Kit, person: tuple[str, str], trajectory_ids: Sequence[str]) -> Left:
    """Take the person's trajectories out of every pattern. Call it while their words are still there."""
    tenant_id, subject = person
    affected: dict[tuple[str, str], set[str]] = {}
    row = PatternSourceRow
    found = select(row.cycle_id, row.key, row.trajectory_id)
    mine = [row.tenant_id == tenant_id, row.subject == subject]
    for cycle_id, key, id_ in connection.execute(found.where(*mine)).all():
        affected.setdefault((cycle_id, key), set()).add(id_)
    for part in chunks(trajectory_ids, dialect.CHUNK):
        for cycle_id, key, id_ in connection.execute(found.where(row.trajectory_id.in_(part))).all():
            affected.setdefault((cycle_id, key), set()).add(id_)
    words = _Words(connection, kit)
    left = Left([], [])
    facts: set[str] = set()
    for (cycle_id, key), gone in sorted(affected.items()):
        kept = _cut(connection, cycle_id, key, gone)
        me = node(NodeKind.PATTERN, cycle_id, key)
        if kept:
            _rewrite(connection, words, (cycle_id, key), gone, kept)
            left.artifacts.append(ErasedArtifact(node=me, state=ArtifactState.REBUILT_WITHOUT))
        else:
            removed, ids = _delete(connection, cycle_id, key)
            facts.update(ids)
            left.artifacts.extend(ErasedArtifact(node=n, state=ArtifactState.DELETED) for n in [me, *removed])
    left.groundless.extend(_groundless(connection, facts))
    return left


def _cut(connection: Connection, cycle_id: str, key: str, gone: set[str]) -> list[tuple[str, str, str]]:
    """Remove the citations; what remains as (trajectory, tenant, subject)."""
    row, edge, me = PatternSourceRow, LineageRow, node(NodeKind.PATTERN, cycle_id, key)
    mine = (row.cycle_id == cycle_id, row.key == key)
    for part in chunks(sorted(gone), dialect.CHUNK):
        connection.execute(delete(row).where(*mine, row.trajectory_id.in_(part)))
        derived = (edge.derived_kind == me.kind.value, edge.derived_id == me.id)
        source = (edge.source_kind == NodeKind.TRAJECTORY.value, edge.source_id.in_(part))
        connection.execute(delete(edge).where(*derived, *source))
    statement = select(row.trajectory_id, row.tenant_id, row.subject).where(*mine).order_by(row.trajectory_id)
    return [(id_, tenant, subject) for id_, tenant, subject in connection.execute(statement)]


def _rewrite(
    connection: Connection,
    words: _Words,
    pattern: tuple[str, str],
    gone: set[str],
    kept: Sequence[tuple[str, str, str]],
) -> None:
    cycle_id, key = pattern
    mine = (PatternRow.cycle_id == cycle_id, PatternRow.key == key)
    body = connection.scalar(select(PatternRow.body).where(*mine))
    if body is None:
        return
    theirs, others = words.of(gone), words.of(id_ for id_, _, _ in kept)

    def is_theirs(text: str) -> bool:
        if text in gone or any(id_.endswith(f"/{text}") for id_ in gone):
            return True
        return len(text) >= SHORTEST_QUOTE and text in theirs and text not in others

    body["trajectory_ids"] = [id_ for id_, _, _ in kept]
    body["subjects"] = len({(tenant, subject) for _, tenant, subject in kept})
    body["evidence"] = _without(body["evidence"], is_theirs)
    connection.execute(update(PatternRow).where(*mine).values(body=body))


def _delete(connection: Connection, cycle_id: str, key: str) -> tuple[list[Node], set[str]]:
    """Delete a pattern and its proposals: the proposals' nodes, and the ids of the facts that they asked for."""
    row, edge = ProposalRow, LineageRow
    mine = (row.cycle_id == cycle_id, row.pattern_key == key)
    digests = connection.scalars(select(row.digest).where(*mine)).all()
    proposals = [node(NodeKind.PROPOSAL, cycle_id, digest) for digest in sorted(digests)]
    ids = [proposal.id for proposal in proposals]
    from_them = (edge.source_kind == NodeKind.PROPOSAL.value, edge.source_id.in_(ids))
    facts = select(edge.derived_id).where(*from_them, edge.derived_kind == NodeKind.FACT.value)
    found = set(connection.scalars(facts))
    me = node(NodeKind.PATTERN, cycle_id, key)
    from_me = (edge.source_kind == me.kind.value) & (edge.source_id == me.id)
    connection.execute(delete(edge).where(or_(from_me, from_them[0] & from_them[1])))
    connection.execute(delete(row).where(*mine))
    connection.execute(delete(PatternRow).where(PatternRow.cycle_id == cycle_id, PatternRow.key == key))
    return proposals, found


def _groundless(connection: Connection, facts: Iterable[str]) -> list[Node]:
    row = LineageRow
    grounded: set[str] = set()
    wanted = sorted(set(facts))
    for part in chunks(wanted, dialect.CHUNK):
        where = (row.derived_kind == NodeKind.FACT.value, row.derived_id.in_(part))
        grounded.update(connection.scalars(select(row.derived_id).where(*where)))
    return [node(NodeKind.FACT, fact) for fact in wanted if fact not in grounded]


class _Words:
    """The words of trajectories, loaded once each."""

    def __init__(self, connection: Connection, kit: Kit) -> None:
        self._connection = connection
        self._kit = kit
        self._held: dict[str, str] = {}

    def of(self, trajectory_ids: Iterable[str]) -> str:
        """Every string leaf of the trajectories' blocks, one to a line."""
        wanted = list(trajectory_ids)
        missing = [id_ for id_ in wanted if id_ not in self._held]
        found = trajectories.words_of(self._connection, self._kit, missing)
        for id_ in missing:
            self._held[id_] = "\n".join(leaf for body in found.get(id_, ()) for leaf in _leaves(body))
        return "\n".join(self._held[id_] for id_ in wanted)


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)


def _without(value: Any, is_theirs: Any) -> Any:
    """The JSON value without the strings (as values, items or keys) that are the person's."""
    if isinstance(value, dict):
        kept = {key: item for key, item in value.items() if not is_theirs(key)}
        return {
            key: _without(item, is_theirs)
            for key, item in kept.items()
            if not (isinstance(item, str) and is_theirs(item))
        }
    if isinstance(value, list):
        return [_without(item, is_theirs) for item in value if not (isinstance(item, str) and is_theirs(item))]
    return value
