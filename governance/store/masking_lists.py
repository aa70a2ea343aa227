"""``store.masking_lists``: each tenant's allow-list and deny-list, as the acts that made them.

Append-only: an entry ends by its time or by a later act, and the acts stay as its history. An erasure is the one
exception: it deletes the acts on values of the person. Each act is audited in its own transaction, without the value,
its keyed identifier or the words of the reason.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, func, select

from governance.acting import audited
from governance.errors import Conflict, NotFound, RecordError, RightsError
from governance.records.audit import AuditEvent
from governance.records.masking_list import LONGEST, ListAct, ListEvent, ListName
from governance.store import audit, dialect, rights
from governance.store.kit import Kit
from governance.store.tables_masking import MaskingListRow

_FIELDS = tuple(ListEvent.model_fields)
Entry = tuple[ListName, str]
"""List and keyed identifier: at most one current entry."""


class MaskingLists:
    """Acts by tenant and position."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def add(self, event: ListEvent) -> int:
        """Put a value on a list, or change its entry; the position of the act.

        Raises:
            RecordError: for an entry without an end, or with one that is over or too far away.
            RightsError: when the person of the value was erased.
            Conflict: when the value stands on the other list.

        """
        if not event.at < event.until <= event.at + LONGEST:
            raise RecordError(
                f"an entry ends at {event.until.isoformat()}: it needs an end within {LONGEST.days} days from now"
            )
        return self._kit.db.run(lambda connection: self._add(connection, event))

    def remove(self, event: ListEvent) -> int:
        """Take a value off a list; the position of the act.

        Raises:
            NotFound: when it does not stand there.

        """

        def work(connection: Connection) -> int:
            held = _lock(connection, event, self._kit.clock.now())
            if (event.list_name, event.mention) not in held:
                raise NotFound(f"the value does not stand on the {event.list_name}-list of {event.tenant_id}")
            return self._append(connection, event)

        return self._kit.db.run(work)

    def current(self, tenant_id: str, now: datetime | None = None) -> tuple[ListEvent, ...]:
        """The entries that count now, by list and in the order in which they were made."""
        with self._kit.db.read() as connection:
            held = _current(_events(connection, tenant_id), now or self._kit.clock.now())
        return tuple(sorted(held.values(), key=lambda event: event.list_name))

    def history(self, tenant_id: str) -> tuple[ListEvent, ...]:
        """Every act, in order."""
        with self._kit.db.read() as connection:
            return _events(connection, tenant_id)

    def _add(self, connection: Connection, event: ListEvent) -> int:
        held = _lock(connection, event, self._kit.clock.now())
        other = ListName.DENY if event.list_name is ListName.ALLOW else ListName.ALLOW
        if (other, event.mention) in held:
            raise Conflict(f"the value stands on the {other}-list of {event.tenant_id}: remove it there first")
        if rights.suppressed(connection, {(event.tenant_id, event.subject)}, None):
            raise RightsError("the person of this value was erased: nothing about them is recorded")
        return self._append(connection, event)

    def _append(self, connection: Connection, event: ListEvent) -> int:
        table = MaskingListRow
        last = connection.scalar(select(func.max(table.position)).where(table.tenant_id == event.tenant_id))
        position = (last or 0) + 1
        row = event.model_dump() | {"position": position, "expires_at": self._kit.expires(table)}
        row |= {"list_name": event.list_name.value, "act": event.act.value}
        dialect.insert(connection, table, [row])
        audit.append(connection, self._audited(event, position))
        return position

    def _audited(self, event: ListEvent, position: int) -> AuditEvent:
        action, target = f"masking_list_{event.act}", f"masking-list:{event.list_name}/{position}"
        detail = {"entity_type": event.entity_type, "owner": event.owner, "until": event.until.isoformat()}
        return audited(self._kit.ids, event.at, event.tenant_id, action, target, detail, actor=event.actor)


def _lock(connection: Connection, event: ListEvent, now: datetime) -> dict[Entry, ListEvent]:
    """The tenant's entries of now; nobody else changes them until the transaction ends."""
    dialect.lock_names(connection, [f"masking-list:{event.tenant_id}", f"audit:{event.tenant_id}"])
    return _current(_events(connection, event.tenant_id), now)


def _events(connection: Connection, tenant_id: str) -> tuple[ListEvent, ...]:
    table = MaskingListRow
    statement = select(*(getattr(table, name) for name in _FIELDS)).where(table.tenant_id == tenant_id)
    found = connection.execute(statement.order_by(table.position)).mappings()
    return tuple(ListEvent.model_validate(dict(row)) for row in found)


def _current(events: tuple[ListEvent, ...], now: datetime) -> dict[Entry, ListEvent]:
    last = {(event.list_name, event.mention): event for event in events}
    return {key: event for key, event in last.items() if event.act is ListAct.ADD and event.until > now}
