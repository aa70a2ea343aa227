"""``store.trajectories``: agent runs, by purpose. A row without a right to the purpose is named, never returned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, func, select

from governance.errors import NotFound, PurposeDenied
from governance.records.admissible import Admissible
from governance.records.dataset import Exclusion
from governance.records.outline import RunOutline
from governance.records.rights import Purpose, Verdict
from governance.records.rights_policy import RightsPolicy
from governance.records.trajectory import UNKNOWN_SUBJECT, Trajectory
from governance.store import dialect, release, rights
from governance.store.blocks import Words, by_tenant
from governance.store.chunks import chunks
from governance.store.codec import needs_of, read_outline, read_run, words_of_run, write_run
from governance.store.kit import Kit
from governance.store.tables_traces import SpansRow, TrajectoryRow
from governance.store.verdicts import Bench

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

        def work(connection: Connection) -> None:
            words = Words(connection, self._kit)
            keys = [(item.tenant_id, item.trace_id) for item in trajectories]
            words.load(keys)
            put_runs(connection, self._kit, words, trajectories)
            release.tidy(connection, self._kit, keys)

        self._kit.db.run(work)

    def get(self, trajectory_id: str, purpose: Purpose) -> Trajectory:
        """One trajectory.

        Raises:
            NotFound: when there is none of that id.
            PurposeDenied: when its person's data may not be used for the purpose.

        """
        row = TrajectoryRow
        statement = select(row.tenant_id, row.trace_id, row.subject, row.body).where(row.id == trajectory_id)
        with self._kit.reading(purpose) as connection:
            found = connection.execute(statement).first()
            if found is None:
                raise NotFound(f"store: no trajectory {trajectory_id}")
            tenant_id, trace_id, subject, body = found
            self._kit.log_comply(connection, purpose, [tenant_id], f"trajectory:{trajectory_id}")
            asked = (tenant_id, subject, trajectory_id)
            verdict = rights.read_verdicts(connection, self._kit, purpose, [asked])[asked]
            if not verdict.allowed:
                raise PurposeDenied(f"store: trajectory {trajectory_id}: {purpose.value}: {verdict.reasons[0].value}")
            return _hydrate(connection, self._kit, {trajectory_id: (tenant_id, trace_id, body)})[0]

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
            asked = {id_: (tenant_id, subject, id_) for id_, tenant_id, subject in found}
            judged = rights.read_verdicts(connection, self._kit, purpose, asked.values(), as_of=as_of, sharing=sharing)
            verdicts = {id_: judged[one] for id_, one in asked.items()}
            rows = _read(connection, self._kit, [id_ for id_, _, _ in found if verdicts[id_].allowed])
        excluded = tuple(
            Exclusion(tenant_id=tenant_id, trajectory_id=id_, reason=verdicts[id_].reasons[0].value)
            for id_, tenant_id, _ in found
            if not verdicts[id_].allowed
        )
        return Admissible(rows, excluded, verdicts)

    def some(self, ids: Sequence[str], purpose: Purpose) -> tuple[Trajectory, ...]:
        """Those of the trajectories that are there and that the purpose may use now."""
        row = TrajectoryRow
        with self._kit.reading(purpose) as connection:
            found = [
                tuple(one)
                for part in chunks(ids, dialect.CHUNK)
                for one in connection.execute(select(row.id, row.tenant_id, row.subject).where(row.id.in_(part)))
            ]
            asked = {id_: (tenant_id, subject, id_) for id_, tenant_id, subject in found}
            self._kit.log_comply(connection, purpose, {tenant_id for _, tenant_id, _ in found}, "trajectories")
            judged = rights.read_verdicts(connection, self._kit, purpose, asked.values())
            allowed = [id_ for id_, row_ in asked.items() if judged[row_].allowed]
            return _read(connection, self._kit, allowed)

    def verdicts(
        self,
        purpose: Purpose,
        tenants: Sequence[str],
        start: datetime,
        end: datetime,
        *,
        as_of: datetime | None = None,
        policy: RightsPolicy | None = None,
    ) -> dict[str, Verdict]:
        """The verdict on each trajectory that started in [start, end), without reading any.

        ``policy`` asks what another policy than the one in force would say.
        """
        kit = self._kit if policy is None else replace(self._kit, policy=policy)
        row, moment = TrajectoryRow, as_of or self._kit.clock.now()
        statement = select(row.tenant_id, row.subject, row.id).where(
            row.tenant_id.in_(tuple(tenants)), row.started_at >= start, row.started_at < end
        )
        sharing = purpose is Purpose.TRAIN_WEIGHTS and len(set(tenants)) > 1
        with self._kit.db.read() as connection:
            found: list[Any] = list(connection.execute(statement))
            people = {(tenant_id, subject) for tenant_id, subject, _ in found}
            return Bench(connection, kit, purpose, people, moment, sharing=sharing).of_runs(found)

    def people(self, tenant_id: str) -> int:
        """How many people the tenant's runs are of."""
        row = TrajectoryRow
        known = (row.tenant_id == tenant_id, row.subject != UNKNOWN_SUBJECT)
        with self._kit.db.read() as connection:
            return connection.scalar(select(func.count(row.subject.distinct())).where(*known)) or 0

    def subjects(self, ids: Iterable[str]) -> dict[str, tuple[str, str]]:
        """Trajectory id to (tenant, subject), for those that are stored; nothing of what was said."""
        with self._kit.db.read() as connection:
            return subjects_of(connection, ids)

    def outlines(self, purpose: Purpose, tenant_id: str, most: int) -> tuple[RunOutline, ...]:
        """The tenant's newest runs that the purpose may use, without their words; the newest last."""
        row = TrajectoryRow
        statement = (
            select(row.id, row.subject, row.body)
            .where(row.tenant_id == tenant_id)
            .order_by(row.started_at.desc(), row.id.desc())
            .limit(most)
        )
        with self._kit.reading(purpose) as connection:
            self._kit.log_comply(connection, purpose, [tenant_id], "outlines")
            found = connection.execute(statement).all()
            rows = {(tenant_id, subject, id_) for id_, subject, _ in found}
            judged = rights.read_verdicts(connection, self._kit, purpose, rows)
        return tuple(
            read_outline(id_, body) for id_, subject, body in reversed(found) if judged[tenant_id, subject, id_].allowed
        )


