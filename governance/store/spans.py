"""``store.spans``: what came in, merged, and assembled as it comes.

1. Merging any batch again, in any order, from any number of writers, changes nothing: the writer holds the trace while
   it reads, merges and writes, and ``merge`` is commutative, associative and idempotent.
2. The spans of a trace lie in rows of up to ``ROW`` spans of one person, so that a person leaves by whole rows.
3. A trace that changed is assembled in the same transaction when the caller says how. One whose assembly fails, or
   that something else changed (``touch``), is remembered as dirty until it has been assembled.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, delete, select, tuple_, update

from governance.records.content import AdmittedSpan
from governance.records.ledger import Fate
from governance.records.rights import Purpose
from governance.records.signal import Signal
from governance.records.trajectory import UNKNOWN_SUBJECT, Trajectory
from governance.store import dialect, release, rights
from governance.store.blocks import TraceKey, Words, by_tenant
from governance.store.chunks import chunks
from governance.store.held import Held, held_traces, write_rows
from governance.store.kit import Kit
from governance.store.signals import drop_signals, put_signals
from governance.store.tables_feedback import ResponseRow
from governance.store.tables_traces import MentionRow, SpansRow, TraceVersionRow
from governance.store.trajectories import put_runs

Merge = Callable[[AdmittedSpan, AdmittedSpan], AdmittedSpan]
RowKey = tuple[str, str, int]
"""(tenant_id, trace_id, number) of a row of spans."""
Traces = Mapping[TraceKey, Sequence[AdmittedSpan]]


class Assembled(NamedTuple):
    """What follows from the spans of one trace."""

    trajectory: Trajectory
    signals: Sequence[Signal]


Assemble = Callable[[Traces], Iterable[Assembled]]
"""Traces with all their spans to what follows from them; one that is not in the result stays dirty."""


class DirtyTrace(NamedTuple):
    """A trace that changed since it was last assembled."""

    tenant_id: str
    trace_id: str


class Snapshot(NamedTuple):
    """A trace as somebody saw it."""

    trace: TraceKey
    version: int
    spans: list[AdmittedSpan]


class Spans:
    """Spans by trace."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def merge(self, spans: Sequence[AdmittedSpan], merge: Merge, assemble: Assemble | None = None) -> list[Fate]:
        """Store or merge each span and say what became of it, in order.

        ``rejected`` means that the person was suppressed between the door and here.
        """
        return self._kit.db.run(lambda connection: self._merge(connection, spans, merge, assemble))

    def trace(self, tenant_id: str, trace_id: str, purpose: Purpose) -> list[AdmittedSpan]:
        """The trace's spans that ``purpose`` may use, by (start, span id).

        A span that identifies nobody belongs to the one person whom its trace identifies.
        """
        key = (tenant_id, trace_id)
        with self._kit.reading(purpose) as connection:
            self._kit.log_comply(connection, purpose, [tenant_id], f"trace:{trace_id}")
            found = held_traces(connection, Words(connection, self._kit), [key]).get(key)
            spans = [] if found is None else found.spans()
            known = {span.subject for span in spans} - {UNKNOWN_SUBJECT}
            heir = known.pop() if len(known) == 1 else UNKNOWN_SUBJECT
            owners = [heir if span.subject == UNKNOWN_SUBJECT else span.subject for span in spans]
            run = f"{tenant_id}/{trace_id}"
            rows = {(tenant_id, subject, run) for subject in owners}
            verdicts = rights.read_verdicts(connection, self._kit, purpose, rows)
        return [span for span, owner in zip(spans, owners, strict=True) if verdicts[tenant_id, owner, run].allowed]

    def people(self, tenant_id: str, trace_ids: Iterable[str]) -> dict[str, str]:
        """Trace id to the one person whom its stored spans identify; no entry where they identify none or several."""
        row = SpansRow
        found: dict[str, set[str]] = {}
        with self._kit.db.read() as connection:
            for _, part in by_tenant((tenant_id, trace_id) for trace_id in trace_ids):
                mine = (row.tenant_id == tenant_id, row.trace_id.in_(part), row.subject != UNKNOWN_SUBJECT)
                for trace_id, subject in connection.execute(select(row.trace_id, row.subject).where(*mine).distinct()):
                    found.setdefault(trace_id, set()).add(subject)
        return {trace_id: subjects.pop() for trace_id, subjects in found.items() if len(subjects) == 1}

    def dirty_traces(self) -> list[DirtyTrace]:
        """The traces that changed since they were last assembled, by (tenant, trace)."""
        row = TraceVersionRow
        statement = (
            select(row.tenant_id, row.trace_id).where(row.version > row.clean).order_by(row.tenant_id, row.trace_id)
        )
        with self._kit.db.read() as connection:
            return [DirtyTrace(*found) for found in connection.execute(statement)]

    def _merge(
        self, connection: Connection, spans: Sequence[AdmittedSpan], merge: Merge, assemble: Assemble | None
    ) -> list[Fate]:
        traces = sorted({(item.tenant_id, item.span.trace_id) for item in spans})
        dialect.lock_names(connection, (f"trace:{tenant}/{trace}" for tenant, trace in traces))
        gone = rights.suppressed(connection, {(item.tenant_id, item.subject) for item in spans}, None)
        words = Words(connection, self._kit)
        held = held_traces(connection, words, traces)
        fates: list[Fate] = []
        for item in spans:
            key = (item.tenant_id, item.span.trace_id)
            if (item.tenant_id, item.subject) in gone:
                fates.append(Fate.REJECTED)
                continue
            fates.append(held.setdefault(key, Held(key)).fold(item, merge))
        changed = {key: found for key, found in held.items() if found.changed}
        if changed:
            self._write(connection, words, changed, assemble)
        return fates

    def _write(
        self, connection: Connection, words: Words, changed: Mapping[TraceKey, Held], assemble: Assemble | None
    ) -> None:
        before = [key for key, found in changed.items() if found.stored]
        write_rows(connection, words, changed.values(), self._kit.expires(SpansRow))
        _write_mentions(connection, changed)
        self._touch(connection, changed)
        if assemble is not None:
            whole = {key: found.spans() for key, found in changed.items()}
            self._put(connection, words, assemble(whole), before)
        release.tidy(connection, self._kit, before)

    def _put(
        self, connection: Connection, words: Words, made: Iterable[Assembled], known: Collection[TraceKey]
    ) -> None:
        """Store what follows from traces, in place of what followed from the ``known`` ones before."""
        found = list(made)
        runs = [one.trajectory for one in found]
        signals = [signal for one in found for signal in one.signals]
        put_runs(connection, self._kit, words, runs)
        again = [run.id for run in runs if (run.tenant_id, run.trace_id) in known]
        drop_signals(connection, again, {signal.id for signal in signals})
        put_signals(connection, self._kit, signals)
        row = TraceVersionRow
        for tenant_id, part in by_tenant((run.tenant_id, run.trace_id) for run in runs):
            mine = (row.tenant_id == tenant_id, row.trace_id.in_(part))
            connection.execute(update(row).where(*mine).values(clean=row.version))

    def assemble(self, trace: TraceKey, assemble: Assemble) -> int:
        """Assemble a dirty trace; how many trajectories that gave. Its spans go to assembly, and nowhere else."""
        return self._kit.db.run(lambda connection: self._again(connection, trace, assemble))

    def _again(self, connection: Connection, trace: TraceKey, assemble: Assemble) -> int:
        dialect.lock_names(connection, [f"trace:{trace[0]}/{trace[1]}"])
        words = Words(connection, self._kit)
        held = held_traces(connection, words, [trace])
        made = list(assemble({key: found.spans() for key, found in held.items()}))
        self._put(connection, words, made, [trace])
        release.tidy(connection, self._kit, [trace])
        return len(made)

    def tenants(self) -> list[str]:
        """The tenants of which the store holds spans."""
        with self._kit.db.read() as connection:
            return list(connection.scalars(select(SpansRow.tenant_id).distinct().order_by(SpansRow.tenant_id)))

    def masked_otherwise(self, tenant_id: str, version: str) -> dict[str, list[str]]:
        """The other versions under which spans of the tenant were masked, each with its traces."""
        row = SpansRow
        statement = (
            select(row.masked_under, row.trace_id)
            .where(row.tenant_id == tenant_id, row.masked_under != version)
            .distinct()
            .order_by(row.masked_under, row.trace_id)
        )
        found: dict[str, list[str]] = {}
        with self._kit.db.read() as connection:
            for masked_under, trace_id in connection.execute(statement):
                found.setdefault(masked_under, []).append(trace_id)
        return found

    def snapshot(self, trace: TraceKey) -> Snapshot:
        """A trace as it is now. Its spans go to masking, and back by ``replace``."""
        with self._kit.db.read() as connection:
            found = held_traces(connection, Words(connection, self._kit), [trace]).get(trace)
            return Snapshot(trace, _version(connection, trace), [] if found is None else found.spans())

    def replace(self, seen: Snapshot, spans: Sequence[AdmittedSpan], assemble: Assemble) -> bool:
        """Put spans in the place of those that they were made of, and make again what follows from the trace.

        False, and nothing done, when the trace changed since it was seen.
        """
        return self._kit.db.run(lambda connection: self._replace(connection, seen, spans, assemble))

    def _replace(
        self, connection: Connection, seen: Snapshot, spans: Sequence[AdmittedSpan], assemble: Assemble
    ) -> bool:
        dialect.lock_names(connection, [f"trace:{seen.trace[0]}/{seen.trace[1]}"])
        if _version(connection, seen.trace) != seen.version:
            return False
        words = Words(connection, self._kit)
        held = held_traces(connection, words, [seen.trace])
        for one in held.values():
            one.replace(spans)
        self._write(connection, words, held, assemble)
        return True

    def touch(self, traces: Iterable[TraceKey]) -> None:
        """Something that belongs to the traces changed: they are dirty, those that there are."""
        wanted = list(traces)
        self._kit.db.run(lambda connection: bump(connection, wanted))

    def _touch(self, connection: Connection, traces: Iterable[TraceKey]) -> None:
        expires_at = self._kit.expires(TraceVersionRow)
        wanted = sorted(traces)
        rows = [
            {"tenant_id": tenant, "trace_id": trace, "version": 0, "clean": 0, "expires_at": expires_at}
            for tenant, trace in wanted
        ]
        dialect.insert_new(connection, TraceVersionRow, rows)
        bump(connection, wanted)


