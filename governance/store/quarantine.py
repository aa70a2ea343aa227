"""``store.quarantine``: records that masking could not read, or that a person must judge, sealed, each with an expiry.

A record leaves in one of two ways, and the ledger knows both: released (``remove`` in the transaction that stores what
was in it), or destroyed, at its expiry (``expire``) or by a person's decision (``destroy``). An overdue record is never
released.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, delete, func, select, update

from governance.errors import HeldError, NotFound
from governance.store import dialect, holds, ledger
from governance.store.kit import Kit
from governance.store.tables_evidence import QuarantineRow


class Quarantined(NamedTuple):
    """One sealed record."""

    id: str
    tenant_id: str
    sealed: bytes
    reason: str
    expires_at: datetime
    day: str
    """The UTC day on which its spans were received."""
    spans: int
    since: datetime
    attempts: int
    """How often it was tried to release it."""
    retry_at: datetime
    """Before then it is not tried again by itself."""
    types: str | None = None
    """The special categories in it, with spaces between them."""


class Quarantine:
    """Sealed records by id."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def put(
        self,
        id: str,  # noqa: A002
        tenant_id: str,
        sealed: bytes,
        reason: str,
        expires_at: datetime,
        *,
        day: str,
        spans: int,
        retry_at: datetime | None = None,
        since: datetime | None = None,
        types: str | None = None,
    ) -> None:
        """Store a sealed record; idempotent by id. It is due at once unless ``retry_at`` says when."""
        now = self._kit.clock.now()
        row = Quarantined(
            id, tenant_id, sealed, reason, expires_at, day, spans, since or now, 0, retry_at or now, types
        )._asdict()
        self._kit.db.run(lambda connection: dialect.insert_new(connection, QuarantineRow, [row]))

    def take(self, id: str) -> Quarantined:  # noqa: A002
        """One sealed record; it stays until it is removed.

        Raises:
            NotFound: when there is none of that id, or its time is over.

        """
        with self._kit.db.read() as connection:
            found = connection.execute(_columns().where(QuarantineRow.id == id)).first()
        if found is None or found.expires_at <= self._kit.clock.now():
            raise NotFound(f"store: nothing in quarantine under {id}")
        return Quarantined(*found)

    def remove(self, id: str) -> bool:  # noqa: A002
        """Delete a sealed record; False when it is gone already."""
        statement = delete(QuarantineRow).where(QuarantineRow.id == id)
        return self._kit.db.run(lambda connection: connection.execute(statement).rowcount > 0)

    def destroy(self, id: str, reason: str, *, opened: bool = False) -> bool:  # noqa: A002
        """Destroy a sealed record and enter it into the ledger under ``reason``; False when it is gone already.

        ``opened``: it is known whose it is, so holds on others of the tenant do not keep it.

        Raises:
            HeldError: when a legal hold stands in its tenant, and nobody knows whom it covers.

        """
        return self._kit.db.run(lambda connection: _destroy(connection, self._kit, id, reason, opened=opened))

    def postpone(self, id: str, retry_at: datetime) -> None:  # noqa: A002
        """Note an attempt that failed, and when the next one is due."""
        row = QuarantineRow
        statement = update(row).where(row.id == id).values(attempts=row.attempts + 1, retry_at=retry_at)
        self._kit.db.run(lambda connection: connection.execute(statement))

    def list(self) -> tuple[Quarantined, ...]:
        """Every sealed record, by (expiry, id)."""
        statement = _columns().order_by(QuarantineRow.expires_at, QuarantineRow.id)
        with self._kit.db.read() as connection:
            return tuple(Quarantined(*found) for found in connection.execute(statement))

    def held(self) -> dict[tuple[str, str], int]:
        """(tenant, day) to how many spans are sealed here: what the ledger's ``waiting`` must be."""
        row = QuarantineRow
        statement = select(row.tenant_id, row.day, func.sum(row.spans)).group_by(row.tenant_id, row.day)
        with self._kit.db.read() as connection:
            return {(tenant, day): int(spans) for tenant, day, spans in connection.execute(statement)}

    def expire(self, now: datetime) -> int:
        """Destroy what is overdue and enter it into the ledger; how many spans that were."""
        return self._kit.db.run(lambda connection: expire(connection, self._kit, now)[1])


def expire(connection: Connection, kit: Kit, now: datetime) -> tuple[int, int]:
    """Destroy what is overdue under no hold, with its ledger entries; how many records and how many spans."""
    row = QuarantineRow
    holds.renew(connection, now)
    overdue = connection.execute(
        select(row.id, row.tenant_id, row.day, row.reason, row.spans).where(row.expires_at <= now)
    ).all()
    records = spans = 0
    for id_, tenant_id, day, reason, count in overdue:
        if connection.execute(delete(row).where(row.id == id_)).rowcount:
            ledger.record_expiry(connection, kit, tenant_id, day, {reason: count}, id_=id_)
            records, spans = records + 1, spans + count
    return records, spans


def _destroy(connection: Connection, kit: Kit, id_: str, reason: str, *, opened: bool) -> bool:
    row = QuarantineRow
    found = connection.execute(select(row.tenant_id, row.day, row.spans).where(row.id == id_)).first()
    if not opened and found is not None and found.tenant_id in holds.tenants(connection, kit.clock.now()):
        raise HeldError(
            f"quarantine {id_}: a legal hold stands in tenant {found.tenant_id}: nothing sealed is destroyed"
        )
    if found is None or not connection.execute(delete(row).where(row.id == id_)).rowcount:
        return False
    ledger.record_expiry(connection, kit, found.tenant_id, found.day, {reason: found.spans}, id_=id_)
    return True


def _columns() -> Select[*tuple[Any, ...]]:
    return select(*(getattr(QuarantineRow, name) for name in Quarantined._fields))
