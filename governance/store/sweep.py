"""The sweep: deletes what is overdue, and first renews what production still stands on.

The champion of each scope, its adapter and that adapter's dataset live for as long as they serve. A swept span or
trajectory takes its words with it, unless something else still refers to them. A trajectory goes with the first spans
that it was made of, and is made again of those that stay.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, func, select, update

from governance.policy.retention import expiry
from governance.store import quarantine, release, schema, spans, trajectories
from governance.store.kit import Kit
from governance.store.tables_learning import DatasetTable
from governance.store.tables_releases import AdapterRow, DeploymentRow, ReleaseRow
from governance.store.tables_traces import SpansRow, TraceVersionRow, TrajectoryRow

SPECIAL = frozenset({"spans", "trajectories", "trace_versions", "quarantine"})
"""Tables whose rows hang together, swept by hand."""


def sweep(kit: Kit, now: datetime) -> dict[str, int]:
    """Delete what is overdue at ``now``; table to rows deleted."""
    return kit.db.run(lambda connection: _sweep(connection, kit, now))


def overdue(kit: Kit, now: datetime) -> dict[str, int]:
    """Rows that should be gone at ``now``, for each table that has any."""
    with kit.db.read() as connection:
        found = {}
        for name, table in _expiring().items():
            found[name] = connection.scalar(select(func.count()).select_from(table).where(table.expires_at <= now)) or 0
    return {name: number for name, number in found.items() if number}


def _sweep(connection: Connection, kit: Kit, now: datetime) -> dict[str, int]:
    _renew(connection, now)
    row, run = SpansRow, TrajectoryRow
    keys: list[tuple[str, str, int]] = []
    for tenant, trace, number in connection.execute(
        select(row.tenant_id, row.trace_id, row.number).where(row.expires_at <= now)
    ):
        keys.append((tenant, trace, number))
    traces = {(tenant, trace) for tenant, trace, _ in keys}
    runs = {(tenant, f"{tenant}/{trace}") for tenant, trace in traces}
    for tenant, id_ in connection.execute(select(run.tenant_id, run.id).where(run.expires_at <= now)):
        runs.add((tenant, id_))
    swept = {
        "trajectories": trajectories.delete_trajectories(connection, runs),
        "spans": spans.delete_spans(connection, keys),
        "quarantine": quarantine.expire(connection, kit, now)[0],
    }
    traces |= {(tenant, id_.rpartition("/")[2]) for tenant, id_ in runs}
    spans.bump(connection, traces)
    swept["blocks"] = release.tidy(connection, kit, traces)
    for name, table in _expiring().items():
        if name not in SPECIAL:
            swept[name] = connection.execute(delete(table).where(table.expires_at <= now)).rowcount
    _renew_counters(connection, kit, now)
    return {name: number for name, number in sorted(swept.items()) if number}


def _renew_counters(connection: Connection, kit: Kit, now: datetime) -> None:
    """The counters of a trace live as long as it has spans, and go with them."""
    row = TraceVersionRow
    until = kit.expires(row)
    connection.execute(update(row).where(row.expires_at <= now).values(expires_at=until))


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
        (AdapterRow, AdapterRow.content_digest.in_(adapters)),
        (ReleaseRow, serving),
    ):
        until: Any = expiry(table.retention_class, now)
        connection.execute(update(table).where(where, table.expires_at < until).values(expires_at=until))


def _expiring() -> dict[str, Any]:
    found: dict[str, Any] = {mapper.class_.__tablename__: mapper.class_ for mapper in schema.mappers()}
    return {name: table for name, table in found.items() if hasattr(table, "expires_at")}