def _version(connection: Connection, trace: TraceKey) -> int:
    row = TraceVersionRow
    return connection.scalar(select(row.version).where(row.tenant_id == trace[0], row.trace_id == trace[1])) or 0


def bump(connection: Connection, traces: Iterable[TraceKey]) -> None:
    """Something that belongs to the traces changed: they are dirty, those that there are."""
    row = TraceVersionRow
    for tenant_id, part in by_tenant(traces):
        mine = (row.tenant_id == tenant_id, row.trace_id.in_(part))
        connection.execute(update(row).where(*mine).values(version=row.version + 1))


def _write_mentions(connection: Connection, changed: Mapping[TraceKey, Held]) -> None:
    row = MentionRow
    for tenant_id, part in by_tenant(key for key, found in changed.items() if found.stored):
        connection.execute(delete(row).where(row.tenant_id == tenant_id, row.trace_id.in_(part)))
    rows = [
        {"tenant_id": tenant, "trace_id": trace, "mention": mention}
        for (tenant, trace), found in sorted(changed.items())
        for mention in sorted({mention for item in found.spans() for mention in item.mentions})
    ]
    dialect.insert_new(connection, MentionRow, rows)


def delete_spans(connection: Connection, keys: Iterable[RowKey]) -> int:
    """Delete rows of spans, and what hangs on traces that have none left; how many spans they held.

    Their words are left to ``release.tidy``.
    """
    wanted = sorted(set(keys))
    gone = 0
    row = SpansRow
    for part in chunks(wanted, dialect.CHUNK // 3):
        named = tuple_(row.tenant_id, row.trace_id, row.number).in_(part)
        gone += sum(connection.scalars(select(row.size).where(named)))
        connection.execute(delete(row).where(named))
    for tenant_id, traces in by_tenant((tenant, trace) for tenant, trace, _ in wanted):
        without = sorted(set(traces) - existing(connection, tenant_id, traces))
        for table in (TraceVersionRow, MentionRow, ResponseRow):
            mine = (table.tenant_id == tenant_id, table.trace_id.in_(without))
            connection.execute(delete(table).where(*mine))
    return gone


def existing(connection: Connection, tenant_id: str, trace_ids: Iterable[str]) -> set[str]:
    """Those of the traces of which the store holds spans."""
    row, found = SpansRow, set[str]()
    for _, part in by_tenant((tenant_id, trace_id) for trace_id in trace_ids):
        there = select(row.trace_id).where(row.tenant_id == tenant_id, row.trace_id.in_(part)).distinct()
        found.update(connection.scalars(there))
    return found
