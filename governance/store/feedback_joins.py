"""What feedback is about, as far as it is there: runs, and through them the person whose data it is.

The most exact thing that a statement names decides: its trace, else the trace of its response id, else every run of
its session. Feedback that names nobody belongs to the person of what it is about; of a session, only where all of its
runs that name anybody name the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, select

from governance.records.feedback import Statement, StatementRef
from governance.records.trajectory import UNKNOWN_SUBJECT
from governance.store import trajectories
from governance.store.base import name_bytes
from governance.store.blocks import TraceKey, by_tenant
from governance.store.tables_feedback import ResponseRow
from governance.store.tables_traces import TrajectoryRow

Name = tuple[str, str]
"""(tenant_id, id of a response or a session)."""


def runs_of(connection: Connection, statements: Iterable[Statement]) -> dict[StatementRef, tuple[str, ...]]:
    """The ids of the trajectories that each statement is about and that are stored, in order."""
    wanted = list(statements)
    by_response = response_traces(connection, _names(wanted, "response_id"))
    by_session = _session_runs(connection, _names(wanted, "session_id"))
    found: dict[StatementRef, list[str]] = {}
    for one in wanted:
        named, tenant = one.target, one.tenant_id
        if named.trace_id is not None:
            found[one.ref] = [f"{tenant}/{named.trace_id}"]
        elif named.response_id is not None:
            found[one.ref] = sorted(
                f"{tenant}/{trace}" for _, trace in by_response.get((tenant, named.response_id), ())
            )
        else:
            found[one.ref] = by_session.get((tenant, named.session_id or ""), [])
    stored = trajectories.subjects_of(connection, {id_ for ids in found.values() for id_ in ids})
    return {ref: tuple(id_ for id_ in ids if id_ in stored) for ref, ids in found.items()}


def owners(connection: Connection, statements: Iterable[Statement]) -> dict[StatementRef, str]:
    """Whose data each statement is: by its own word, else the person of its runs."""
    wanted = list(statements)
    runs = runs_of(connection, [one for one in wanted if one.subject == UNKNOWN_SUBJECT])
    people = trajectories.subjects_of(connection, {id_ for ids in runs.values() for id_ in ids})
    found: dict[StatementRef, str] = {}
    for one in wanted:
        named = {people[id_][1] for id_ in runs.get(one.ref, ())} - {UNKNOWN_SUBJECT}
        found[one.ref] = one.subject if one.subject != UNKNOWN_SUBJECT or len(named) != 1 else named.pop()
    return found


def response_traces(connection: Connection, names: Iterable[Name]) -> dict[Name, set[TraceKey]]:
    """The traces in which response ids are."""
    found: dict[Name, set[TraceKey]] = defaultdict(set)
    for tenant, part in by_tenant(names):
        row = ResponseRow
        statement = select(row.response_id, row.trace_id).where(row.tenant_id == tenant, row.response_id.in_(part))
        named = {name_bytes(name): name for name in part}
        for response, trace_id in connection.execute(statement):
            found[tenant, named[response]].add((tenant, trace_id))
    return found


def _session_runs(connection: Connection, names: Iterable[Name]) -> dict[Name, list[str]]:
    found: dict[Name, list[str]] = defaultdict(list)
    for tenant, part in by_tenant(names):
        row = TrajectoryRow
        statement = select(row.session_id, row.id).where(row.tenant_id == tenant, row.session_id.in_(part))
        for session_id, id_ in connection.execute(statement.order_by(row.started_at, row.id)):
            found[tenant, session_id].append(id_)
    return found


def _names(statements: Iterable[Statement], field: str) -> set[Name]:
    """The names under ``field`` of the statements that it decides for."""
    found: set[Name] = set()
    for one in statements:
        named = one.target
        decides = "trace_id" if named.trace_id else "response_id" if named.response_id else "session_id"
        value: Any = getattr(named, field)
        if decides == field and value is not None:
            found.add((one.tenant_id, value))
    return found
