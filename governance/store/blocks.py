"""Blocks: every message body, tool argument and tool result once, by reference.

1. What a trace says is kept in slots, counted through the trace; the slots that came together are one compressed pack.
   A value that a trace says again, in any of its spans or in its trajectory, is the same slot.
2. A value of ``SHARED`` bytes or more is also known by name: HMAC-SHA256 of its JSON under the tenant's key, so nobody
   without the key can tell whether a guessed text is in the store. Another trace of the tenant that says it refers to
   the slot instead of keeping it again. Shorter values are kept by each trace: a name and a reference cost more.
3. A reference is a slot of the own trace, or ``[trace id, slot]`` of another. Each row that refers says what it
   ``needs``; ``block_refs`` says which traces need slots of another one. A slot that nobody needs is emptied in the
   transaction in which its last reference goes (``governance.store.release``).
4. A writer that refers to another trace's slot locks its pack before it relies on the name, and whoever empties slots
   locks the packs before looking for references; so on PostgreSQL too no reference ever points at nothing.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from sqlalchemy import Connection, and_, select

from governance.errors import StoreError
from governance.grown import Grown
from governance.records.message import Message
from governance.store import dialect
from governance.store.base import JsonText, dump_json
from governance.store.chunks import chunks
from governance.store.kit import Kit
from governance.store.message_json import message_json
from governance.store.tables_traces import BlockNameRow, BlockPackRow, BlockRefRow

SHARED: Final = 256
"""Bytes of JSON from which a value is shared between traces."""
NAME_BYTES: Final = 16
"""Of a name: 128 bits tell the values of a tenant apart."""
TraceKey = tuple[str, str]
"""(tenant_id, trace_id)."""
Ref = int | tuple[str, int]
"""A slot of the own trace, or (home trace id, slot)."""


def as_ref(value: Any) -> Ref:
    """A reference as JSON brought it."""
    return value if isinstance(value, int) else (value[0], value[1])


def as_runs(refs: Iterable[Ref]) -> list[Any]:
    """References as JSON, slots that follow one another as ``[first, how many]``: histories are mostly that."""
    runs: list[Any] = []
    first = size = 0
    for ref in refs:
        if size and ref == first + size:
            size += 1
            continue
        if size:
            runs.append([first, size])
        if isinstance(ref, int):
            first, size = ref, 1
        else:
            runs.append(ref)
            size = 0
    return [*runs, [first, size]] if size else runs


def of_runs(runs: Iterable[Any]) -> Iterator[Ref]:
    """The references that ``as_runs`` wrote."""
    for first, second in runs:
        if isinstance(first, int):
            yield from range(first, first + second)
        else:
            yield first, second


def block_name(key: bytes, text: str) -> bytes:
    """The keyed name of a value's JSON."""
    return hmac.new(key, text.encode(), hashlib.sha256).digest()[:NAME_BYTES]


