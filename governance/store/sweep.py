"""The sweep: deletes what is overdue, and first renews what production still stands on and what a hold covers.

The champion of each scope, its adapter and that adapter's dataset live for as long as they serve. A swept span or
trajectory takes its words with it, unless something else still refers to them. A run goes whole, never half, and with
the first of it that is overdue: words live no longer than the earliest span that carried them. What a person's purposes
no longer keep goes before its class's term (``governance.store.clocks``); what others did in the same trace stays.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, delete, exists, func, or_, select, update
from sqlalchemy.orm import aliased

from governance.policy.retention import expiry
from governance.records.retention import RETENTION, RetentionClass
from governance.records.trajectory import UNKNOWN_SUBJECT
from governance.store import clocks, holds, quarantine, release, schema, spans, trajectories
from governance.store.blocks import by_tenant
from governance.store.kit import Kit
from governance.store.minimum_age import MinimumAge
from governance.store.tables_datasets import DatasetLineRow, DatasetVersionRow
from governance.store.tables_learning import DatasetTable
from governance.store.tables_releases import AdapterRow, DeploymentRow, ReleaseRow
from governance.store.tables_rights import ConsentEventRow
from governance.store.tables_traces import SpansRow, TraceVersionRow, TrajectoryRow

Key = tuple[str, str, int]
"""Tenant, trace and number of a row of spans."""
SPECIAL = frozenset({"spans", "trajectories", "trace_versions", "quarantine"})
"""Tables whose rows hang together, swept by hand."""


def sweep(kit: Kit, now: datetime) -> dict[str, int]:
    """Delete what is overdue at ``now``; table to rows deleted."""
    return kit.db.run(lambda connection: _sweep(connection, kit, now))


def overdue(kit: Kit, now: datetime) -> dict[str, int]:
    """Rows that should be gone at ``now``, for each table that has any."""
    with kit.db.read() as connection:
        early, least = clocks.shortened(connection, kit, now), MinimumAge(connection, kit, now)
        found = {}
        for name, table in _expiring().items():
            due = least.reached(table, or_(table.expires_at <= now, *clocks.conditions(table, early, now)))
            found[name] = connection.scalar(select(func.count()).select_from(table).where(due)) or 0
    return {name: number for name, number in found.items() if number}


def _sweep(connection: Connection, kit: Kit, now: datetime) -> dict[str, int]:
    _renew(connection, now)
    holds.renew(connection, now)
    _renew_last_words(connection, kit, now)
    early = clocks.shortened(connection, kit, now)
    keys, runs = _due_runs(connection, now, early, MinimumAge(connection, kit, now))
    swept = {
        "trajectories": trajectories.delete_trajectories(connection, runs),
        "spans": spans.delete_spans(connection, keys),
        "quarantine": quarantine.expire(connection, kit, now)[0],
    }
    traces = {(tenant, trace) for tenant, trace, _ in keys} | {(tenant, id_.rpartition("/")[2]) for tenant, id_ in runs}
    spans.bump(connection, traces)
    swept["blocks"] = release.tidy(connection, kit, traces)
    for name, table in _expiring().items():
        if name not in SPECIAL:
            due = or_(table.expires_at <= now, *clocks.conditions(table, early, now))
            swept[name] = connection.execute(delete(table).where(due)).rowcount
    _renew_counters(connection, kit, now)
    return {name: number for name, number in sorted(swept.items()) if number}


def _due_runs(
    connection: Connection, now: datetime, early: clocks.Shortened, least: MinimumAge
) -> tuple[list[Key], set[tuple[str, str]]]:
    """The rows of spans that go, each trace whole as far as its minimum age lets it, and the trajectories."""
    row, run = SpansRow, TrajectoryRow
    columns = (row.tenant_id, row.trace_id, row.number)

    def found(due: Any) -> set[Key]:
        statement = select(*columns).where(least.reached(row, due))
        return {(tenant, trace, number) for tenant, trace, number in connection.execute(statement)}

    def of_traces(keys: set[Key], *more: Any) -> set[Key]:
        traces = by_tenant({(tenant, trace) for tenant, trace, _ in keys})
        rows = [and_(row.tenant_id == tenant, row.trace_id.in_(part), *more) for tenant, part in traces]
        return {key for mine in rows for key in found(mine)}

    keys = found(row.expires_at <= now)
    keys |= of_traces(keys)
    theirs = {key for due in clocks.conditions(row, early, now) for key in found(due)}
    keys |= theirs | of_traces(theirs, row.subject == UNKNOWN_SUBJECT)
    runs = {(tenant, f"{tenant}/{trace}") for tenant, trace, _ in keys}
    due = least.reached(run, or_(run.expires_at <= now, *clocks.conditions(run, early, now)))
    runs.update((tenant, id_) for tenant, id_ in connection.execute(select(run.tenant_id, run.id).where(due)))
    return sorted(keys), runs


def _renew_counters(connection: Connection, kit: Kit, now: datetime) -> None:
    """The counters of a trace live as long as it has spans, and go with them."""
    row = TraceVersionRow
    until = kit.expires(row)
    connection.execute(update(row).where(row.expires_at <= now).values(expires_at=until))


def _renew_last_words(connection: Connection, kit: Kit, now: datetime) -> None:
    """What a person said last about a purpose counts for as long as nothing newer was said, so it stays.

    What something newer took the place of decided verdicts until then, so it is evidence for another term.
    """
    row = ConsentEventRow
    later = aliased(row)
    newer = and_(
        later.tenant_id == row.tenant_id,
        later.subject == row.subject,
        later.purpose == row.purpose,
        later.valid_from > row.valid_from,
    )
    long_ago = later.recorded_at <= now - RETENTION[RetentionClass.EVIDENCE]
    ends = row.expires_at <= now
    last = (ends, ~exists().where(newer))
    connection.execute(update(row).where(*last).values(expires_at=kit.expires(row)))
    evidence = (ends, ~exists().where(newer, long_ago))
    connection.execute(update(row).where(*evidence).values(expires_at=now + holds.RENEWAL))


def _renew(connection: Connection, now: datetime) -> None:
    """What a champion stands on lives on."""
    row = DeploymentRow
    newest = select(row.scope, func.max(row.version).label("version")).group_by(row.scope).subquery()
    at = (row.scope == newest.c.scope) & (row.version == newest.c.version)
    digests = list(connection.scalars(select(row.release_digest).join(newest, at).distinct()))
    serving = ReleaseRow.digest.in_(digests)
    adapters = select(ReleaseRow.adapter_digest).where(serving)
    datasets = select(AdapterRow.dataset_digest).where(AdapterRow.content_digest.in_(adapters))
    for table, where in (
        (DatasetTable, DatasetTable.root.in_(datasets)),
        (DatasetVersionRow, DatasetVersionRow.root.in_(datasets)),
        (DatasetLineRow, DatasetLineRow.root.in_(datasets)),
        (AdapterRow, AdapterRow.content_digest.in_(adapters)),
        (ReleaseRow, serving),
    ):
        until: Any = expiry(table.retention_class, now)
        connection.execute(update(table).where(where, table.expires_at < until).values(expires_at=until))


def _expiring() -> dict[str, Any]:
    found: dict[str, Any] = {mapper.class_.__tablename__: mapper.class_ for mapper in schema.mappers()}
    return {name: table for name, table in found.items() if hasattr(table, "expires_at")}
