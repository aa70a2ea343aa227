"""The spans of traces as they lie in their rows, while a transaction changes them.

A row holds spans of one person. A new span goes into the last row of its person with room, a span that changed stays
where it is, and one that turned out to be another person's moves; a row never outlives the time that it was given, nor
does a span that moved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, delete, select

from governance.records.content import AdmittedSpan
from governance.records.ledger import Fate
from governance.records.masking_policy import join_versions
from governance.store import codec, dialect
from governance.store.base import dump_json
from governance.store.blocks import TraceKey, Words, by_tenant
from governance.store.tables_traces import SpansRow

ROW: Final = 256
"""Spans of one row at most."""
Merge = Callable[[AdmittedSpan, AdmittedSpan], AdmittedSpan]


@dataclass
class _Row:
    """One row of spans."""

    subject: str
    expires_at: datetime | None
    """None for a new row."""
    items: dict[str, AdmittedSpan] = field(default_factory=dict)
    changed: bool = False


class Held:
    """The spans of one trace."""

    def __init__(self, key: TraceKey) -> None:
        """None yet."""
        self.key = key
        self.rows: dict[int, _Row] = {}
        self.stored = False
        """Whether the store held spans of it before."""
        self._place: dict[str, int] = {}

    @property
    def changed(self) -> bool:
        """Whether anything must be written."""
        return any(row.changed for row in self.rows.values())

    def spans(self) -> list[AdmittedSpan]:
        """Every span, by (start, span id)."""
        found = (item for row in self.rows.values() for item in row.items.values())
        return sorted(found, key=lambda item: (item.span.start_unix_nano, item.span.span_id))

    def put_row(self, number: int, row: _Row) -> None:
        """A row that the store holds."""
        self.stored = True
        self.rows[number] = row
        self._place |= dict.fromkeys(row.items, number)

    def fold(self, item: AdmittedSpan, merge: Merge) -> Fate:
        """Take a span in and say what became of it."""
        span_id = item.span.span_id
        place = self._place.get(span_id)
        if place is None:
            self._add(item, None)
            return Fate.STORED
        row = self.rows[place]
        old = row.items[span_id]
        merged = merge(old, item)
        if merged is old or _said_alike(merged, old):
            return Fate.DUPLICATE
        row.changed = True
        if merged.subject == row.subject:
            row.items[span_id] = merged
        else:
            del row.items[span_id]
            self._add(merged, row.expires_at)
        return Fate.UPDATED

    def replace(self, items: Iterable[AdmittedSpan]) -> None:
        """Take each in the place of the span it was made of; one that is gone, or somebody else's now, stays out."""
        for item in items:
            row = self.rows.get(self._place.get(item.span.span_id, -1))
            if row is not None and row.subject == item.subject:
                row.items[item.span.span_id] = item
                row.changed = True

    def _add(self, item: AdmittedSpan, expires_at: datetime | None) -> None:
        number = next(
            (
                number
                for number, row in self.rows.items()
                if row.subject == item.subject and row.expires_at == expires_at and len(row.items) < ROW
            ),
            None,
        )
        if number is None:
            number = max(self.rows, default=-1) + 1
            self.rows[number] = _Row(item.subject, expires_at)
        self.rows[number].items[item.span.span_id] = item
        self.rows[number].changed = True
        self._place[item.span.span_id] = number


def _said_alike(first: AdmittedSpan, second: AdmittedSpan) -> bool:
    """Whether two spans are one, whatever version of a policy masked them."""
    return dump_json(first.plain() | {"masked_under": ""}) == dump_json(second.plain() | {"masked_under": ""})


def held_traces(connection: Connection, words: Words, traces: Sequence[TraceKey]) -> dict[TraceKey, Held]:
    """What the store holds of these traces, their words in ``words``."""
    row, found = SpansRow, []
    for tenant_id, part in by_tenant(traces):
        statement = select(row.trace_id, row.number, row.subject, row.masked_under, row.body, row.expires_at).where(
            row.tenant_id == tenant_id, row.trace_id.in_(part)
        )
        found += [(tenant_id, *one) for one in connection.execute(statement.order_by(row.trace_id, row.number))]
    words.load(traces)
    held: dict[TraceKey, Held] = {}
    for tenant_id, trace_id, number, subject, masked_under, body, expires_at in found:
        key = (tenant_id, trace_id)
        spans = codec.read_spans(body, subject, masked_under, words.of(key))
        items = {item.span.span_id: item for item in spans}
        held.setdefault(key, Held(key)).put_row(number, _Row(subject, expires_at, items))
    return held


def write_rows(connection: Connection, words: Words, traces: Iterable[Held], expires_at: datetime) -> None:
    """Write the rows that changed, and their words."""
    changed = [(one, number, row) for one in traces for number, row in one.rows.items() if row.changed]
    for one, _, row in changed:
        of_trace = words.of(one.key)
        for item in row.items.values():
            codec.note_span(item, of_trace)
    words.settle()
    dialect.upsert(
        connection,
        SpansRow,
        [_values(one, number, row, words, expires_at) for one, number, row in changed if row.items],
        ["size", "masked_under", "body"],
    )
    table = SpansRow
    for one, number, row in changed:
        if not row.items:
            mine = (table.tenant_id == one.key[0], table.trace_id == one.key[1], table.number == number)
            connection.execute(delete(table).where(*mine))


def _values(one: Held, number: int, row: _Row, words: Words, expires_at: datetime) -> dict[str, Any]:
    return {
        "tenant_id": one.key[0],
        "trace_id": one.key[1],
        "number": number,
        "subject": row.subject,
        "size": len(row.items),
        "masked_under": join_versions(item.masked_under for item in row.items.values()),
        "body": codec.write_spans(row.items.values(), words.of(one.key)),
        "expires_at": row.expires_at or expires_at,
    }
