"""Consent events going into their table, in an order that a clock which is set back cannot turn.

1. A word that is said here and now (its ``valid_from`` is when it is recorded) comes after everything that the person
   said on the purpose before: where the clock lies behind their last word, both its times are moved just past it.
2. A word that was said elsewhere or earlier keeps its times: when it was said is its place among the others.
3. What a suppressed person says is not recorded; an id is recorded once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection, func, select

from governance.policy.facts import RESTRAINT
from governance.records.retention import RetentionClass
from governance.records.rights import ConsentEvent
from governance.store import dialect
from governance.store.kit import Kit
from governance.store.people import by_tenant
from governance.store.suppressions import suppressed
from governance.store.tables_rights import ConsentEventRow

STEP: Final = timedelta(microseconds=1)
_About = tuple[str, str, str]
"""Tenant, person, purpose."""


def add(connection: Connection, kit: Kit, events: Sequence[ConsentEvent], dated_elsewhere: bool) -> None:  # noqa: FBT001
    """Record what people said, in order."""
    gone = suppressed(connection, {(event.tenant_id, event.subject) for event in events}, None)
    kept = [event for event in events if (event.tenant_id, event.subject) not in gone]
    if not dated_elsewhere:
        kept = _in_order(connection, kept)
    expires_at = kit.expires_class(RetentionClass.EVIDENCE)
    dialect.insert_new(connection, ConsentEventRow, [_row(event, expires_at) for event in kept])


def _in_order(connection: Connection, events: Sequence[ConsentEvent]) -> list[ConsentEvent]:
    dialect.lock_names(connection, [f"consents:{tenant}" for tenant in {event.tenant_id for event in events}])
    last = _last(connection, events)
    found = []
    for event in events:
        about = _about(event)
        before = last.get(about)
        if before is not None and event.valid_from == event.recorded_at < before:
            event = event.model_copy(update={"valid_from": before + STEP, "recorded_at": before + STEP})  # noqa: PLW2901
        last[about] = max(event.valid_from, event.recorded_at, before or event.recorded_at)
        found.append(event)
    return found


def _last(connection: Connection, events: Iterable[ConsentEvent]) -> dict[_About, datetime]:
    """The newest moment that is recorded of each person's words on a purpose."""
    row = ConsentEventRow
    found: dict[_About, datetime] = {}
    newest = select(row.subject, row.purpose, func.max(row.valid_from), func.max(row.recorded_at))
    for tenant_id, part in by_tenant({(event.tenant_id, event.subject) for event in events}):
        of = newest.where(row.tenant_id == tenant_id, row.subject.in_(part)).group_by(row.subject, row.purpose)
        for subject, purpose, said, known in connection.execute(of):
            found[tenant_id, subject, purpose] = max(said, known)
    return found


def _about(event: ConsentEvent) -> _About:
    return event.tenant_id, event.subject, event.purpose.value


def _row(event: ConsentEvent, expires_at: datetime) -> dict[str, object]:
    return event.model_dump() | {
        "purpose": event.purpose.value,
        "status": event.status.value,
        "restraint": RESTRAINT[event.status],
        "expires_at": expires_at,
    }
