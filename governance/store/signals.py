"""``store.signals``: evidence about trajectories, by purpose."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, select

from governance.records.rights import Purpose
from governance.records.signal import Signal
from governance.store import dialect, rights
from governance.store.kit import Kit
from governance.store.tables_traces import SignalRow


class Signals:
    """Signals by time."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def put_all(self, signals: Sequence[Signal]) -> None:
        """Store signals; idempotent by id. Those of suppressed people are not stored."""
        expires_at = self._kit.expires(SignalRow)
        by_id = {signal.id: signal for signal in signals}

        def work(connection: Connection) -> None:
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
                for _, signal in sorted(by_id.items())
                if (signal.tenant_id, signal.subject) not in gone
            ]
            dialect.insert_new(connection, SignalRow, rows)

        self._kit.db.run(work)

    def list(self, purpose: Purpose, tenants: Sequence[str], start: datetime, end: datetime) -> tuple[Signal, ...]:
        """Signals in [start, end) whose person's data the purpose may use, by (at, id)."""
        row = SignalRow
        statement = (
            select(row.tenant_id, row.subject, row.body)
            .where(row.tenant_id.in_(tuple(tenants)), row.at >= start, row.at < end)
            .order_by(row.at, row.id)
        )
        sharing = purpose is Purpose.TRAIN_WEIGHTS and len(set(tenants)) > 1
        with self._kit.reading(purpose) as connection:
            self._kit.log_comply(connection, purpose, tenants, "signals")
            found = connection.execute(statement).all()
            people = {(tenant_id, subject) for tenant_id, subject, _ in found}
            judged = rights.read_verdicts(connection, purpose, people, self._kit.clock.now(), sharing=sharing)
        return tuple(
            Signal.model_validate(body) for tenant_id, subject, body in found if judged[tenant_id, subject].allowed
        )
