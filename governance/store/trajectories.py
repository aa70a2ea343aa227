"""``store.trajectories``: agent runs, by purpose. A row without a right to the purpose is named, never returned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, select

from governance.errors import NotFound, PurposeDenied
from governance.records.admissible import Admissible
from governance.records.dataset import Exclusion
from governance.records.rights import Purpose
from governance.records.trajectory import Trajectory
from governance.store import blocks, dialect, rights
from governance.store.blocks import OwnerKind
from governance.store.chunks import chunks
from governance.store.codec import read_trajectory, write_trajectory
from governance.store.kit import Kit
from governance.store.tables_traces import TrajectoryRow

UPDATED = ("trace_id", "session_id", "subject", "started_at", "body")


class Trajectories:
    """Trajectories by id and by time."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def put(self, trajectory: Trajectory) -> None:
        """Store the trajectory in place of what was known of it."""
        self.put_all([trajectory])

    def put_all(self, trajectories: Sequence[Trajectory]) -> None:
        """Store many at once. Those of suppressed people are not stored."""
        self._kit.db.run(lambda connection: self._put(connection, trajectories))

    def get(self, trajectory_id: str, purpose: Purpose) -> Trajectory:
        """One trajectory.

        Raises:
            NotFound: when there is none of that id.
            PurposeDenied: when its person's data may not be used for the purpose.

        """
        row = TrajectoryRow
        statement = select(row.tenant_id, row.subject, row.body).where(row.id == trajectory_id)
        with self._kit.reading(purpose) as connection:
            found = connection.execute(statement).first()
            if found is None:
                raise NotFound(f"store: no trajectory {trajectory_id}")
            tenant_id, subject, body = found
            self._kit.log_comply(connection, purpose, [tenant_id], f"trajectory:{trajectory_id}")
            verdict = rights.read_verdicts(connection, purpose, [(tenant_id, subject)], self._kit.clock.now())[
                tenant_id, subject
            ]
            if not verdict.allowed:
                raise PurposeDenied(f"store: trajectory {trajectory_id}: {purpose.value}: {verdict.reasons[0].value}")
            return read_trajectory(body, blocks.load(connection, [(tenant_id, OwnerKind.TRAJECTORY, trajectory_id)]))

    def list(
        self,
        purpose: Purpose,
        tenants: Sequence[str],
        start: datetime,
        end: datetime,
        as_of: datetime | None = None,
    ) -> Admissible:
        """Trajectories that started in [start, end), judged as of ``as_of`` (now by default).

        For weights that several tenants will use, each tenant's contract must allow the sharing.
        """
        moment = as_of or self._kit.clock.now()
        sharing = purpose is Purpose.TRAIN_WEIGHTS and len(set(tenants)) > 1
        row = TrajectoryRow
        statement = (
            select(row.id, row.tenant_id, row.subject)
            .where(row.tenant_id.in_(tuple(tenants)), row.started_at >= start, row.started_at < end)
            .order_by(row.started_at, row.id)
        )
        with self._kit.reading(purpose) as connection:
            self._kit.log_comply(connection, purpose, tenants, "trajectories")
            found = connection.execute(statement).all()
            people = {(tenant_id, subject) for _, tenant_id, subject in found}
            judged = rights.read_verdicts(connection, purpose, people, moment, sharing=sharing)
            verdicts = {id_: judged[tenant_id, subject] for id_, tenant_id, subject in found}
            rows = _hydrate(connection, [id_ for id_, _, _ in found if verdicts[id_].allowed])
        excluded = tuple(
            Exclusion(tenant_id=tenant_id, trajectory_id=id_, reason=verdicts[id_].reasons[0].value)
            for id_, tenant_id, _ in found
            if not verdicts[id_].allowed
        )
        return Admissible(rows, excluded, verdicts)

    def _put(self, connection: Connection, trajectories: Sequence[Trajectory]) -> None:
        gone = rights.suppressed(connection, {(t.tenant_id, t.subject) for t in trajectories}, None)
        latest = {item.id: item for item in trajectories if (item.tenant_id, item.subject) not in gone}
        collector = blocks.Collector(self._kit)
        expires_at = self._kit.expires(TrajectoryRow)
        rows = [_row(latest[id_], collector) | {"expires_at": expires_at} for id_ in sorted(latest)]
        dialect.upsert(connection, TrajectoryRow, rows, UPDATED)
        blocks.replace(connection, self._kit, collector)


def _row(item: Trajectory, collector: blocks.Collector) -> dict[str, Any]:
    return {
        "id": item.id,
        "tenant_id": item.tenant_id,
        "trace_id": item.trace_id,
        "session_id": item.session_id,
        "subject": item.subject,
        "started_at": item.started_at,
        "body": write_trajectory(item, collector),
    }


def _hydrate(connection: Connection, ids: Sequence[str]) -> tuple[Trajectory, ...]:
    bodies: dict[str, Any] = {}
    owners = []
    for part in chunks(ids, dialect.CHUNK):
        statement = select(TrajectoryRow.id, TrajectoryRow.tenant_id, TrajectoryRow.body)
        for id_, tenant_id, body in connection.execute(statement.where(TrajectoryRow.id.in_(part))):
            bodies[id_] = body
            owners.append((tenant_id, OwnerKind.TRAJECTORY, id_))
    held = blocks.load(connection, owners)
    return tuple(read_trajectory(bodies[id_], held) for id_ in ids)


def subjects_of(connection: Connection, ids: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Trajectory id to (tenant_id, subject), for those that are stored."""
    found: dict[str, tuple[str, str]] = {}
    for part in chunks(sorted(set(ids)), dialect.CHUNK):
        row = TrajectoryRow
        statement = select(row.id, row.tenant_id, row.subject).where(row.id.in_(part))
        found.update({id_: (tenant_id, subject) for id_, tenant_id, subject in connection.execute(statement)})
    return found


def delete_trajectories(connection: Connection, ids: Iterable[tuple[str, str]]) -> int:
    """Delete trajectories (tenant_id, id) with their words."""
    wanted = sorted(set(ids))
    blocks.release(connection, [(tenant_id, OwnerKind.TRAJECTORY, id_) for tenant_id, id_ in wanted])
    gone = 0
    for part in chunks([id_ for _, id_ in wanted], dialect.CHUNK):
        gone += connection.execute(delete(TrajectoryRow).where(TrajectoryRow.id.in_(part))).rowcount
    return gone
