"""Everything that the store holds of one person, as plain JSON: what they get when they ask for a copy.

Rows that a table's declared path leads to, as they are stored and decoded; the person's runs and spans with every word
in its place; statements about their runs. Nothing that others said is in it (GDPR Art. 15(4)): of a trace that several
people share only the person's spans are, and of one that only mentions them its id. Raw ids are nowhere, since the
store has none; values stand masked, as they are stored.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, select

from governance.records.rights import Purpose
from governance.records.trajectory import UNKNOWN_SUBJECT
from governance.store import feedback_erasure, findings
from governance.store.kit import Kit
from governance.store.spans import Spans
from governance.store.tables_feedback import FeedbackRow
from governance.store.trajectories import Trajectories

READ_WHOLE: Final = frozenset({"spans", "trajectories", "feedback"})
"""Tables whose rows say little without the words that they refer to."""
LEFT_OUT: Final = frozenset({"expires_at", "sealed"})
"""Columns that are the store's own, or cannot be read."""


def of_person(kit: Kit, tenant_id: str, subject: str) -> dict[str, list[Any]]:
    """Table to its rows; tables without any are left out. A read for ``comply``, which the audit knows."""
    with kit.reading(Purpose.COMPLY) as connection:
        kit.log_comply(connection, Purpose.COMPLY, [tenant_id], "a person's own data")
        own = findings.own_traces(connection, tenant_id, subject)
        shared = findings.find(connection, tenant_id, subject).shared
        found = {name: _rows(connection, tenant_id, subject, name) for name in findings.subject_columns()}
        found["feedback"] = _feedback(connection, tenant_id, subject, own)
        runs = [f"{tenant_id}/{trace_id}" for trace_id in own if trace_id not in shared]
        runs_of = Trajectories(kit).some(runs, Purpose.COMPLY)
        found["trajectories"] = [one.plain() for one in runs_of if one.subject == subject]
        found["spans"] = [
            one.plain()
            for trace_id in own
            for one in Spans(kit).trace(tenant_id, trace_id, Purpose.COMPLY)
            if one.subject in {subject, UNKNOWN_SUBJECT}
        ]
    return {name: rows for name, rows in sorted(found.items()) if rows}


def _rows(connection: Connection, tenant_id: str, subject: str, name: str) -> list[Any]:
    if name in READ_WHOLE:
        return []
    column = findings.subject_columns()[name]
    table = column.class_
    statement = select(table.__table__).where(table.tenant_id == tenant_id, column == subject)
    return [
        {key: _plain(value) for key, value in row.items() if key not in LEFT_OUT}
        for row in connection.execute(statement).mappings()
    ]


def _feedback(connection: Connection, tenant_id: str, subject: str, traces: list[str]) -> list[Any]:
    row = FeedbackRow
    found: list[Any] = []
    for tenant, key, version in feedback_erasure.find(connection, tenant_id, subject, traces):
        named = (row.tenant_id == tenant, row.key == key, row.version == version)
        mine = row.subject.in_((subject, UNKNOWN_SUBJECT))
        found += connection.scalars(select(row.body).where(*named, mine)).all()
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return value.hex() if isinstance(value, bytes) else value
