"""``store.reviews``: what people should judge about masking, and what they decided.

An item is there until it is decided, its person or one of whom its trace tells is erased, or its time is over.
Deciding deletes it and stores the decision in one transaction, so it is decided once. A tenant has at most ``OPEN``
items of a kind: a policy that doubts everything fills a queue, never a disk.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, delete, func, select

from governance.errors import NotFound
from governance.records.review import Reviewed, ReviewItem
from governance.store import dialect, rights
from governance.store.kit import Kit
from governance.store.tables_masking import ReviewedRow, ReviewRow

OPEN: Final = 500
_FIELDS: Final = tuple(ReviewItem.model_fields)
_DECIDED: Final = tuple(Reviewed.model_fields)


class Reviews:
    """Items by id, decisions in order."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def put(self, items: Iterable[tuple[ReviewItem, bytes]]) -> None:
        """Add items, each with its sealed text; one that is there stays as it is.

        A full queue takes no more, and nothing is asked about a person who was erased.
        """
        rows = [item.plain() | {"sealed": sealed, **_times(item)} for item, sealed in items]
        if rows:
            self._kit.db.run(lambda connection: _put(connection, rows))

    def list(self, tenant_id: str | None = None) -> tuple[ReviewItem, ...]:
        """What is open now, by (since, id)."""
        row = ReviewRow
        statement = select(*(getattr(row, name) for name in _FIELDS)).where(row.expires_at > self._kit.clock.now())
        if tenant_id is not None:
            statement = statement.where(row.tenant_id == tenant_id)
        with self._kit.db.read() as connection:
            found = connection.execute(statement.order_by(row.since, row.id)).mappings()
            return tuple(ReviewItem.model_validate(dict(one)) for one in found)

    def take(self, id_: str) -> tuple[ReviewItem, bytes]:
        """An item and its sealed text.

        Raises:
            NotFound: when it is not there, or its time is over.

        """
        row = ReviewRow
        statement = select(row.sealed, *(getattr(row, name) for name in _FIELDS)).where(row.id == id_)
        with self._kit.db.read() as connection:
            found = connection.execute(statement).mappings().first()
        if found is None or found["expires_at"] <= self._kit.clock.now():
            raise NotFound(f"nothing to review under {id_}")
        return ReviewItem.model_validate({name: found[name] for name in _FIELDS}), found["sealed"]

    def decide(self, item_id: str, decided: Reviewed) -> None:
        """Close an item.

        Raises:
            NotFound: when it is not there any more.

        """

        def work(connection: Connection) -> None:
            if not connection.execute(delete(ReviewRow).where(ReviewRow.id == item_id)).rowcount:
                raise NotFound(f"nothing to review under {item_id}")
            _insert(connection, self._kit, decided)

        self._kit.db.run(work)

    def note(self, decided: Reviewed) -> None:
        """Store a decision on something that is no item here: a record in quarantine."""
        self._kit.db.run(lambda connection: _insert(connection, self._kit, decided))

    def decisions(self, tenant_id: str, since: datetime | None = None) -> tuple[Reviewed, ...]:
        """What was decided, in order."""
        row = ReviewedRow
        statement = select(*(getattr(row, name) for name in _DECIDED)).where(row.tenant_id == tenant_id)
        if since is not None:
            statement = statement.where(row.at >= since)
        with self._kit.db.read() as connection:
            found = connection.execute(statement.order_by(row.at, row.id)).mappings()
            return tuple(Reviewed.model_validate(dict(one)) for one in found)


def _put(connection: Connection, rows: list[dict[str, Any]]) -> None:
    row = ReviewRow
    tenants = {one["tenant_id"] for one in rows}
    counted = select(row.tenant_id, row.kind, func.count()).where(row.tenant_id.in_(tenants))
    held = {
        (tenant, kind): count for tenant, kind, count in connection.execute(counted.group_by(row.tenant_id, row.kind))
    }
    gone = rights.suppressed(connection, {(one["tenant_id"], one["subject"]) for one in rows}, None)
    kept = []
    for one in rows:
        if (one["tenant_id"], one["subject"]) in gone:
            continue
        key = (one["tenant_id"], one["kind"])
        held[key] = held.get(key, 0) + 1
        if held[key] <= OPEN:
            kept.append(one)
    dialect.insert_new(connection, row, kept)


def _insert(connection: Connection, kit: Kit, decided: Reviewed) -> None:
    row = decided.plain() | {"at": decided.at, "expires_at": kit.expires(ReviewedRow)}
    dialect.insert_new(connection, ReviewedRow, [row])


def _times(item: ReviewItem) -> dict[str, datetime]:
    return {"since": item.since, "expires_at": item.expires_at}
