"""``store.requests``: what people asked for, with deadlines.

A request is recorded once; the first record of an id stands, so a request that is repeated keeps the deadline of the
first time. Requests leave with their person: an erasure's own is deleted with the certificate that takes its place.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, delete, select, update

from governance.errors import NotFound
from governance.records.rights_request import RequestKind, RightsRequest
from governance.store import dialect
from governance.store.kit import Kit
from governance.store.tables_rights import RightsRequestRow


class Requests:
    """Requests by id."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def put(self, request: RightsRequest) -> RightsRequest:
        """Record a request; what stands under its id."""
        row = request.model_dump() | {"kind": request.kind.value, "expires_at": self._kit.expires(RightsRequestRow)}

        def work(connection: Connection) -> RightsRequest:
            dialect.insert_new(connection, RightsRequestRow, [row])
            return _of(connection.execute(_columns().where(RightsRequestRow.id == request.id)).mappings().one())

        return self._kit.db.run(work)

    def get(self, id_: str) -> RightsRequest:
        """One request.

        Raises:
            NotFound: when there is none of that id.

        """
        with self._kit.db.read() as connection:
            found = connection.execute(_columns().where(RightsRequestRow.id == id_)).mappings().first()
        if found is None:
            raise NotFound(f"store: no request {id_}")
        return _of(found)

    def close(self, id_: str, outcome: str, at: datetime) -> None:
        """Say what came of a request; the first word stands."""
        row = RightsRequestRow
        statement = update(row).where(row.id == id_, row.closed_at.is_(None)).values(closed_at=at, outcome=outcome)
        self._kit.db.run(lambda connection: connection.execute(statement))

    def drop(self, id_: str) -> None:
        """Delete a request whose certificate takes its place; idempotent."""
        statement = delete(RightsRequestRow).where(RightsRequestRow.id == id_)
        self._kit.db.run(lambda connection: connection.execute(statement))

    def open(self) -> tuple[RightsRequest, ...]:
        """The requests that wait, the most urgent first."""
        row = RightsRequestRow
        statement = _columns().where(row.closed_at.is_(None)).order_by(row.due_at, row.id)
        with self._kit.db.read() as connection:
            return tuple(_of(found) for found in connection.execute(statement).mappings())

    def of(self, tenant_id: str, subject: str) -> tuple[RightsRequest, ...]:
        """Everything that a person asked for, in the order in which they asked."""
        row = RightsRequestRow
        mine = (row.tenant_id == tenant_id, row.subject == subject)
        statement = _columns().where(*mine).order_by(row.requested_at, row.id)
        with self._kit.db.read() as connection:
            return tuple(_of(found) for found in connection.execute(statement).mappings())


def forget(connection: Connection, tenant_id: str, subject: str) -> int:
    """Delete what a person asked for, but for the erasure that is under way."""
    row = RightsRequestRow
    mine = (row.tenant_id == tenant_id, row.subject == subject, row.kind != RequestKind.ERASURE.value)
    return connection.execute(delete(row).where(*mine)).rowcount


def _columns() -> Select[Any]:
    return select(*(getattr(RightsRequestRow, name) for name in RightsRequest.model_fields))


def _of(found: Any) -> RightsRequest:
    return RightsRequest.model_validate(dict(found))
