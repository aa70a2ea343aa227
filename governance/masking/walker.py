"""Walks a JSON value: takes its texts out, and puts the masked ones back where they were.

Theory. A value is turned into the same value with other texts: no element is added, dropped or moved, a list of three
stays a list of three, and a number stays a number. A string that holds JSON (tool arguments do, and strings inside
them do again) is parsed first, so that escapes are characters before anything looks at them and field names count; it
is written back compact or spaced as it came, numbers digit for digit, and only when something in it changed. Bytes
(``{"bytesValue": base64}``) are opened when they are text. Field names are kept, except one that is itself a value
(``field_names``), or that the caller names.

A leaf's pointer (RFC 6901) leads to it in the value that the walk makes: through JSON in strings and through bytes, and
by the masked names of fields. The names of an object's fields have its pointer and ``/~k``, which is no pointer of a
value. So walking the masked value meets the same leaves under the same pointers.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from governance.errors import MaskingError
from governance.masking import field_names, fields
from governance.masking.detection import TextKind
from governance.masking.field_names import may_be_value
from governance.masking.mapped import meant
from governance.masking.reading import DEEPEST, digits

MOST_LEVELS: Final = 100
"""Objects and lists inside each other, through JSON strings; a value with more of them is not masked."""
KEY: Final = "~k"
"""Stands in the pointer of a field's name."""


class Leaf(NamedTuple):
    """One text of a value, with what its place says about it."""

    pointer: str
    text: str
    kind: TextKind
    forced: str | None
    """The entity type that the field's name demands for the whole text."""
    number: bool = False
    """Whether it is a number: what takes its place is one too (``digits``)."""

    @property
    def is_name(self) -> bool:
        """Whether it is the name of a field."""
        return self.kind is TextKind.NAME


class _Number(str):
    """A number as it was written, so that it is written back digit for digit."""

    __slots__ = ()


_UNREADABLE: Final = re.compile(r"(?<!\\)\\u(?!00[0-7]|[dD][89a-fA-F])[0-9a-fA-F]{4}|\\u[dD][89abAB]..\\u[dD][c-fC-F]")
"""A character beyond ASCII that is escaped: a text with one is written so that people can read it."""
Replace = Callable[[Leaf], str]
Enters = Callable[[str, Any], bool]
"""Whether the walk goes into the member of an object at a pointer."""


def is_whole(number: str) -> bool:
    """Whether a number is written as an integer."""
    return number.removeprefix("-").isdecimal()


def whole_digits(number: str) -> str:
    """The digits before the point of a number, without its sign; empty for what is no finite number."""
    if is_whole(number):
        return number.removeprefix("-")
    value = float(number)
    return str(abs(int(value))) if math.isfinite(value) else ""


def has_no_fraction(number: str) -> bool:
    """Whether it is an integer, also where it is written with a point or an exponent."""
    return is_whole(number) or float(number).is_integer()


def leaves(value: Any, enters: Enters | None = None) -> Iterator[Leaf]:
    """Every text of the value, in order; numbers only where a field's name makes them personal."""
    found: list[Leaf] = []

    def note(leaf: Leaf) -> str:
        found.append(leaf)
        return leaf.text

    rebuild(value, note, enters=enters)
    yield from found


def _no(number: str) -> bool:  # noqa: ARG001 - no number is offered that its field's name does not make personal
    return False


def rebuild(
    value: Any,
    replace: Replace,
    names: Callable[[str], bool] = may_be_value,
    enters: Enters | None = None,
    numbers: Callable[[str], bool] = _no,
) -> Any:
    """The value with every text replaced, and the names of fields that ``names`` tells.

    Members of objects that ``enters`` denies stay as they are: a caller who knows where to look saves the rest.
    ``numbers`` tells which numbers are offered by their digits, whatever their field is called.

    Raises:
        MaskingError: when it has more than ``MOST_LEVELS`` levels.

    """
    return _walk(value, replace, _Place(names=names, enters=enters, numbers=numbers))