class TraceWords:
    """What one trace says: what the store holds of it, and what is new."""

    def __init__(self, key: TraceKey) -> None:
        """Nothing is known yet."""
        self.key = key
        self.next = 0
        """The slot that the next new value gets."""
        self.refs: dict[str, Ref] = {}
        """JSON text to where it is."""
        self.values: dict[Ref, Any] = {}
        """What was read from packs."""
        self.new: list[str] = []
        """Texts for the next pack, from slot ``next - len(new)``."""
        self.borrowed: dict[tuple[str, int], None] = {}
        """Slots of other traces that are newly referred to."""
        self._seen: dict[int, tuple[Any, str]] = {}
        self._messages: dict[Ref, Message] = {}
        self.noted: dict[str, None] = {}
        self._grown_notes: Grown[None] = Grown(self._note_each)
        self._grown_refs: Grown[Ref] = Grown(lambda values: [self.refs[self._text(value)] for value in values])

    def add_pack(self, first: int, values: Sequence[Any]) -> None:
        """A pack of this trace that was read; an empty slot is None."""
        self.next = max(self.next, first + len(values))
        for slot, value in enumerate(values, first):
            if value is not None:
                self._know(slot, value)

    def add_borrowed(self, home: str, slot: int, value: Any) -> None:
        """A slot of another trace that this one refers to by record; the rest of its pack is not this trace's."""
        if value is not None:
            self._know((home, slot), value)

    def _know(self, ref: Ref, value: Any) -> None:
        self.values[ref] = value
        self.refs.setdefault(dump_json(value), ref)

    def note(self, value: Any) -> None:
        """A value that will be referred to, a message or plain JSON."""
        text = self._text(value)
        if text not in self.refs:
            self.noted[text] = None

    def note_all(self, values: tuple[Any, ...]) -> None:
        """Values that will be referred to together."""
        self._grown_notes(values)

    def _note_each(self, values: tuple[Any, ...]) -> list[None]:
        for value in values:
            self.note(value)
        return [None] * len(values)

    def ref(self, value: Any) -> Ref:
        """The reference to a noted value."""
        return self.refs[self._text(value)]

    def refs_to(self, values: tuple[Any, ...]) -> tuple[Ref, ...]:
        """The references to values that were noted together."""
        return self._grown_refs(values)

    def _text(self, value: Any) -> str:
        """The JSON of a value, made once for each object."""
        known = self._seen.get(id(value))
        if known is not None and known[0] is value:
            return known[1]
        text = message_json(value) if isinstance(value, Message) else dump_json(value)
        self._seen[id(value)] = value, text
        return text

    def keep(self, text: str) -> int:
        """Give a new value a slot of this trace."""
        slot, self.next = self.next, self.next + 1
        self.refs[text] = slot
        self.new.append(text)
        return slot

    def value(self, ref: Any) -> Any:
        """What a reference stands for; None stays None.

        Raises:
            StoreError: for a reference to a block that is not there.

        """
        if ref is None:
            return None
        try:
            return self.values[as_ref(ref)]
        except KeyError as error:
            raise StoreError(f"store: a reference of trace {self.key[1]} points at no block: {ref}") from error

    def message(self, ref: Any) -> Message:
        """The message that a reference stands for, one object for each."""
        place = as_ref(ref)
        if place not in self._messages:
            made = self._messages[place] = Message.model_validate(self.value(ref))
            self._seen[id(made)] = made, dump_json(self.values[place])
        return self._messages[place]


