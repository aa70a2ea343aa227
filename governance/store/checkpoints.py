"""``store.checkpoints``: the database's own copy of what is anchored outside, so that a loss there is noticed here."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import select, update

from governance.policy.audit_chain import Head
from governance.store import audit, dialect
from governance.store.kit import Kit
from governance.store.tables_audit import CheckpointRow


class HeldCheckpoint(NamedTuple):
    """A checkpoint in the database."""

    number: int
    signed: bytes
    anchored: bool
    """Whether the anchor has taken it."""


class Checkpoints:
    """Checkpoints by tenant and number."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def lock(self, tenant_id: str) -> Head:
        """Inside a transaction: make others wait who would make one too; where the chain stands."""
        with self._kit.db.write() as connection:
            dialect.lock_names(connection, [f"audit:{tenant_id}"])
            return audit.head(connection, tenant_id)

    def put(self, tenant_id: str, number: int, signed: bytes) -> None:
        """Store one that is not anchored yet."""
        row = {"tenant_id": tenant_id, "number": number, "signed": signed.decode(), "anchored_at": None}
        with self._kit.db.write() as connection:
            dialect.insert(connection, CheckpointRow, [row])

    def anchored(self, tenant_id: str, number: int) -> None:
        """The anchor has taken it."""
        row = CheckpointRow
        statement = update(row).where(row.tenant_id == tenant_id, row.number == number)
        with self._kit.db.write() as connection:
            connection.execute(statement.values(anchored_at=self._kit.clock.now()))

    def list(self, tenant_id: str) -> tuple[HeldCheckpoint, ...]:
        """A tenant's, in order; number 0 stands for a column that holds no number."""
        row = CheckpointRow
        columns = (row.number, row.signed, row.anchored_at.is_not(None))
        statement = select(*columns).where(row.tenant_id == tenant_id).order_by(row.number)
        with self._kit.db.read() as connection:
            return tuple(
                HeldCheckpoint(number if isinstance(number, int) else 0, str(signed).encode(), bool(anchored))
                for number, signed, anchored in connection.execute(statement)
            )

    def tenants(self) -> tuple[str, ...]:
        """Every tenant that has one."""
        with self._kit.db.read() as connection:
            return tuple(sorted(connection.scalars(select(CheckpointRow.tenant_id).distinct())))
