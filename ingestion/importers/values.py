"""Reading values that nobody vouches for, and making attributes of them.

``obj``, ``seq`` and ``text`` never fail: a value of another type is an empty one. Every attribute that ``attributes``
gives is one that OTLP can carry: texts without NUL and lone surrogates, integers of 64 bits, lists of plain values;
what is structured stands as the text of its JSON, which every dialect reads.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, TypeGuard

from ingestion.otlp_values import INT64, plain_double
from ingestion.text import NotJson, clean, parse_json

_LONGEST_KEY: Final = 512


def obj(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def seq(value: Any) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def text(value: Any) -> str:
    """The value if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def first(fields: dict[str, Any], *keys: str) -> Any:
    """The value of the first key that has one."""
    return next((fields[key] for key in keys if fields.get(key) is not None), None)


def is_objects(value: Any, most: int = 20) -> TypeGuard[list[dict[str, Any]]]:
    """Whether a value is a list of objects that is not empty, judged by its head."""
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value[:most])


def head(document: Any, most: int = 20) -> dict[str, Any]:
    """What a document is judged by: its first object, if it is a list, else itself; empty where that is no object."""
    if isinstance(document, list):
        return next((item for item in document[:most] if isinstance(item, dict)), {})
    return obj(document)


def count(value: Any) -> int | None:
    """A number of tokens, from a number or its digits; None for anything else."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 16:
        return int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53
    return value if good else None


def json_text(value: Any) -> str:
    """A text as it is; another value as the text of its JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def parsed(value: Any) -> Any:
    """The object or list that a text holds, else the value itself."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "[", '"'):
        try:
            return parse_json(value, set())
        except NotJson:
            return value
    return value


def attribute(value: Any, notes: set[str]) -> Any:
    """The value as an attribute."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if INT64[0] <= value <= INT64[1] else str(value)[:64]
    if isinstance(value, float):
        return plain_double(value)
    if isinstance(value, list) and all(isinstance(item, str | bool | int | float) for item in value):
        return [attribute(item, notes) for item in value]
    return clean(json_text(value), notes)


def attributes(fields: dict[str, Any], notes: set[str]) -> dict[str, Any]:
    """Attributes of plain fields; those without a value are left out."""
    pairs = ((clean(str(key)[:_LONGEST_KEY], notes), value) for key, value in fields.items())
    return {key: attribute(value, notes) for key, value in pairs if value is not None}


def flat(fields: dict[str, Any], roots: frozenset[str]) -> dict[str, Any]:
    """Nested attributes under their dotted names, where the first name is one of ``roots``; others stay."""
    result: dict[str, Any] = {}
    for key, value in fields.items():
        if str(key) in roots and isinstance(value, dict | list):
            result.update(_walk(str(key), value))
        else:
            result[str(key)] = value
    return result


def _walk(prefix: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _walk(f"{prefix}.{key}", inner)
    elif is_objects(value, len(value) if isinstance(value, list) else 0):
        for position, inner in enumerate(value):
            yield from _walk(f"{prefix}.{position}", inner)
    else:
        yield prefix, value
