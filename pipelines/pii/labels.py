"""A labelled text: one line of the native form, checked field by field.

{"id", "text" or "json", "labels": [...], "keep": [...], "language", "channel", "cluster", "types"}

A label has a ``type`` and a place: ``start`` and ``end`` in the text, or a ``pointer`` to a leaf (with ``value``: each
place in it where the value stands, else the whole leaf). A place of ``keep`` has no type. ``types`` says which types
the labeller looked for; without it, all; an empty list says that labels are not complete, so that no finding is judged
wrong. Places are brought into one form, in which findings are compared with them: of a
text that is JSON, places in the text as it is written; else places in leaves.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from governance.errors import RecordError
from governance.masking.evaluation import Mark
from pipelines.errors import LineError
from pipelines.pii.lines import Line
from pipelines.pii.pointers import resolve
from pipelines.pii.raw_places import RawPlaces
from pipelines.pii.scanning import FIELDS, text_of

LABELLED: Final = FIELDS | {"labels", "keep", "channel", "cluster", "types"}
_PLACE: Final = frozenset({"start", "end", "pointer", "value"})
PLAIN: Final = ""
"""The type of a place that has none."""


@dataclass(frozen=True)
class Labelled:
    """One labelled text."""

    number: int
    id: str | int
    value: Any
    labels: tuple[Mark, ...]
    keep: tuple[Mark, ...]
    pointers: tuple[str, ...]
    """Leaves that must stay as they are."""
    language: str
    channel: str
    cluster: str | None
    judged: frozenset[str] | None
    raw: RawPlaces | None

    def mark(self, pointer: str, start: int, end: int, kind: str) -> Mark:
        """A place in a leaf in the form in which places are compared."""
        inside = self.raw.raw(pointer, start, end) if self.raw else None
        return Mark(pointer, start, end, kind) if inside is None else Mark("", *inside, kind)


def labelled(line: Line) -> Labelled | LineError:
    """The labelled text of a line, or what is wrong with it."""
    text = text_of(line, LABELLED)
    if isinstance(text, LineError):
        return text
    try:
        return _labelled(line, text.id, text.value)
    except RecordError as error:
        return LineError(line.number, str(error))


def _labelled(line: Line, id_: str | int, value: Any) -> Labelled:
    given = line.value
    reader = _Places(value, whole="json" in given)
    keep = [one for place, item in _list(given, "keep") for one in reader.kept(item, place)]
    return Labelled(
        number=line.number,
        id=id_,
        value=value,
        labels=tuple(mark for place, item in _list(given, "labels") for mark in reader.marks(item, place, typed=True)),
        keep=tuple(one for one in keep if isinstance(one, Mark)),
        pointers=tuple(one for one in keep if isinstance(one, str)),
        language=_word(given, "language"),
        channel=_word(given, "channel"),
        cluster=_word(given, "cluster") or None,
        judged=_types(given),
        raw=reader.raw,
    )


class _Places:
    """Reads places of one value."""

    def __init__(self, value: Any, *, whole: bool) -> None:
        self._value, self._whole = value, whole
        self.raw = RawPlaces.of(value) if isinstance(value, str) and not whole else None

    def marks(self, item: dict[str, Any], where: str, *, typed: bool) -> list[Mark]:
        """The places of a label or of something that must stay."""
        if strange := sorted(set(item) - _PLACE - ({"type"} if typed else set())):
            raise RecordError(f"field '{where}.{strange[0]}' is unknown")
        kind = item.get("type") if typed else PLAIN
        if not isinstance(kind, str) or (typed and not kind):
            raise RecordError(f"field '{where}.type' must be a string")
        if "pointer" in item:
            return self._in_leaf(item, where, kind)
        return [self._in_text(item, where, kind)]

    def kept(self, item: dict[str, Any], where: str) -> list[Mark | str]:
        """What must stay: places, or the pointer of a whole leaf."""
        marks = self.marks(item, where, typed=False)
        whole = "pointer" in item and item.get("value") in {None, resolve(self._value, item["pointer"])}
        return [item["pointer"]] if whole or not marks else list(marks)

    def _in_text(self, item: dict[str, Any], where: str, kind: str) -> Mark:
        if self._whole:
            raise RecordError(f"field '{where}.pointer' is missing: a place in 'json' needs one")
        start, end = item.get("start"), item.get("end")
        size = len(self._value)
        if not isinstance(start, int) or not isinstance(end, int) or not 0 <= start < end <= size:
            raise RecordError(f"fields '{where}.start' and '{where}.end' must be a place in the {size} characters")
        if "value" in item and item["value"] != self._value[start:end]:
            raise RecordError(f"field '{where}.value' is not what stands there")
        return Mark("", start, end, kind)

    def _in_leaf(self, item: dict[str, Any], where: str, kind: str) -> list[Mark]:
        pointer = item["pointer"]
        if not isinstance(pointer, str):
            raise RecordError(f"field '{where}.pointer' must be a string")
        try:
            leaf = resolve(self._value, pointer)
        except RecordError as error:
            raise RecordError(f"field '{where}.pointer': {error}") from None
        value = item.get("value", leaf)
        places = _occurrences(leaf, value if isinstance(value, str) else json.dumps(value))
        if not places:
            raise RecordError(f"field '{where}.value' does not stand in its leaf")
        if kind != PLAIN and not leaf:
            raise RecordError(f"field '{where}.pointer' names an empty text")
        return [self._mark(pointer, start, end, kind) for start, end in places]

    def _mark(self, pointer: str, start: int, end: int, kind: str) -> Mark:
        inside = self.raw.raw(pointer, start, end) if self.raw else None
        return Mark(pointer, start, end, kind) if inside is None else Mark("", *inside, kind)


def _occurrences(leaf: str, value: str) -> list[tuple[int, int]]:
    if leaf == value:
        return [(0, len(leaf))]
    starts, at = [], leaf.find(value) if value else -1
    while at >= 0:
        starts.append(at)
        at = leaf.find(value, at + len(value))
    return [(start, start + len(value)) for start in starts]


def _list(given: dict[str, Any], name: str) -> list[tuple[str, dict[str, Any]]]:
    items = given.get(name, [])
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise RecordError(f"field '{name}' must be a list of objects")
    return [(f"{name}.{place}", item) for place, item in enumerate(items)]


def _word(given: dict[str, Any], name: str) -> str:
    value = given.get(name, "")
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise RecordError(f"field '{name}' must be a string")
    return str(value)


def _types(given: dict[str, Any]) -> frozenset[str] | None:
    if "types" not in given:
        return None
    types = given["types"]
    if not isinstance(types, list) or not all(isinstance(kind, str) for kind in types):
        raise RecordError("field 'types' must be a list of strings")
    return frozenset(types)