def put_runs(connection: Connection, kit: Kit, words: Words, trajectories: Sequence[Trajectory]) -> None:
    """Store trajectories, the words of whose traces are in ``words``; what they lost is left to ``release.tidy``."""
    gone = rights.suppressed(connection, {(t.tenant_id, t.subject) for t in trajectories}, None)
    latest = {item.id: item for item in trajectories if (item.tenant_id, item.subject) not in gone}
    for item in latest.values():
        of_trace = words.of((item.tenant_id, item.trace_id))
        for value in words_of_run(item):
            of_trace.note(value)
    words.settle()
    whole, earliest = kit.expires(TrajectoryRow), _earliest(connection, latest.values())
    rows = [_row(latest[id_], words) | {"expires_at": earliest.get(id_, whole)} for id_ in sorted(latest)]
    dialect.upsert(connection, TrajectoryRow, rows, UPDATED)


def _earliest(connection: Connection, runs: Iterable[Trajectory]) -> dict[str, datetime]:
    """Trajectory id to when the first of its spans is overdue: the words of a run live no longer than its spans'."""
    row = SpansRow
    found: dict[str, datetime] = {}
    for tenant_id, part in by_tenant((run.tenant_id, run.trace_id) for run in runs):
        statement = (
            select(row.trace_id, func.min(row.expires_at))
            .where(row.tenant_id == tenant_id, row.trace_id.in_(part))
            .group_by(row.trace_id)
        )
        found |= {f"{tenant_id}/{trace_id}": at for trace_id, at in connection.execute(statement)}
    return found


def _row(item: Trajectory, words: Words) -> dict[str, Any]:
    return {
        "id": item.id,
        "tenant_id": item.tenant_id,
        "trace_id": item.trace_id,
        "session_id": item.session_id,
        "subject": item.subject,
        "started_at": item.started_at,
        "body": write_run(item, words.of((item.tenant_id, item.trace_id))),
    }


def _read(connection: Connection, kit: Kit, ids: Sequence[str]) -> tuple[Trajectory, ...]:
    row = TrajectoryRow
    found: dict[str, tuple[str, str, Any]] = {}
    for part in chunks(ids, dialect.CHUNK):
        statement = select(row.id, row.tenant_id, row.trace_id, row.body).where(row.id.in_(part))
        found |= {id_: (tenant_id, trace_id, body) for id_, tenant_id, trace_id, body in connection.execute(statement)}
    return _hydrate(connection, kit, {id_: found[id_] for id_ in ids})


def _hydrate(connection: Connection, kit: Kit, bodies: dict[str, tuple[str, str, Any]]) -> tuple[Trajectory, ...]:
    """The trajectories of these (tenant, trace, body), with their words."""
    words = Words(connection, kit)
    words.load({(tenant_id, trace_id) for tenant_id, trace_id, _ in bodies.values()})
    return tuple(read_run(body, words.of((tenant_id, trace_id))) for tenant_id, trace_id, body in bodies.values())


def words_of(connection: Connection, kit: Kit, ids: Iterable[str]) -> dict[str, list[Any]]:
    """Trajectory id to the blocks that its row needs."""
    row = TrajectoryRow
    words, found = Words(connection, kit), []
    for part in chunks(sorted(set(ids)), dialect.CHUNK):
        statement = select(row.id, row.tenant_id, row.trace_id, row.body).where(row.id.in_(part))
        found += list(connection.execute(statement))
    words.load({(tenant_id, trace_id) for _, tenant_id, trace_id, _ in found})
    return {
        id_: [words.of((tenant_id, trace_id)).value(ref) for ref in needs_of(body)]
        for id_, tenant_id, trace_id, body in found
    }


def subjects_of(connection: Connection, ids: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Trajectory id to (tenant_id, subject), for those that are stored."""
    found: dict[str, tuple[str, str]] = {}
    for part in chunks(sorted(set(ids)), dialect.CHUNK):
        row = TrajectoryRow
        statement = select(row.id, row.tenant_id, row.subject).where(row.id.in_(part))
        found.update({id_: (tenant_id, subject) for id_, tenant_id, subject in connection.execute(statement)})
    return found


def delete_trajectories(connection: Connection, ids: Iterable[tuple[str, str]]) -> int:
    """Delete trajectories (tenant_id, id). Their words are left to ``release.tidy``."""
    gone = 0
    for part in chunks(sorted({id_ for _, id_ in ids}), dialect.CHUNK):
        gone += connection.execute(delete(TrajectoryRow).where(TrajectoryRow.id.in_(part))).rowcount
    return gone