class Words:
    """The words of the traces that one transaction reads or writes."""

    def __init__(self, connection: Connection, kit: Kit) -> None:
        """Keys are asked for once per tenant."""
        self._connection = connection
        self._kit = kit
        self._keys: dict[str, bytes] = {}
        self._traces: dict[TraceKey, TraceWords] = {}

    def of(self, key: TraceKey) -> TraceWords:
        """The words of one trace."""
        if key not in self._traces:
            self._traces[key] = TraceWords(key)
        return self._traces[key]

    def load(self, keys: Iterable[TraceKey]) -> None:
        """Read what the store holds of these traces, with what they borrow from others."""
        pack, ref = BlockPackRow, BlockRefRow
        at = and_(
            pack.tenant_id == ref.tenant_id,
            pack.trace_id == ref.home_trace_id,
            ref.slot >= pack.first,
            ref.slot < pack.first + pack.size,
        )
        for tenant_id, part in by_tenant(keys):
            own = select(pack.trace_id, pack.first, pack.body).where(
                pack.tenant_id == tenant_id, pack.trace_id.in_(part)
            )
            for trace_id, first, body in self._connection.execute(own):
                self.of((tenant_id, trace_id)).add_pack(first, body)
            borrowed = (
                select(ref.trace_id, ref.home_trace_id, ref.slot, pack.first, pack.body)
                .join(pack, at)
                .where(ref.tenant_id == tenant_id, ref.trace_id.in_(part))
            )
            for trace_id, home, slot, first, body in self._connection.execute(borrowed):
                self.of((tenant_id, trace_id)).add_borrowed(home, slot, body[slot - first])

    def settle(self) -> None:
        """Give every noted value its place: where another trace has it already, else a slot of its own."""
        named = self._names()
        known = self._known(named)
        fresh: dict[tuple[str, bytes], tuple[str, int]] = {}
        for key, words in sorted(self._traces.items()):
            for text in words.noted:
                name = named.get((key[0], text))
                home = None if name is None else known.get((key[0], name))
                if home is not None and home[0] != key[1]:
                    words.refs[text] = home
                    words.borrowed[home] = None
                    continue
                slot = words.keep(text)
                if name is not None:
                    fresh[key[0], name] = known[key[0], name] = key[1], slot
            words.noted.clear()
        self._write(fresh)

    def _names(self) -> dict[tuple[str, str], bytes]:
        """The names of the noted values that are long enough to be shared, by (tenant, text)."""
        found = {}
        for (tenant_id, _), words in self._traces.items():
            for text in words.noted:
                if len(text) >= SHARED and (tenant_id, text) not in found:
                    found[tenant_id, text] = block_name(self._key(tenant_id), text)
        return found

    def _key(self, tenant_id: str) -> bytes:
        if tenant_id not in self._keys:
            self._keys[tenant_id] = self._kit.block_key(tenant_id)
        return self._keys[tenant_id]

    def _known(self, named: dict[tuple[str, str], bytes]) -> dict[tuple[str, bytes], tuple[str, int]]:
        """Where the named values are, their packs locked."""
        wanted = {(tenant_id, name) for (tenant_id, _), name in named.items()}
        found = self._places(wanted)
        if not found or not dialect.locks_rows(self._connection):
            return found
        for tenant_id, part in by_tenant((tenant_id, home) for (tenant_id, _), (home, _) in found.items()):
            pack = BlockPackRow
            mine = select(pack.first).where(pack.tenant_id == tenant_id, pack.trace_id.in_(part))
            self._connection.execute(mine.order_by(pack.trace_id, pack.first).with_for_update(read=True)).all()
        return self._places(found)

    def _places(self, names: Iterable[tuple[str, bytes]]) -> dict[tuple[str, bytes], tuple[str, int]]:
        found: dict[tuple[str, bytes], tuple[str, int]] = {}
        row = BlockNameRow
        for tenant_id, part in by_tenant(names):
            statement = select(row.digest, row.trace_id, row.slot).where(
                row.tenant_id == tenant_id, row.digest.in_(part)
            )
            for digest, trace_id, slot in self._connection.execute(statement):
                found[tenant_id, digest] = trace_id, slot
        return found

    def _write(self, fresh: dict[tuple[str, bytes], tuple[str, int]]) -> None:
        packs, refs = [], []
        for (tenant_id, trace_id), words in sorted(self._traces.items()):
            key = {"tenant_id": tenant_id, "trace_id": trace_id}
            if words.new:
                body = JsonText(f"[{','.join(words.new)}]")
                first = words.next - len(words.new)
                packs.append(key | {"first": first, "size": len(words.new), "body": body})
                words.new.clear()
            refs += [key | {"home_trace_id": home, "slot": slot} for home, slot in words.borrowed]
            words.borrowed.clear()
        names = [
            {"tenant_id": tenant_id, "digest": name, "trace_id": trace_id, "slot": slot}
            for (tenant_id, name), (trace_id, slot) in sorted(fresh.items())
        ]
        dialect.insert(self._connection, BlockPackRow, packs)
        dialect.insert_new(self._connection, BlockNameRow, names)
        dialect.insert_new(self._connection, BlockRefRow, refs)


def by_tenant(keys: Iterable[tuple[str, Any]]) -> Iterable[tuple[str, list[Any]]]:
    """(tenant, ids) in portions that fit one statement."""
    groups: dict[str, set[Any]] = {}
    for tenant_id, id_ in keys:
        groups.setdefault(tenant_id, set()).add(id_)
    for tenant_id, ids in sorted(groups.items()):
        for part in chunks(sorted(ids), dialect.CHUNK):
            yield tenant_id, part
