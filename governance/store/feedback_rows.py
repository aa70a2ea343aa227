"""Statements as rows: how they are loaded, locked, merged and deleted, and which traces they let be assembled again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from sqlalchemy import ColumnElement, Connection, and_, delete, select, tuple_

from governance.records.feedback import Statement, StatementRef, histories
from governance.records.ledger import Fate
from governance.store import dialect, spans
from governance.store.blocks import TraceKey, by_tenant
from governance.store.chunks import chunks
from governance.store.feedback_joins import response_traces
from governance.store.tables_feedback import FeedbackMentionRow, FeedbackRow, FeedbackSealedRow

Key = tuple[str, str]
"""(tenant_id, key)."""
Known = dict[Key, dict[str, Statement]]
"""Statements by version, by key."""


def delete_statements(connection: Connection, refs: Iterable[StatementRef]) -> int:
    """Delete statements with their mentions and sealed words; what they were about is assembled again without them."""
    wanted = sorted(set(refs))
    found = load(connection, {(tenant, key) for tenant, key, _ in wanted})
    gone = [found[tenant, key].pop(version) for tenant, key, version in wanted if version in found[tenant, key]]
    for part in chunks(wanted, dialect.CHUNK // 3):
        name = tuple_(FeedbackRow.tenant_id, FeedbackRow.key, FeedbackRow.version)
        connection.execute(delete(FeedbackRow).where(name.in_(part)))
    left = [whole.current for versions in found.values() for whole in histories(versions.values())]
    touch(connection, [*gone, *left])
    return len(gone)


def fold(versions: Mapping[str, Statement], one: Statement) -> tuple[Fate, Statement | None, list[Statement]]:
    """What a delivery is to what is known: its fate, the statement to keep if any, and what it changes."""
    old = versions.get(one.version)
    if old is not None and (one.timed or one.at >= old.at):
        return Fate.DUPLICATE, None, []
    kept = one if old is None else old.model_copy(update={"at": one.at, "nanoseconds": one.nanoseconds})
    before, after = histories(versions.values()), histories({**versions, kept.version: kept}.values())
    if not before:
        return Fate.STORED, kept, [kept]
    same = [(said.said, said.at) for said in before[0].history] == [(said.said, said.at) for said in after[0].history]
    return (Fate.DUPLICATE, kept, []) if same else (Fate.UPDATED, kept, [before[0].current, after[0].current])


def load(connection: Connection, keys: set[Key]) -> Known:
    """Every statement under the keys."""
    found: Known = defaultdict(dict)
    for part in chunks(sorted(keys), dialect.CHUNK // 2):
        row = FeedbackRow
        statement = select(row.body).where(tuple_(row.tenant_id, row.key).in_(part))
        for body in connection.scalars(statement):
            one = Statement.model_validate(body)
            found[one.tenant_id, one.key][one.version] = one
    return found


def about(connection: Connection, traces: Iterable[TraceKey], responses: Iterable[Key]) -> set[Key]:
    """The keys of which any statement is about one of the traces, or one of the responses."""
    row = FeedbackRow
    found: set[Key] = set()
    asked = set(responses)
    naming = {tenant for tenant in {tenant for tenant, _ in asked} if _names_responses(connection, tenant)}
    for column, names in ((row.trace_id, traces), (row.response_id, {key for key in asked if key[0] in naming})):
        for tenant_id, part in by_tenant(names):
            statement = select(row.tenant_id, row.key).where(row.tenant_id == tenant_id, column.in_(part))
            found.update((tenant, key) for tenant, key in connection.execute(statement))
    return found


def _names_responses(connection: Connection, tenant_id: str) -> bool:
    """Whether any feedback of a tenant names a response; most have none, and their many responses need no look."""
    row = FeedbackRow
    named = select(row.key).where(row.tenant_id == tenant_id, row.response_id.is_not(None)).limit(1)
    return connection.scalar(named) is not None


def row_of(one: Statement) -> dict[str, object]:
    """The row of a statement, without its expiry."""
    return {
        "tenant_id": one.tenant_id,
        "key": one.key,
        "version": one.version,
        "subject": one.subject,
        "trace_id": one.target.trace_id,
        "response_id": one.target.response_id,
        "session_id": one.target.session_id,
        "at": one.at,
        "body": one.plain(),
    }


def is_(table: type[FeedbackRow | FeedbackSealedRow | FeedbackMentionRow], ref: StatementRef) -> ColumnElement[bool]:
    """The condition that a row of the table is of the statement."""
    return and_(table.tenant_id == ref[0], table.key == ref[1], table.version == ref[2])


def locks(one: Statement) -> set[str]:
    """The names to lock before a statement is stored: its own, and what who assembles its run holds."""
    tenant, named = one.tenant_id, one.target
    found = {f"feedback:{tenant}/{one.key}"}
    if named.trace_id is not None:
        found.add(f"trace:{tenant}/{named.trace_id}")
    elif named.response_id is not None:
        found.add(f"response:{tenant}/{named.response_id}")
    return found


def touch(connection: Connection, statements: Iterable[Statement]) -> None:
    """Let the traces that statements are about be assembled again, those that are there."""
    traces: set[TraceKey] = set()
    responses: set[Key] = set()
    for one in statements:
        if one.target.trace_id is not None:
            traces.add((one.tenant_id, one.target.trace_id))
        elif one.target.response_id is not None:
            responses.add((one.tenant_id, one.target.response_id))
    for found in response_traces(connection, responses).values():
        traces |= found
    spans.bump(connection, traces)
