"""The state of one session: tables copied on first touch, and the order-free difference between two states.

Theory. A snapshot is shared by all sessions and never written. A session copies a table when it first touches it, so a
run that reads one table pays for one, and no session can reach another's rows. Two states differ in the rows whose
primary keys differ or whose contents differ; neither the order of rows nor that of keys inside a row counts, nor that
of items in a field which the schema calls unordered. A table without a primary key is a multiset of rows. So the
difference after the same calls is the same, in every replay.
"""

from __future__ import annotations

import json
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, ValuesView
from datetime import datetime
from typing import Any, Final

from governance.ports.tools import Tables, WorldState
from governance.records.base import canonical_json, digest_bytes, digest_json
from governance.records.world import StateChange, World, WorldSchema

Row = dict[str, Any]
Index = dict[str, bytes]
"""A table's rows in canonical form, by key."""
DOCUMENTS: Final = "documents"
"""The table under which changed documents are reported."""


def copy_json(value: Any) -> Any:
    """A deep copy of a JSON value."""
    if isinstance(value, dict):
        return {key: copy_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [copy_json(item) for item in value]
    return value


class LazyTables(dict[str, list[Row]]):
    """Tables that copy themselves from a snapshot when they are first touched.

    Every access that could show rows loads them first; ``__iter__`` is overridden so that ``dict(tables)`` and
    ``{**tables}`` go through ``__getitem__`` too.
    """

    def __init__(self, names: Iterable[str], load: Callable[[str], list[Row]]) -> None:
        """Names are known at once; ``load`` gives a table's rows as copies, on demand."""
        self._source = dict.fromkeys(names)
        self._copy = load
        super().__init__((name, []) for name in self._source)

    def touched(self) -> tuple[str, ...]:
        """Names of the tables that may differ from the snapshot and are still here."""
        return tuple(name for name in self if name not in self._source)

    def _load(self, name: str) -> None:
        if name in self._source:
            del self._source[name]
            super().__setitem__(name, self._copy(name))

    def _load_all(self) -> None:
        for name in tuple(self._source):
            self._load(name)

    def __iter__(self) -> Iterator[str]:
        return super().__iter__()

    def __getitem__(self, name: str) -> list[Row]:
        self._load(name)
        return super().__getitem__(name)

    def __setitem__(self, name: str, rows: list[Row]) -> None:
        self._source.pop(name, None)
        super().__setitem__(name, rows)

    def __delitem__(self, name: str) -> None:
        self._source.pop(name, None)
        super().__delitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        """As of a dict."""
        self._load(name)
        return super().get(name, default)

    def setdefault(self, name: str, default: Any = None) -> Any:
        """As of a dict."""
        self._load(name)
        return super().setdefault(name, default)

    def pop(self, name: str, *default: Any) -> Any:
        """As of a dict."""
        self._load(name)
        return super().pop(name, *default)

    def items(self) -> ItemsView[str, list[Row]]:  # type: ignore[override]  # dict_items cannot be named in a signature
        """As of a dict."""
        self._load_all()
        return super().items()

    def values(self) -> ValuesView[list[Row]]:  # type: ignore[override]  # dict_values cannot be named in a signature
        """As of a dict."""
        self._load_all()
        return super().values()

    def copy(self) -> Tables:
        """A plain dict of the same lists."""
        return dict(self.items())

    def update(self, *args: Any, **kwargs: Any) -> None:
        """As of a dict."""
        self._load_all()
        super().update(*args, **kwargs)

    def popitem(self) -> tuple[str, list[Row]]:
        """As of a dict."""
        self._load_all()
        return super().popitem()

    def clear(self) -> None:
        """As of a dict."""
        self._source.clear()
        super().clear()

    def __or__(self, other: Any) -> Any:
        return self.copy() | other

    def __ror__(self, other: Any) -> Any:
        return other | self.copy()

    def __ior__(self, other: Any) -> LazyTables:  # type: ignore[override]  # the in-place form of the above
        self.update(other)
        return self

    def __eq__(self, other: object) -> bool:
        return self.copy() == other

    __hash__ = None


class Snapshot:
    """A world that sessions start from, with what every session of it needs worked out once."""

    def __init__(self, world: World, schema: WorldSchema) -> None:
        """``world`` is shared, and never written."""
        self.world = world
        self.schema = schema
        self._texts: dict[str, str] = {}
        self._indexes: dict[str, Index] = {}

    def copy(self, table: str) -> list[Row]:
        """Fresh rows of a table."""
        if table not in self._texts:
            self._texts[table] = json.dumps(self.world.tables[table])
        rows: list[Row] = json.loads(self._texts[table])
        return rows

    def untouched(self, table: str, rows: list[Row]) -> bool:
        """Whether rows are written exactly as in the snapshot: the cheap answer for a table that was only read."""
        return self._texts.get(table) == json.dumps(rows)

    def index(self, table: str) -> Index:
        """The table's rows by key."""
        if table not in self._indexes:
            self._indexes[table] = index_of(table, self.world.tables.get(table, ()), self.schema)
        return self._indexes[table]


class SessionState(WorldState):
    """A state restored copy-on-write: the snapshot stays as it is, whatever a call does."""

    def __init__(self, tables: LazyTables, documents: Mapping[str, str], at: datetime) -> None:
        """Rows are copied when touched, documents at once (texts cannot change in place)."""
        self.tables: Tables = tables
        self.documents: dict[str, str] = dict(documents)
        self.at = at

    @classmethod
    def of(cls, snapshot: Snapshot) -> SessionState:
        """The state at the start of a run."""
        world = snapshot.world
        return cls(LazyTables(world.tables, snapshot.copy), world.documents, world.at)

    def fork(self) -> SessionState:
        """A second state that starts where this one is."""
        tables = self.tables
        return SessionState(LazyTables(tables, lambda name: copy_json(tables[name])), self.documents, self.at)

    def maybe_changed(self) -> Tables:
        """The tables that were touched."""
        if isinstance(self.tables, LazyTables):
            return {name: self.tables[name] for name in self.tables.touched()}
        return self.tables


def canonical_row(table: str, row: Mapping[str, Any], schema: WorldSchema) -> bytes:
    """A row's canonical form, with the lists of unordered fields sorted by content."""
    prefix = f"{table}."
    loose = {name.removeprefix(prefix) for name in schema.unordered_fields if name.startswith(prefix)}
    lists = {name: row[name] for name in loose if isinstance(row.get(name), list | tuple)}
    return canonical_json({**row, **{name: sorted(items, key=canonical_json) for name, items in lists.items()}})


def index_of(table: str, rows: Iterable[Mapping[str, Any]], schema: WorldSchema) -> Index:
    """Rows by key. A second row of a key, in order of content, is ``key#2``; a row without one is its digest."""
    field = schema.primary_keys.get(table)
    keyed = []
    for row in rows:
        content = canonical_row(table, row, schema)
        keyed.append((str(row[field]) if field is not None and field in row else digest_bytes(content)[:16], content))
    found: Index = {}
    seen: dict[str, int] = {}
    for key, content in sorted(keyed):
        seen[key] = seen.get(key, 0) + 1
        found[key if seen[key] == 1 else f"{key}#{seen[key]}"] = content
    return found


def compare(table: str, old: Index, new: Index) -> list[StateChange]:
    """What differs between two forms of a table, sorted by key."""
    differing = sorted(key for key in {*old, *new} if old.get(key) != new.get(key))
    return [StateChange(table=table, key=key, before=_row(old.get(key)), after=_row(new.get(key))) for key in differing]


def _row(content: bytes | None) -> Row | None:
    return None if content is None else json.loads(content)


def diff(
    before: Mapping[str, Iterable[Mapping[str, Any]]],
    after: Mapping[str, Iterable[Mapping[str, Any]]],
    schema: WorldSchema,
) -> tuple[StateChange, ...]:
    """What differs in the tables that either side names, sorted by table and key."""
    return tuple(
        change
        for table in sorted({*before, *after})
        for change in compare(
            table, index_of(table, before.get(table, ()), schema), index_of(table, after.get(table, ()), schema)
        )
    )


def changes_of(snapshot: Snapshot, state: SessionState) -> tuple[StateChange, ...]:
    """What a session changed in its world, documents included."""
    world = snapshot.world
    after = {name: rows for name, rows in state.maybe_changed().items() if not snapshot.untouched(name, rows)}
    gone = set(world.tables) - set(state.tables)
    changes = [
        change
        for table in {*after, *gone}
        for change in compare(table, snapshot.index(table), index_of(table, after.get(table, ()), snapshot.schema))
    ]
    if state.documents != world.documents:
        changes += diff(_as_table(world.documents), _as_table(state.documents), _DOCUMENT_SCHEMA)
    return tuple(sorted(changes, key=lambda change: (change.table, change.key)))


_DOCUMENT_SCHEMA: Final = WorldSchema(primary_keys={DOCUMENTS: "name"}, subject_fields={}, personal_fields={})


def _as_table(documents: Mapping[str, str]) -> dict[str, list[Row]]:
    return {DOCUMENTS: [{"name": name, "text": text} for name, text in documents.items()]}


def fingerprint(tables: Mapping[str, Iterable[Mapping[str, Any]]], schema: WorldSchema) -> str:
    """A digest of a state that no order of rows, keys or unordered items can change."""
    return digest_json(
        {
            table: {
                key: content.decode("utf-8", "surrogatepass") for key, content in index_of(table, rows, schema).items()
            }
            for table, rows in tables.items()
        }
    )
