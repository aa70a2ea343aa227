"""``store.spans``: what came in, merged.

Merging any batch again, in any order, from any number of writers, changes
nothing: the writer holds the trace while it reads, merges and writes, and ``merge`` is commutative, associative and
idempotent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, select, tuple_, update

from governance.records.content import AdmittedSpan
from governance.records.ledger import Fate
from governance.records.rights import Purpose
from governance.records.trajectory import UNKNOWN_SUBJECT
from governance.store import blocks, dialect, rights
from governance.store.base import dump_json
from governance.store.chunks import chunks
from governance.store.codec import read_span, span_id, write_span
from governance.store.kit import Kit
from governance.store.tables_traces import MentionRow, SpanRow, TraceVersionRow

SpanKey = tuple[str, str, str]
"""(tenant_id, trace_id, span_id)."""
TraceKey = tuple[str, str]
"""(tenant_id, trace_id)."""
Merge = Callable[[AdmittedSpan, AdmittedSpan], AdmittedSpan]


class DirtyTrace(NamedTuple):
    """A trace that changed since it was last assembled. ``version`` goes back into ``mark_clean``."""

    tenant_id: str
    trace_id: str
    version: int


class Spans:
    """Spans by trace."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def merge(self, spans: Sequence[AdmittedSpan], merge: Merge) -> list[Fate]:
        """Store or merge each span and say what became of it, in order.

        ``rejected`` means that the person was suppressed between the door and here.
        """
        return self._kit.db.run(lambda connection: self._merge(connection, spans, merge))

    def trace(self, tenant_id: str, trace_id: str, purpose: Purpose) -> list[AdmittedSpan]:
        """The trace's spans that ``purpose`` may use, by (start, span id).

        A span that identifies nobody belongs to the one person whom its trace identifies.
        """
        now = self._kit.clock.now()
        with self._kit.reading(purpose) as connection:
            self._kit.log_comply(connection, purpose, [tenant_id], f"trace:{trace_id}")
            found = _load(connection, [(tenant_id, trace_id)])
            known = {span.subject for span in found.values()} - {UNKNOWN_SUBJECT}
            heir = known.pop() if len(known) == 1 else UNKNOWN_SUBJECT
            owners = {key: heir if span.subject == UNKNOWN_SUBJECT else span.subject for key, span in found.items()}
            people = {(tenant_id, subject) for subject in owners.values()}
            verdicts = rights.read_verdicts(connection, purpose, people, now)
        allowed = [span for key, span in found.items() if verdicts[tenant_id, owners[key]].allowed]
        return sorted(allowed, key=lambda item: (item.span.start_unix_nano, item.span.span_id))

    def dirty_traces(self) -> list[DirtyTrace]:
        """The traces that changed since they were last assembled, by (tenant, trace)."""
        row = TraceVersionRow
        statement = (
            select(row.tenant_id, row.trace_id, row.version)
            .where(row.version > row.clean)
            .order_by(row.tenant_id, row.trace_id)
        )
        with self._kit.db.read() as connection:
            return [DirtyTrace(*found) for found in connection.execute(statement)]

    def mark_clean(self, tenant_id: str, trace_id: str, version: int) -> None:
        """The trace was assembled as of ``version``; a change that came in between keeps it dirty."""
        row = TraceVersionRow
        statement = (
            update(row)
            .where(row.tenant_id == tenant_id, row.trace_id == trace_id, row.clean < version)
            .values(clean=version)
        )
        self._kit.db.run(lambda connection: connection.execute(statement))

    def _merge(self, connection: Connection, spans: Sequence[AdmittedSpan], merge: Merge) -> list[Fate]:
        traces = sorted({(item.tenant_id, item.span.trace_id) for item in spans})
        dialect.lock_names(connection, (f"trace:{tenant}/{trace}" for tenant, trace in traces))
        gone = rights.suppressed(connection, {(item.tenant_id, item.subject) for item in spans}, None)
        current = _load(connection, traces)
        changed: dict[SpanKey, AdmittedSpan] = {}
        fates: list[Fate] = []
        for item in spans:
            key = (item.tenant_id, item.span.trace_id, item.span.span_id)
            if (item.tenant_id, item.subject) in gone:
                fates.append(Fate.REJECTED)
                continue
            fate, result = _fold(current.get(key), item, merge)
            fates.append(fate)
            if fate is not Fate.DUPLICATE:
                current[key] = changed[key] = result
        self._write(connection, changed)
        return fates

    def _write(self, connection: Connection, changed: dict[SpanKey, AdmittedSpan]) -> None:
        if not changed:
            return
        collector = blocks.Collector(self._kit)
        expires_at = self._kit.expires(SpanRow)
        rows = [
            {
                "tenant_id": key[0],
                "trace_id": key[1],
                "span_id": key[2],
                "subject": item.subject,
                "start_unix_nano": f"{item.span.start_unix_nano:020d}",
                "body": write_span(item, collector),
                "expires_at": expires_at,
            }
            for key, item in sorted(changed.items())
        ]
        dialect.upsert(connection, SpanRow, rows, ["subject", "start_unix_nano", "body"])
        blocks.replace(connection, self._kit, collector)
        _write_mentions(connection, changed)
        self._touch(connection, {(key[0], key[1]) for key in changed})

    def _touch(self, connection: Connection, traces: set[TraceKey]) -> None:
        expires_at = self._kit.expires(TraceVersionRow)
        rows = [
            {"tenant_id": tenant, "trace_id": trace, "version": 0, "clean": 0, "expires_at": expires_at}
            for tenant, trace in sorted(traces)
        ]
        dialect.insert_new(connection, TraceVersionRow, rows)
        for part in chunks(sorted(traces), dialect.CHUNK // 2):
            key = tuple_(TraceVersionRow.tenant_id, TraceVersionRow.trace_id)
            bump = update(TraceVersionRow).where(key.in_(part)).values(version=TraceVersionRow.version + 1)
            connection.execute(bump)


def _fold(old: AdmittedSpan | None, new: AdmittedSpan, merge: Merge) -> tuple[Fate, AdmittedSpan]:
    if old is None:
        return Fate.STORED, new
    merged = merge(old, new)
    same = merged is old or dump_json(merged.plain()) == dump_json(old.plain())
    return (Fate.DUPLICATE, old) if same else (Fate.UPDATED, merged)


def _load(connection: Connection, traces: Sequence[TraceKey]) -> dict[SpanKey, AdmittedSpan]:
    bodies: list[Any] = []
    for part in chunks(traces, dialect.CHUNK // 2):
        statement = select(SpanRow.body).where(tuple_(SpanRow.tenant_id, SpanRow.trace_id).in_(part))
        bodies.extend(connection.scalars(statement))
    keys: list[SpanKey] = [(b["tenant_id"], b["span"]["trace_id"], b["span"]["span_id"]) for b in bodies]
    owners = [(tenant, blocks.OwnerKind.SPAN, span_id(trace, span)) for tenant, trace, span in keys]
    held = blocks.load(connection, owners)
    return {key: read_span(body, held) for key, body in zip(keys, bodies, strict=True)}


def _write_mentions(connection: Connection, changed: dict[SpanKey, AdmittedSpan]) -> None:
    key = tuple_(MentionRow.tenant_id, MentionRow.trace_id, MentionRow.span_id)
    for part in chunks(sorted(changed), dialect.CHUNK // 3):
        connection.execute(delete(MentionRow).where(key.in_(part)))
    rows = [
        {"tenant_id": tenant, "trace_id": trace, "span_id": span, "mention": mention}
        for (tenant, trace, span), item in sorted(changed.items())
        for mention in sorted(set(item.mentions))
    ]
    dialect.insert_new(connection, MentionRow, rows)


def delete_spans(connection: Connection, keys: Iterable[SpanKey]) -> int:
    """Delete spans with their words and mentions, and the counters of traces that have no span left."""
    wanted = sorted(set(keys))
    blocks.release(connection, [(t, blocks.OwnerKind.SPAN, span_id(trace, span)) for t, trace, span in wanted])
    gone = 0
    for part in chunks(wanted, dialect.CHUNK // 3):
        key = tuple_(SpanRow.tenant_id, SpanRow.trace_id, SpanRow.span_id)
        gone += connection.execute(delete(SpanRow).where(key.in_(part))).rowcount
    for traces in chunks(sorted({(tenant, trace) for tenant, trace, _ in wanted}), dialect.CHUNK // 2):
        row = TraceVersionRow
        left = select(SpanRow.span_id).where(SpanRow.tenant_id == row.tenant_id, SpanRow.trace_id == row.trace_id)
        connection.execute(delete(row).where(tuple_(row.tenant_id, row.trace_id).in_(traces), ~left.exists()))
    return gone
