"""``store.patterns``: failures that belong together, by cycle, with the trajectories that they rest on.

Each cited trajectory keeps its person, so a pattern is read without the citations of people whose data the purpose may
not use, and not at all when none is left. A pattern that cites nothing rests on nobody's data.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from sqlalchemy import Connection, select

from governance.records.lever import Pattern
from governance.records.lineage import NodeKind
from governance.records.rights import Purpose
from governance.store import dialect, lineage, rights, trajectories
from governance.store.kit import Kit
from governance.store.lineage import edge, node
from governance.store.tables_learning import PatternRow, PatternSourceRow


class Patterns:
    """Patterns by cycle."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def put_all(self, cycle_id: str, patterns: Sequence[Pattern]) -> None:
        """Store the cycle's patterns; idempotent by key. A citation of a trajectory that is not held is dropped."""
        self._kit.db.run(lambda connection: self._put(connection, cycle_id, patterns))

    def list(self, cycle_id: str, purpose: Purpose) -> tuple[Pattern, ...]:
        """The cycle's patterns that the purpose may use, in the order in which they were stored."""
        row = PatternRow
        statement = select(row.key, row.body).where(row.cycle_id == cycle_id).order_by(row.position, row.key)
        with self._kit.reading(purpose) as connection:
            allowed, cited = allowed_sources(connection, self._kit, cycle_id, purpose)
            return tuple(
                Pattern.model_validate(body | {"trajectory_ids": allowed[key] if key in cited else []})
                for key, body in connection.execute(statement)
                if allowed[key] or key not in cited
            )

    def _put(self, connection: Connection, cycle_id: str, patterns: Sequence[Pattern]) -> None:
        cited = {id_ for pattern in patterns for id_ in pattern.trajectory_ids}
        owners = trajectories.subjects_of(connection, cited)
        expires_at = self._kit.expires(PatternRow)
        by_key = {pattern.key: pattern for pattern in patterns}
        rows, sources, edges = [], [], []
        for position, pattern in enumerate(by_key.values()):
            held = [id_ for id_ in dict.fromkeys(pattern.trajectory_ids) if id_ in owners]
            if pattern.trajectory_ids and not held:
                continue
            body = pattern.model_copy(update={"trajectory_ids": tuple(held)}).plain()
            key = {"cycle_id": cycle_id, "key": pattern.key}
            rows.append(key | {"position": position, "scope": pattern.scope, "body": body, "expires_at": expires_at})
            me = node(NodeKind.PATTERN, cycle_id, pattern.key)
            for id_ in held:
                tenant_id, subject = owners[id_]
                sources.append(key | {"trajectory_id": id_, "tenant_id": tenant_id, "subject": subject})
                edges.append(edge(me, node(NodeKind.TRAJECTORY, id_)))
        dialect.upsert(connection, PatternRow, rows, ["position", "scope", "body"])
        dialect.insert_new(connection, PatternSourceRow, sources)
        lineage.add(connection, edges)


def allowed_sources(
    connection: Connection, kit: Kit, cycle_id: str, purpose: Purpose
) -> tuple[dict[str, list[str]], set[str]]:
    """For each pattern of a cycle the citations that the purpose may use; and the keys of those that cite anything."""
    row = PatternSourceRow
    statement = (
        select(row.key, row.trajectory_id, row.tenant_id, row.subject)
        .where(row.cycle_id == cycle_id)
        .order_by(row.key, row.trajectory_id)
    )
    found = connection.execute(statement).all()
    people = {(tenant_id, subject) for _, _, tenant_id, subject in found}
    kit.log_comply(connection, purpose, (tenant_id for tenant_id, _ in people), f"cycle:{cycle_id}")
    rows = {(tenant_id, subject, run) for _, run, tenant_id, subject in found}
    judged = rights.read_verdicts(connection, kit, purpose, rows)
    allowed: dict[str, list[str]] = defaultdict(list)
    for key, trajectory_id, tenant_id, subject in found:
        if judged[tenant_id, subject, trajectory_id].allowed:
            allowed[key].append(trajectory_id)
    return allowed, {key for key, _, _, _ in found}
