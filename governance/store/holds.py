"""Legal holds: what they cover is neither deleted nor learned from, for as long as they stand.

A hold covers a run, a person, or everybody of a tenant. What is overdue under a hold is kept for another ``RENEWAL``
and looked at again, so it goes soon after the hold has ended. Where a row says whose it is, a hold on a person keeps
their rows and the traces that are theirs or mention them; where it does not (what is sealed, worlds, patterns,
datasets, what was made from several people), any hold keeps it: too much is kept for a time rather than too little.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, or_, select, update

from governance.policy.facts import facts_at
from governance.records.rights import FactKind, RightsFact
from governance.store import rights_facts, schema
from governance.store.people import by_tenant
from governance.store.tables_rights import RightsFactRow
from governance.store.tables_traces import MentionRow, SpansRow, TrajectoryRow

RENEWAL: Final = timedelta(days=30)


def standing(connection: Connection, now: datetime, kind: FactKind = FactKind.HOLD) -> list[RightsFact]:
    """The holds that stand at the present, of every tenant, or the facts of another kind."""
    row = RightsFactRow
    statement = select(row.__table__).where(row.kind == kind.value)
    return facts_at(rights_facts.read(connection, statement), now, everything=True)


def over(
    connection: Connection, tenant_id: str, subjects: Iterable[str], runs: Iterable[str], now: datetime
) -> list[RightsFact]:
    """The holds that cover any of a tenant's people or of the runs."""
    people, named = set(subjects), set(runs)
    return [one for one in standing(connection, now) if one.tenant_id == tenant_id and _covers(one, people, named)]


def _covers(hold: RightsFact, subjects: set[str], runs: set[str]) -> bool:
    if hold.trajectory_id is not None:
        return hold.trajectory_id in runs
    return hold.subject is None or hold.subject in subjects


def tenants(connection: Connection, now: datetime) -> set[str]:
    """The tenants under whom any hold stands."""
    return {one.tenant_id for one in standing(connection, now)}


def renew(connection: Connection, now: datetime) -> None:
    """Keep what is overdue under a hold."""
    holds = standing(connection, now)
    if not holds:
        return
    for table in _expiring():
        for where in covered(table, holds):
            statement = update(table).where(table.expires_at <= now, *where)
            connection.execute(statement.values(expires_at=now + RENEWAL))


def covered(table: Any, facts: Sequence[RightsFact]) -> Iterable[tuple[Any, ...]]:
    """Conditions under which rows of a table are what any of the facts is about."""
    whole = {one.tenant_id for one in facts if one.subject is None and one.trajectory_id is None}
    people = {(one.tenant_id, one.subject) for one in facts if one.subject is not None and one.trajectory_id is None}
    runs = {one.trajectory_id for one in facts if one.trajectory_id is not None}
    if not hasattr(table, "tenant_id"):
        yield ()
        return
    if not hasattr(table, "subject"):
        yield (table.tenant_id.in_(sorted({one.tenant_id for one in facts})),)
        return
    if whole:
        yield (table.tenant_id.in_(sorted(whole)),)
    for tenant_id, part in by_tenant(people):
        yield (table.tenant_id == tenant_id, _theirs(table, tenant_id, part))
    for run in sorted(runs):
        tenant_id, _, trace_id = run.partition("/")
        if hasattr(table, "trace_id"):
            yield (table.tenant_id == tenant_id, table.trace_id == trace_id)
        elif hasattr(table, "trajectory_id"):
            yield (table.tenant_id == tenant_id, table.trajectory_id == run)


def _theirs(table: Any, tenant_id: str, subjects: Sequence[str]) -> Any:
    mine = table.subject.in_(subjects)
    if table not in (SpansRow, TrajectoryRow):
        return mine
    own, named = SpansRow, MentionRow
    traces = select(own.trace_id).where(own.tenant_id == tenant_id, own.subject.in_(subjects))
    naming = select(named.trace_id).where(named.tenant_id == tenant_id, named.mention.in_(subjects))
    return or_(mine, table.trace_id.in_(traces), table.trace_id.in_(naming))


def _expiring() -> list[Any]:
    tables: list[Any] = [mapper.class_ for mapper in schema.mappers()]
    return [table for table in tables if hasattr(table, "expires_at")]