class _Place(NamedTuple):
    """Where the walk stands."""

    pointer: str = ""
    path: tuple[str, ...] = ()
    siblings: frozenset[str] = frozenset()
    depth: int = 0
    """How many JSON strings it went through."""
    level: int = 0
    """How many objects and lists it stands in."""
    names: Callable[[str], bool] = may_be_value
    enters: Enters | None = None
    numbers: Callable[[str], bool] = _no

    def leaf(self, text: str, *, number: bool = False) -> Leaf:
        """The text that stands here."""
        forced = fields.forced_type(self.path, self.siblings, meant(text))
        kind = TextKind.CODE if number else fields.text_kind(self.path, text)
        return Leaf(self.pointer, text, kind, forced, number)


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
    if isinstance(value, int | float) and not isinstance(value, bool):
        made = _number(_Number(value), replace, place)
        return value if made == str(value) else type(value)(made)
    return value


def _step(place: _Place, token: str) -> _Place:
    if place.level >= MOST_LEVELS:
        raise MaskingError(f"a value has more than {MOST_LEVELS} levels; nothing was masked")
    return place._replace(pointer=f"{place.pointer}/{token}", level=place.level + 1)


def _member(place: _Place, token: str, parts: tuple[str, ...], siblings: frozenset[str]) -> _Place:
    """Where a member of an object stands: one step, under the parts of its name and beside the other members."""
    step = _step(place, token)
    path = place.path + parts
    return _Place(step.pointer, path, siblings, place.depth, step.level, place.names, place.enters, place.numbers)


def _object(value: dict[str, Any], replace: Replace, place: _Place) -> Any:
    if set(value) == {"bytesValue"} and isinstance(value["bytesValue"], str):
        return {"bytesValue": _bytes(value["bytesValue"], replace, _step(place, "bytesValue"))}
    folded = {key: fields.fold(str(key)) for key in value}
    siblings: dict[tuple[str, ...], set[str]] = {}
    for parts in folded.values():
        siblings.setdefault(parts[:-1], set()).update(parts[-1:])
    beside = {above: frozenset(names) for above, names in siblings.items()}
    told = field_names.type_below(place.path)
    labelled = _label(value, folded)
    made: dict[str, Any] = {}
    for key, item in value.items():
        beside_it, parts = beside[folded[key][:-1]], fields.paired(folded[key], labelled)
        name = _name(key, replace, place, told) if isinstance(key, str) else key
        while name in made:
            name += "_"  # two names with one surrogate: a member more, never one less
        token = _token(name)
        if place.enters is not None and not place.enters(f"{place.pointer}/{token}", item):
            made[name] = item
            continue
        made[name] = _walk(item, replace, _member(place, token, parts, beside_it))
    return made


def _label(value: dict[str, Any], folded: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The name that an object gives to a value in it; the first that tells a type."""
    given = (fields.label(item) for key, item in value.items() if fields.holds_label(folded[key]))
    return next((parts for parts in given if parts), ())


def _token(name: Any) -> str:
    return str(name).replace("~", "~0").replace("/", "~1")


def _name(key: str, replace: Replace, place: _Place, told: str | None) -> str:
    forced = field_names.forced_type(told, key) if told else None
    if forced is None and not place.names(key):
        return key
    return replace(Leaf(f"{place.pointer}/{KEY}", key, TextKind.NAME, forced))


def _text(value: str, replace: Replace, place: _Place) -> str:
    inner = _parse(value) if place.depth < DEEPEST else None
    if inner is None:
        return replace(place.leaf(value)) if value else value
    made = _walk(inner[0], replace, place._replace(depth=place.depth + 1))
    if made == inner[0] and not _UNREADABLE.search(value):
        return value
    return _write(made, spaced=re.search(r'[":\d\]}]\s*[,:]\s', value) is not None)


def _number(value: _Number, replace: Replace, place: _Place) -> _Number:
    whole = whole_digits(value)
    leaf = place.leaf(whole, number=True)
    if not whole or (leaf.forced is None and not (has_no_fraction(value) and place.numbers(whole))):
        return value
    made = replace(leaf)
    if made == leaf.text:
        return value
    return _Number(digits(made) if is_whole(value) else f"{digits(made)}.0")


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
    except RecursionError as error:
        raise MaskingError(f"JSON in a text has more than {MOST_LEVELS} levels; nothing was masked") from error
    except ValueError:
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
