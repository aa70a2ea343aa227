"""``store.audit``: append-only events, one hash chain per tenant.

What an event says of people stands in it as a commitment (``governance.policy.audit_terms``), so an erasure never
touches the chain. Writers of one tenant wait for each other, so a chain never forks; its events are ordered by their
positions, whatever the clock says. How a chain is checked stands in ``governance.policy.audit_chain``.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial

from sqlalchemy import Connection, Text, select, type_coerce

from governance.policy.audit_chain import GENESIS, NOWHERE, START, Head, Line, link
from governance.policy.audit_terms import PREFIX, commitment, committed
from governance.records.audit import AuditEvent
from governance.store import audit_salts, dialect
from governance.store.database import Database
from governance.store.tables_audit import AuditHeadRow, AuditRow

_BATCH = 1000


def append(connection: Connection, event: AuditEvent) -> None:
    """Append one event to its tenant's chain; an id that is there already is left as it is."""
    dialect.lock_names(connection, [f"audit:{event.tenant_id}"])
    if connection.execute(select(AuditRow.id).where(AuditRow.id == event.id)).first():
        return
    size, root = head(connection, event.tenant_id)
    body = committed(event, partial(audit_salts.commit, connection, event.tenant_id)).plain()
    chain = link(root, body)
    row = {
        "tenant_id": event.tenant_id,
        "position": size + 1,
        "id": event.id,
        "at": event.at,
        "body": body,
        "chain": chain,
    }
    dialect.insert(connection, AuditRow, [row])
    stands = {"tenant_id": event.tenant_id, "size": size + 1, "root": chain}
    dialect.upsert(connection, AuditHeadRow, [stands], ["size", "root"])


def head(connection: Connection, tenant_id: str) -> Head:
    """Where the tenant's chain stands."""
    row = AuditHeadRow
    found = connection.execute(select(row.size, row.root).where(row.tenant_id == tenant_id)).first()
    return START if found is None else Head(*found)


def _line(  # noqa: PLR0917 - the columns, in their order
    tenant_id: str, position: object, id_: str, at: object, body: object, chain: object
) -> Line:
    """A row whose columns may hold anything: what is none of its kind becomes what no sound row has."""
    number = position if isinstance(position, int) else NOWHERE
    text, last = (one if isinstance(one, str) else "" for one in (body, chain))
    return Line(tenant_id, number, id_, _moment(at), text, last)


def _moment(value: object) -> datetime | None:
    try:
        found = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found


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

    def tenants(self) -> tuple[str, ...]:
        """Every tenant with a chain, or with what is left of one."""
        with self._db.read() as connection:
            found = {*connection.scalars(select(AuditHeadRow.tenant_id))}
            found |= {*connection.scalars(select(AuditRow.tenant_id).distinct())}
        return tuple(sorted(found))

    def root(self, tenant_id: str) -> Head:
        """Length and last link of a tenant's chain: what is anchored outside the database."""
        with self._db.read() as connection:
            stands = head(connection, tenant_id)
        return stands if isinstance(stands.size, int) else Head(NOWHERE, str(stands.root))

    def lines(self, tenant_id: str) -> Iterator[Line]:
        """The rows as they stand, by position, for whoever checks them, whatever somebody wrote into a column."""
        row = AuditRow
        body = type_coerce(row.body, Text)
        columns = (row.tenant_id, row.position, row.id, type_coerce(row.at, Text), body, row.chain)
        statement = select(*columns).where(row.tenant_id == tenant_id).order_by(row.position)
        with self._db.read() as connection:
            for found in connection.execution_options(yield_per=_BATCH).execute(statement):
                yield _line(*found)

    def about(self, tenant_id: str, subject: str) -> tuple[AuditEvent, ...]:
        """The events that speak of a person, for as long as their salt is there."""
        with self._db.read() as connection:
            salt = audit_salts.salt(connection, tenant_id, subject)
        if salt is None:
            return ()
        wanted = commitment(salt, subject).removeprefix(PREFIX)
        statement = select(AuditRow.body).where(
            AuditRow.tenant_id == tenant_id, type_coerce(AuditRow.body, Text).contains(wanted, autoescape=True)
        )
        with self._db.read() as connection:
            bodies = connection.scalars(statement.order_by(AuditRow.position))
            return tuple(AuditEvent.model_validate(body) for body in bodies)


__all__ = ["GENESIS", "AuditLog", "append", "head"]
