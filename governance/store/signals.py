"""``store.signals``: evidence about trajectories, by purpose."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import Connection, delete, select

from governance.records.rights import Purpose
from governance.records.signal import Signal
from governance.store import dialect, rights
from governance.store.chunks import chunks
from governance.store.kit import Kit
from governance.store.tables_traces import SignalRow


class Signals:
    """Signals by time."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def put_all(self, signals: Sequence[Signal]) -> None:
        """Store signals; idempotent by id. Those of suppressed people are not stored."""
        self._kit.db.run(lambda connection: put_signals(connection, self._kit, signals))

    def list(self, purpose: Purpose, tenants: Sequence[str], start: datetime, end: datetime) -> tuple[Signal, ...]:
        """Signals in [start, end) whose person's data the purpose may use, by (at, id)."""
        row = SignalRow
        statement = (
            select(row.tenant_id, row.subject, row.trajectory_id, row.body)
            .where(row.tenant_id.in_(tuple(tenants)), row.at >= start, row.at < end)
            .order_by(row.at, row.id)
        )
        sharing = purpose is Purpose.TRAIN_WEIGHTS and len(set(tenants)) > 1
        with self._kit.reading(purpose) as connection:
            self._kit.log_comply(connection, purpose, tenants, "signals")
            found = connection.execute(statement).all()
            rows = {(tenant_id, subject, run) for tenant_id, subject, run, _ in found}
            judged = rights.read_verdicts(connection, self._kit, purpose, rows, sharing=sharing)
        return tuple(
            Signal.model_validate(body)
            for tenant_id, subject, run, body in found
            if judged[tenant_id, subject, run].allowed
        )


def put_signals(connection: Connection, kit: Kit, signals: Sequence[Signal]) -> None:
    """Store signals; idempotent by id. Those of suppressed people are not stored."""
    if not signals:
        return
    expires_at = kit.expires(SignalRow)
    gone = rights.suppressed(connection, {(s.tenant_id, s.subject) for s in signals}, None)
    rows = [
        {
            "id": signal.id,
            "tenant_id": signal.tenant_id,
            "subject": signal.subject,
            "trajectory_id": signal.trajectory_id,
            "at": signal.at,
            "body": signal.plain(),
            "expires_at": expires_at,
        }
        for _, signal in sorted({signal.id: signal for signal in signals}.items())
        if (signal.tenant_id, signal.subject) not in gone
    ]
    dialect.insert_new(connection, SignalRow, rows)


def drop_signals(connection: Connection, trajectory_ids: Sequence[str], kept: Collection[str]) -> None:
    """Delete the trajectories' signals but the kept: what was evidence of an earlier state is none any more."""
    row = SignalRow
    found: set[str] = set()
    for part in chunks(trajectory_ids, dialect.CHUNK):
        found.update(connection.scalars(select(row.id).where(row.trajectory_id.in_(part))))
    for stale in chunks(sorted(found - set(kept)), dialect.CHUNK):
        connection.execute(delete(row).where(row.id.in_(stale)))
