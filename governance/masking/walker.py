"""Walks a JSON value: takes its texts out, and puts the masked ones back where they were.

Theory. A value is turned into the same value with other texts: no element is added, dropped or moved, a list of three
stays a list of three, and a number stays a number. A string that holds JSON (tool arguments do, and strings inside
them do again) is parsed first, so that escapes are characters before anything looks at them and field names count; it
is written back compact or spaced as it came, numbers digit for digit, and only when something in it changed. Bytes
(``{"bytesValue": base64}``) are opened when they are text. Field names are kept, except one that is itself an address
at some mail host.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from governance.masking import fields
from governance.masking.detection import TextKind

DEEPEST: Final = 8
"""JSON strings inside JSON strings; what lies deeper is taken as text."""
_NUMBER_PLACES: Final = frozenset({"PHONE_NUMBER", "US_SSN", "CREDIT_CARD", "CARD_LAST4", "LOCATION", "KR_RRN"})


@dataclass(frozen=True)
class Leaf:
    """One text of a value, with what its place says about it."""

    pointer: str
    text: str
    kind: TextKind
    forced: str | None
    """The entity type that the field's name demands for the whole text."""


class _Number(str):
    """A number as it was written, so that it is written back digit for digit."""

    __slots__ = ()


Replace = Callable[[Leaf], str]


def leaves(value: Any) -> Iterator[Leaf]:
    """Every text of the value, in order; numbers only where a field's name makes them personal."""
    found: list[Leaf] = []

    def note(leaf: Leaf) -> str:
        found.append(leaf)
        return leaf.text

    rebuild(value, note)
    yield from found


def rebuild(value: Any, replace: Replace) -> Any:
    """The value with every text replaced."""
    return _walk(value, replace, _Place())


@dataclass(frozen=True)
class _Place:
    """Where the walk stands."""

    pointer: str = ""
    path: tuple[str, ...] = ()
    siblings: frozenset[str] = frozenset()
    depth: int = 0
    """How many JSON strings it went through."""

    def leaf(self, text: str, kind: TextKind | None = None) -> Leaf:
        """The text that stands here."""
        forced = fields.forced_type(self.path, self.siblings)
        return Leaf(self.pointer, text, kind or fields.text_kind(self.path, text), forced)


def _walk(value: Any, replace: Replace, place: _Place) -> Any:
    if isinstance(value, _Number):
        return _number(value, replace, place)
    if isinstance(value, str):
        return _text(value, replace, place)
    if isinstance(value, dict):
        return _object(value, replace, place)
    if isinstance(value, list | tuple):
        items = [_walk(item, replace, _step(place, str(n))) for n, item in enumerate(value)]
        return tuple(items) if isinstance(value, tuple) else items
    if isinstance(value, int) and not isinstance(value, bool):
        return int(_number(_Number(value), replace, place))
    return value


def _step(place: _Place, token: str) -> _Place:
    return dataclasses.replace(place, pointer=f"{place.pointer}/{token}")


def _object(value: dict[str, Any], replace: Replace, place: _Place) -> Any:
    if set(value) == {"bytesValue"} and isinstance(value["bytesValue"], str):
        return {"bytesValue": _bytes(value["bytesValue"], replace, _step(place, "bytesValue"))}
    names = frozenset(part for key in value for part in fields.fold(str(key))[-1:])
    made = {}
    for key, item in value.items():
        token = str(key).replace("~", "~0").replace("/", "~1")
        inside = dataclasses.replace(_step(place, token), path=place.path + fields.fold(str(key)), siblings=names)
        name = replace(Leaf(place.pointer, key, TextKind.CODE, None)) if isinstance(key, str) and "@" in key else key
        made[name] = _walk(item, replace, inside)
    return made


def _text(value: str, replace: Replace, place: _Place) -> str:
    inner = _parse(value) if place.depth < DEEPEST else None
    if inner is None:
        return replace(place.leaf(value)) if value else value
    made = _walk(inner[0], replace, dataclasses.replace(place, depth=place.depth + 1))
    if made == inner[0] and "\\u" not in value:
        return value
    return _write(made, spaced=re.search(r'[":\d\]}]\s*[,:]\s', value) is not None)


def _number(value: _Number, replace: Replace, place: _Place) -> _Number:
    leaf = place.leaf(str(value), TextKind.CODE)
    if leaf.forced not in _NUMBER_PLACES or not value.isdecimal():
        return value
    made = re.sub(r"\D", "", replace(leaf))
    return _Number(made.lstrip("0") or "0")


def _bytes(value: str, replace: Replace, place: _Place) -> str:
    try:
        text = base64.b64decode(value, validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return value
    made = _text(text, replace, place)
    return value if made == text else base64.b64encode(made.encode("utf-8", "surrogatepass")).decode()


def _parse(text: str) -> tuple[Any] | None:
    """The JSON container (or quoted string) that ``text`` is, or None."""
    if text.lstrip()[:1] not in {"{", "[", '"'} or len(text) < 2:
        return None
    try:
        return (
            json.loads(text, parse_int=_Number, parse_float=_Number, parse_constant=_refuse, object_pairs_hook=_once),
        )
    except (ValueError, RecursionError):
        return None


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a field occurs twice: one of them would be lost")
    return made


def _write(value: Any, *, spaced: bool) -> str:
    if isinstance(value, _Number):
        return str(value)
    comma, colon = (", ", ": ") if spaced else (",", ":")
    if isinstance(value, dict):
        items = (f"{_write(key, spaced=spaced)}{colon}{_write(item, spaced=spaced)}" for key, item in value.items())
        return "{" + comma.join(items) + "}"
    if isinstance(value, list):
        return "[" + comma.join(_write(item, spaced=spaced) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)
