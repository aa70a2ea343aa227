"""The state of one session: tables copied on first touch, and the order-free difference between two states.

Theory. A snapshot is shared by all sessions and never written. A session copies a table when it first touches it, so a
run that reads one table pays for one, and no session can reach another's rows. Two states differ in the rows whose
primary keys differ or whose contents differ; neither the order of rows nor that of keys inside a row counts, nor that
of items in a field which the schema calls unordered. A table without a primary key is a multiset of rows. So the
difference after the same calls is the same, in every replay.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from datetime import datetime
from typing import Any, Final

from governance.ports.tools import Tables, WorldState
from governance.records.base import canonical_json, digest_json
from governance.records.world import StateChange, World, WorldSchema

Row = dict[str, Any]
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

    def __init__(self, source: Mapping[str, Sequence[Row]]) -> None:
        """Names are known at once, rows on demand."""
        super().__init__((name, []) for name in source)
        self._source = dict(source)

    def touched(self) -> tuple[str, ...]:
        """Names of the tables that may differ from the snapshot and are still here."""
        return tuple(name for name in self if name not in self._source)

    def _load(self, name: str) -> None:
        rows = self._source.pop(name, None)
        if rows is not None:
            super().__setitem__(name, [copy_json(row) for row in rows])

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


class SessionState(WorldState):
    """A state restored copy-on-write: the snapshot stays as it is, whatever a call does."""

    def __init__(self, tables: Mapping[str, Sequence[Row]], documents: Mapping[str, str], at: datetime) -> None:
        """Rows are copied when touched, documents at once (texts cannot change in place)."""
        self.tables: Tables = LazyTables(tables)
        self.documents: dict[str, str] = dict(documents)
        self.at = at

    @classmethod
    def of(cls, world: World) -> SessionState:
        """The state at the start of a run."""
        return cls(world.tables, world.documents, world.at)

    def fork(self) -> SessionState:
        """A second state that starts where this one is."""
        return SessionState(self.tables.copy(), self.documents, self.at)

    def maybe_changed(self) -> Tables:
        """The tables that were touched."""
        if isinstance(self.tables, LazyTables):
            return {name: self.tables[name] for name in self.tables.touched()}
        return self.tables


def canonical_row(table: str, row: Mapping[str, Any], schema: WorldSchema) -> Row:
    """A copy in which the lists of unordered fields are sorted by content."""
    copied: Row = copy_json(dict(row))
    for field, value in copied.items():
        if isinstance(value, list) and f"{table}.{field}" in schema.unordered_fields:
            copied[field] = sorted(value, key=canonical_json)
    return copied


def _indexed(table: str, rows: Iterable[Mapping[str, Any]], schema: WorldSchema) -> dict[str, Row]:
    """Rows by key. A second row of a key, in order of content, is ``key#2``; a row without one is its digest."""
    field = schema.primary_keys.get(table)
    keyed = []
    for row in rows:
        clean = canonical_row(table, row, schema)
        key = str(clean[field]) if field is not None and field in clean else digest_json(clean)[:16]
        keyed.append((key, canonical_json(clean), clean))
    found: dict[str, Row] = {}
    seen: dict[str, int] = {}
    for key, _, clean in sorted(keyed, key=lambda item: item[:2]):
        seen[key] = seen.get(key, 0) + 1
        found[key if seen[key] == 1 else f"{key}#{seen[key]}"] = clean
    return found


def diff(
    before: Mapping[str, Iterable[Mapping[str, Any]]],
    after: Mapping[str, Iterable[Mapping[str, Any]]],
    schema: WorldSchema,
) -> tuple[StateChange, ...]:
    """What differs in the tables that either side names, sorted by table and key."""
    changes = []
    for table in sorted(set(before) | set(after)):
        old = _indexed(table, before.get(table, ()), schema)
        new = _indexed(table, after.get(table, ()), schema)
        changes += [
            StateChange(table=table, key=key, before=old.get(key), after=new.get(key))
            for key in sorted(set(old) | set(new))
            if canonical_json(old.get(key)) != canonical_json(new.get(key))
        ]
    return tuple(changes)


def changes_of(world: World, state: WorldState, schema: WorldSchema) -> tuple[StateChange, ...]:
    """What a session changed in its world, documents included."""
    after = state.maybe_changed() if isinstance(state, SessionState) else state.tables
    gone = set(world.tables) - set(state.tables)
    before = {name: rows for name, rows in world.tables.items() if name in after or name in gone}
    changed = diff(before, after, schema)
    if state.documents == world.documents:
        return changed
    texts = diff(_as_table(world.documents), _as_table(state.documents), _DOCUMENT_SCHEMA)
    return tuple(sorted((*changed, *texts), key=lambda change: (change.table, change.key)))


_DOCUMENT_SCHEMA: Final = WorldSchema(primary_keys={DOCUMENTS: "name"}, subject_fields={}, personal_fields={})


def _as_table(documents: Mapping[str, str]) -> dict[str, list[Row]]:
    return {DOCUMENTS: [{"name": name, "text": text} for name, text in documents.items()]}


def fingerprint(tables: Mapping[str, Iterable[Mapping[str, Any]]], schema: WorldSchema) -> str:
    """A digest of a state that no order of rows, keys or unordered items can change."""
    return digest_json({table: _indexed(table, rows, schema) for table, rows in tables.items()})
