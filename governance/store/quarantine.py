"""``store.quarantine``: records that masking could not read, sealed, each with its own expiry."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Select, delete, select

from governance.errors import NotFound
from governance.store import dialect
from governance.store.kit import Kit
from governance.store.tables_evidence import QuarantineRow


class Quarantined(NamedTuple):
    """One sealed record."""

    id: str
    tenant_id: str
    sealed: bytes
    reason: str
    expires_at: datetime


class Quarantine:
    """Sealed records by id."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def put(self, id: str, tenant_id: str, sealed: bytes, reason: str, expires_at: datetime) -> None:  # noqa: A002
        """Store a sealed record; idempotent by id."""
        row = Quarantined(id, tenant_id, sealed, reason, expires_at)._asdict()
        self._kit.db.run(lambda connection: dialect.insert_new(connection, QuarantineRow, [row]))

    def take(self, id: str) -> Quarantined:  # noqa: A002
        """One sealed record; it stays until it is removed.

        Raises:
            NotFound: when there is none of that id.

        """
        with self._kit.db.read() as connection:
            found = connection.execute(_columns().where(QuarantineRow.id == id)).first()
        if found is None:
            raise NotFound(f"store: nothing in quarantine under {id}")
        return Quarantined(*found)

    def remove(self, id: str) -> None:  # noqa: A002
        """Delete a sealed record; idempotent."""
        self._kit.db.run(lambda connection: connection.execute(delete(QuarantineRow).where(QuarantineRow.id == id)))

    def list(self) -> tuple[Quarantined, ...]:
        """Every sealed record, by (expiry, id)."""
        statement = _columns().order_by(QuarantineRow.expires_at, QuarantineRow.id)
        with self._kit.db.read() as connection:
            return tuple(Quarantined(*found) for found in connection.execute(statement))


def _columns() -> Select[*tuple[Any, ...]]:
    row = QuarantineRow
    return select(row.id, row.tenant_id, row.sealed, row.reason, row.expires_at)
