"""What a person's runs say, for a search, and which of it others say too.

Theirs are the words of the traces that go with them, of their spans in traces that they share, and of their feedback.
A text that also stands in what somebody else's runs or feedback say, in a company's world without the person, or in a
harness proves nothing when it is found, so it is not looked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from sqlalchemy import Connection, select

from governance.records.world import World
from governance.rescan.needles import Needles, forms
from governance.store import dialect, feedback_erasure, findings, worlds
from governance.store.base import dump_json
from governance.store.chunks import chunks
from governance.store.codec import needs_of
from governance.store.tables_feedback import FeedbackRow
from governance.store.tables_releases import ReleaseRow
from governance.store.tables_traces import BlockPackRow, BlockRefRow, SpansRow
from governance.store.tables_worlds import WorldRow

BATCH: Final = 1 << 20
"""Characters that are searched at once."""
Slot = tuple[str, int]
"""Trace id and slot."""


def of_person(connection: Connection, tenant_id: str, subject: str) -> list[str]:
    """Every text that the person's runs and feedback say."""
    held = findings.find(connection, tenant_id, subject)
    mine = _slots_of(connection, held.spans, shared=held.shared)
    found: list[str] = []
    for trace_id, first, body in _packs(connection, tenant_id, held.traces):
        for slot, value in enumerate(body, first):
            if trace_id not in held.shared or (trace_id, slot) in mine:
                found += strings(value)
    for body in _feedback(connection, tenant_id, subject, held.whole, theirs=True):
        found += strings(body)
    return found


def not_elsewhere(connection: Connection, tenant_id: str, subject: str, needles: Needles) -> Needles:
    """The needles that stand in nothing that stays when the person goes."""
    left = {word: forms(word) for word in needles.words}
    for data in _batches(_staying(connection, tenant_id, subject)):
        for word in [word for word, looks in left.items() if any(look in data for look in looks)]:
            del left[word]
        if not left:
            break
    return needles.without(set(needles.words) - set(left))


def _batches(texts: Iterable[str]) -> Iterator[bytes]:
    """Many texts as one, so that each word is looked for in few of them."""
    batch: list[bytes] = []
    size = 0
    for text in texts:
        batch.append(text.encode())
        size += len(text)
        if size >= BATCH:
            yield b"\x00".join(batch)
            batch, size = [], 0
    yield b"\x00".join(batch)


def strings(value: Any) -> Iterator[str]:
    """The texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from strings(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from strings(part)


def _staying(connection: Connection, tenant_id: str, subject: str) -> Iterator[str]:
    """What stays when the person goes, as JSON."""
    held = findings.find(connection, tenant_id, subject)
    gone, whole = set(held.traces), set(held.whole)
    pack, ref = BlockPackRow, BlockRefRow
    for tenant, trace_id, body in connection.execute(select(pack.tenant_id, pack.trace_id, pack.body)):
        if tenant != tenant_id or trace_id not in gone:
            yield dump_json(body)
    kept = set(_others_slots(connection, tenant_id, held))
    for part in chunks(held.traces, dialect.CHUNK):
        lent = select(ref.trace_id, ref.home_trace_id, ref.slot).where(
            ref.tenant_id == tenant_id, ref.home_trace_id.in_(part)
        )
        kept |= {(home, slot) for trace_id, home, slot in connection.execute(lent) if trace_id not in whole}
    for trace_id, first, body in _packs(connection, tenant_id, sorted({home for home, _ in kept})):
        yield dump_json([value for slot, value in enumerate(body, first) if (trace_id, slot) in kept])
    yield from (dump_json(body) for body in _feedback(connection, tenant_id, subject, held.whole, theirs=False))
    yield from _worlds(connection, tenant_id, subject)
    for body in connection.scalars(select(ReleaseRow.body)):
        yield dump_json(body.get("harness"))


def _packs(connection: Connection, tenant_id: str, traces: Iterable[str]) -> Iterator[tuple[str, int, list[Any]]]:
    row = BlockPackRow
    for part in chunks(sorted(traces), dialect.CHUNK):
        statement = select(row.trace_id, row.first, row.body).where(row.tenant_id == tenant_id, row.trace_id.in_(part))
        yield from ((trace_id, first, body) for trace_id, first, body in connection.execute(statement))


def _slots_of(connection: Connection, rows: Iterable[tuple[str, str, int]], *, shared: Iterable[str]) -> set[Slot]:
    """The slots of their own trace that rows of spans need, for the traces of ``shared``."""
    wanted = set(shared)
    row, found = SpansRow, set[Slot]()
    for tenant_id, trace_id, number in rows:
        if trace_id in wanted:
            key = (row.tenant_id == tenant_id, row.trace_id == trace_id, row.number == number)
            for body in connection.scalars(select(row.body).where(*key)):
                found |= {(trace_id, slot) for slot in needs_of(body) if isinstance(slot, int)}
    return found


def _others_slots(connection: Connection, tenant_id: str, held: findings.Findings) -> Iterator[Slot]:
    """The slots that rows of others need in traces that the person shares with them."""
    mine, row = set(held.spans), SpansRow
    for part in chunks(sorted(held.shared), dialect.CHUNK):
        statement = select(row.trace_id, row.number).where(row.tenant_id == tenant_id, row.trace_id.in_(part))
        keys = [(tenant_id, trace_id, number) for trace_id, number in connection.execute(statement)]
        yield from _slots_of(connection, [key for key in keys if key not in mine], shared=part)


def _feedback(
    connection: Connection, tenant_id: str, subject: str, traces: list[str], *, theirs: bool
) -> Iterator[Any]:
    row = FeedbackRow
    refs = set(feedback_erasure.find(connection, tenant_id, subject, traces))
    for tenant, key, version, body in connection.execute(select(row.tenant_id, row.key, row.version, row.body)):
        if ((tenant, key, version) in refs) is theirs:
            yield body


def _worlds(connection: Connection, tenant_id: str, subject: str) -> Iterator[str]:
    row = WorldRow
    for tenant, digest, body in connection.execute(select(row.tenant_id, row.masked_digest, row.body)):
        if tenant == tenant_id:
            out = [one for one in worlds.subjects_of(connection, tenant, digest) if one.subject == subject]
            yield dump_json(worlds.without(World.model_validate(body), out).plain()) if out else dump_json(body)
        else:
            yield dump_json(body)
