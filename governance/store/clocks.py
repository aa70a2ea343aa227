"""Clocks of purposes: what dies before its class's term, since the last purpose that kept it came to its end.

A person's content is kept for the purposes that may use it, each with a term of its own (``RetentionPolicy``); it dies
when the last of them stops. A purpose stops by its term, or when the person ends it (withdraws, refuses, objects, or
lets a consent run out). While no purpose was ever lawful nothing is stored but structure, which the class's term ends.
What is restricted is kept to be shown, and under any hold of a tenant its people's clocks are not shortened: too much
is kept for a time rather than too little.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, select

from governance.policy.retention import earlier
from governance.records.retention import RetentionClass
from governance.records.rights import Purpose, Reason
from governance.records.trajectory import UNKNOWN_SUBJECT
from governance.store import dialect, holds
from governance.store.chunks import chunks
from governance.store.kit import Kit
from governance.store.people import Person
from governance.store.tables_feedback import FeedbackRow
from governance.store.tables_learning import TaskRow
from governance.store.tables_traces import SignalRow, SpansRow, TrajectoryRow
from governance.store.verdicts import Bench

CLASSES: Final = (RetentionClass.CONTENT, RetentionClass.DERIVED)
"""The classes whose rows are kept for purposes."""
STOPPED: Final = frozenset({Reason.CONSENT_WITHDRAWN, Reason.CONSENT_REFUSED, Reason.CONSENT_EXPIRED, Reason.OBJECTED})
"""The person ended the purpose."""
NEVER: Final = frozenset({Reason.CONTRACT_FORBIDS_PURPOSE, Reason.NO_GRANT})
"""The purpose never began."""
_OWNERS: Final = (SpansRow, TrajectoryRow, SignalRow, TaskRow, FeedbackRow)

Shortened = dict[RetentionClass, dict[tuple[str, timedelta], list[str]]]
"""Class to (tenant, how much earlier) to the people."""


def shortened(connection: Connection, kit: Kit, now: datetime) -> Shortened:
    """Whose rows die earlier than their class's term, and by how much."""
    held = holds.tenants(connection, now)
    people = {person for person in _people(connection) if person[0] not in held}
    benches = {
        purpose: Bench(connection, kit, purpose, people, now) for purpose in Purpose if purpose is not Purpose.COMPLY
    }
    found: Shortened = {kept: defaultdict(list) for kept in CLASSES}
    for tenant_id, subject in sorted(people):
        verdicts = {purpose: bench.of((tenant_id, subject, "")) for purpose, bench in benches.items()}
        lawful = [purpose for purpose, verdict in verdicts.items() if verdict.allowed]
        if not lawful and not _ended({reason for verdict in verdicts.values() for reason in verdict.reasons}):
            continue
        for kept in CLASSES:
            early = earlier(kit.retention, tenant_id, lawful, kept)
            if early:
                found[kept][tenant_id, early].append(subject)
    return found


def conditions(table: Any, found: Shortened, now: datetime) -> Iterable[ColumnElement[bool]]:
    """Under which rows of a table are overdue by the clocks of their people's purposes."""
    if hasattr(table, "subject") and table.retention_class in found:
        for (tenant_id, early), subjects in found[table.retention_class].items():
            for part in chunks(subjects, dialect.CHUNK):
                yield (table.tenant_id == tenant_id) & table.subject.in_(part) & (table.expires_at <= now + early)


def _ended(reasons: set[Reason]) -> bool:
    """Whether the person ended every purpose that there was."""
    return bool(reasons & STOPPED) and reasons <= STOPPED | NEVER


def _people(connection: Connection) -> set[Person]:
    found: set[Person] = set()
    for row in _OWNERS:
        statement = select(row.tenant_id, row.subject).where(row.subject != UNKNOWN_SUBJECT).distinct()
        found.update((tenant_id, subject) for tenant_id, subject in connection.execute(statement))
    return found
