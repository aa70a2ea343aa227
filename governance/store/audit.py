"""The audit: append-only, one hash chain per tenant.

Each link is SHA-256 over the previous link and the event's digest, so an event that was changed, dropped or slipped in
breaks every later link. Events hold no personal data, so erasure never touches the chain.
"""

from __future__ import annotations

from sqlalchemy import Connection, func, select

from governance.records.audit import AuditEvent
from governance.records.base import digest_json
from governance.store import dialect
from governance.store.database import Database
from governance.store.tables_evidence import AuditRow

GENESIS = "0" * 64


def link(previous: str, event: AuditEvent) -> str:
    """The chain's next link."""
    return digest_json([previous, event.digest()])


def append(connection: Connection, event: AuditEvent) -> None:
    """Append one event to its tenant's chain; an id that is there already is left as it is."""
    dialect.lock_names(connection, [f"audit:{event.tenant_id}"])
    if connection.execute(select(AuditRow.id).where(AuditRow.id == event.id)).first():
        return
    last = connection.execute(
        select(AuditRow.position, AuditRow.chain)
        .where(AuditRow.tenant_id == event.tenant_id)
        .order_by(AuditRow.position.desc())
        .limit(1)
    ).first()
    position, previous = (last.position + 1, last.chain) if last else (1, GENESIS)
    row = {
        "tenant_id": event.tenant_id,
        "position": position,
        "id": event.id,
        "at": event.at,
        "body": event.plain(),
        "chain": link(previous, event),
    }
    connection.execute(AuditRow.__table__.insert(), [row])  # type: ignore[attr-defined]


class AuditLog:
    """``store.audit``."""

    def __init__(self, db: Database) -> None:
        """On one database."""
        self._db = db

    def append(self, event: AuditEvent) -> None:
        """Append an event; idempotent by id."""
        self._db.run(lambda connection: append(connection, event))

    def list(self, tenant_id: str | None = None) -> tuple[AuditEvent, ...]:
        """The events of a tenant, or of all, in the order of their chains."""
        statement = select(AuditRow.body).order_by(AuditRow.tenant_id, AuditRow.position)
        if tenant_id is not None:
            statement = statement.where(AuditRow.tenant_id == tenant_id)
        with self._db.read() as connection:
            return tuple(AuditEvent.model_validate(body) for body in connection.scalars(statement))

    def root(self, tenant_id: str) -> tuple[int, str]:
        """Length and last link of a tenant's chain: what is anchored outside the database."""
        with self._db.read() as connection:
            count = connection.scalar(select(func.count()).select_from(AuditRow).where(AuditRow.tenant_id == tenant_id))
            last = connection.scalar(
                select(AuditRow.chain)
                .where(AuditRow.tenant_id == tenant_id)
                .order_by(AuditRow.position.desc())
                .limit(1)
            )
        return int(count or 0), str(last or GENESIS)

    def verify(self, tenant_id: str) -> int | None:
        """Position of the first event that breaks the tenant's chain; None when it is whole."""
        statement = (
            select(AuditRow.position, AuditRow.body, AuditRow.chain)
            .where(AuditRow.tenant_id == tenant_id)
            .order_by(AuditRow.position)
        )
        previous = GENESIS
        with self._db.read() as connection:
            for expected, row in enumerate(connection.execute(statement), start=1):
                event = AuditEvent.model_validate(row.body)
                if row.position != expected or row.chain != link(previous, event):
                    return expected
                previous = row.chain
        return None
