"""What becomes of the words when rows go: slots that nobody needs are emptied, and packs without a block deleted.

A slot is needed by the rows of its own trace (each says what it ``needs``) and by the traces that ``block_refs`` names.
Call ``tidy`` after rows of traces were deleted or rewritten, in the same transaction.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, delete, select, tuple_, update

from governance.store import dialect
from governance.store.base import dump_json
from governance.store.blocks import SHARED, Ref, TraceKey, block_name, by_tenant
from governance.store.chunks import chunks
from governance.store.codec import needs_of
from governance.store.kit import Kit
from governance.store.tables_traces import BlockNameRow, BlockPackRow, BlockRefRow, SpansRow, TrajectoryRow


def tidy(connection: Connection, kit: Kit, traces: Iterable[TraceKey]) -> int:
    """Empty the slots that the traces needed and nobody needs any more; how many blocks went."""
    gone = 0
    for tenant_id, part in by_tenant(traces):
        dialect.lock_names(connection, (f"trace:{tenant_id}/{trace_id}" for trace_id in part))
        needs = _needs(connection, tenant_id, part)
        homes = _drop_refs(connection, tenant_id, part, needs)
        others = sorted(homes - set(part))
        if others:
            needs |= _needs(connection, tenant_id, others)
        for some in chunks([*part, *others], dialect.CHUNK):
            gone += _empty(connection, kit.block_key(tenant_id), tenant_id, some, needs)
    return gone


def _needs(connection: Connection, tenant_id: str, trace_ids: list[str]) -> dict[str, set[Ref]]:
    """Trace id to the references in its rows."""
    found: dict[str, set[Ref]] = {trace_id: set() for trace_id in trace_ids}
    for row in (SpansRow, TrajectoryRow):
        for part in chunks(trace_ids, dialect.CHUNK):
            statement = select(row.trace_id, row.body).where(row.tenant_id == tenant_id, row.trace_id.in_(part))
            for trace_id, body in connection.execute(statement):
                found[trace_id].update(needs_of(body))
    return found


def _drop_refs(connection: Connection, tenant_id: str, trace_ids: list[str], needs: dict[str, set[Ref]]) -> set[str]:
    """Delete the traces' references to others that no row needs; the homes that lost one."""
    row = BlockRefRow
    mine = select(row.trace_id, row.home_trace_id, row.slot).where(
        row.tenant_id == tenant_id, row.trace_id.in_(trace_ids)
    )
    stale = [
        (trace_id, home, slot)
        for trace_id, home, slot in connection.execute(mine)
        if (home, slot) not in needs[trace_id]
    ]
    for part in chunks(stale, dialect.CHUNK // 3):
        key = tuple_(row.trace_id, row.home_trace_id, row.slot)
        connection.execute(delete(row).where(row.tenant_id == tenant_id, key.in_(part)))
    return {home for _, home, _ in stale}


def _empty(connection: Connection, key: bytes, tenant_id: str, trace_ids: list[str], needs: dict[str, set[Ref]]) -> int:
    pack, ref = BlockPackRow, BlockRefRow
    packs = dialect.lock_rows(
        connection,
        select(pack.trace_id, pack.first, pack.body)
        .where(pack.tenant_id == tenant_id, pack.trace_id.in_(trace_ids))
        .order_by(pack.trace_id, pack.first),
    )
    rows = connection.execute(packs).all()
    wanted = {(trace_id, slot) for trace_id in trace_ids for slot in needs[trace_id] if isinstance(slot, int)}
    lent = select(ref.home_trace_id, ref.slot).where(ref.tenant_id == tenant_id, ref.home_trace_id.in_(trace_ids))
    wanted.update((home, slot) for home, slot in connection.execute(lent))
    gone: dict[tuple[str, int], Any] = {}
    for trace_id, first, body in rows:
        left = [value if (trace_id, slot) in wanted else None for slot, value in enumerate(body, first)]
        if left != body:
            pairs = enumerate(zip(body, left, strict=True), first)
            gone |= {(trace_id, slot): value for slot, (value, kept) in pairs if value is not None and kept is None}
            mine = (pack.tenant_id == tenant_id, pack.trace_id == trace_id, pack.first == first)
            empty = all(value is None for value in left)
            connection.execute(delete(pack).where(*mine) if empty else update(pack).where(*mine).values(body=left))
    _unname(connection, key, tenant_id, gone)
    return len(gone)


def _unname(connection: Connection, key: bytes, tenant_id: str, gone: dict[tuple[str, int], Any]) -> None:
    """Delete the names of blocks that are gone, by name; a name that another key made is looked for by its place."""
    row = BlockNameRow
    texts = {place: text for place, value in gone.items() if len(text := dump_json(value)) >= SHARED}
    names = sorted(block_name(key, text) for text in texts.values())
    homes = sorted({trace_id for trace_id, _ in texts})
    found = 0
    for part in chunks(names, dialect.CHUNK):
        where = (row.tenant_id == tenant_id, row.digest.in_(part), row.trace_id.in_(homes))
        found += connection.execute(delete(row).where(*where)).rowcount
    if found < len(texts):
        places = tuple_(row.trace_id, row.slot)
        for some in chunks(sorted(texts), dialect.CHUNK // 2):
            connection.execute(delete(row).where(row.tenant_id == tenant_id, places.in_(some)))
