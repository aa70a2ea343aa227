"""Attribute values between OTLP and plain JSON, without loss.

Source: opentelemetry-proto ``common/v1/common.proto`` (AnyValue) and the OTLP/JSON mapping.

1. string, bool, int and double are themselves; an array is a list, a key-value list a dict, an empty value None.
2. bytes are ``{"bytesValue": base64}``; a double that JSON lacks is ``{"doubleValue": "NaN" | "Infinity" | ...}``.
3. A key-value list whose only key is one of these marks stands inside ``{"kvlistValue": ...}``, so 1 and 2 have an
   inverse.
4. A key that occurs twice keeps its last value and is noted. A value of a kind that traces do not have is None and
   noted.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Iterable
from typing import Any, Final

from ingestion.text import MAX_DEPTH, clean, text_of

MARKS: Final = frozenset({"bytesValue", "doubleValue", "kvlistValue"})
_ODD_DOUBLES: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_INT_TEXT: Final = re.compile(r"-?[0-9]{1,20}")
INT64: Final = (-(2**63), 2**63 - 1)
UINT64: Final = (0, 2**64 - 1)
UINT32: Final = (0, 2**32 - 1)


class ValueFault(ValueError):
    """A value that OTLP does not allow; the message says which and why."""


def integer(value: Any, bounds: tuple[int, int], where: str) -> int:
    """A 64-bit integer from its number or string form.

    Raises:
        ValueFault: for anything else, or out of bounds.

    """
    if (isinstance(value, str) and _INT_TEXT.fullmatch(value)) or (isinstance(value, float) and value.is_integer()):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueFault(f"{where}: not an integer")
    if not bounds[0] <= value <= bounds[1]:
        raise ValueFault(f"{where}: {value} is out of bounds")
    return value


def plain_double(value: float) -> Any:
    """A double as JSON."""
    if math.isnan(value):
        return {"doubleValue": "NaN"}
    if math.isinf(value):
        return {"doubleValue": "Infinity" if value > 0 else "-Infinity"}
    return value


def plain_bytes(data: bytes) -> dict[str, str]:
    """Bytes as JSON."""
    return {"bytesValue": base64.b64encode(data).decode()}


def plain_pairs(pairs: Iterable[tuple[str, Any]], notes: set[str]) -> dict[str, Any]:
    """Attributes as a dict; notes a key that occurs twice."""
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            notes.add("duplicate_keys")
        result[key] = value
    return result


def _list_of_pairs(pairs: dict[str, Any]) -> dict[str, Any]:
    return {"kvlistValue": pairs} if len(pairs) == 1 and MARKS & pairs.keys() else pairs


def _json_double(value: Any) -> Any:
    if isinstance(value, str) and value in _ODD_DOUBLES:
        return plain_double(_ODD_DOUBLES[value])
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueFault("doubleValue: not a number")
        return plain_double(float(value))
    except (ValueError, OverflowError) as error:
        raise ValueFault("doubleValue: not a number") from error


def _json_bytes(value: Any) -> dict[str, str]:
    if not isinstance(value, str):
        raise ValueFault("bytesValue: not base64")
    padded = value.replace("-", "+").replace("_", "/") + "=" * (-len(value) % 4)
    try:
        return plain_bytes(base64.b64decode(padded, validate=True))
    except (binascii.Error, ValueError) as error:
        raise ValueFault("bytesValue: not base64") from error


def _items(value: Any, where: str) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, dict) or not isinstance(value.get("values") or [], list):
        raise ValueFault(f"{where}: not a list of values")
    return value.get("values") or []


def from_json(value: Any, notes: set[str], depth: int = 0) -> Any:  # noqa: C901  (one branch for each kind of value)
    """The plain form of an AnyValue in OTLP/JSON.

    Raises:
        ValueFault: naming what is wrong.

    """
    if depth > MAX_DEPTH:
        raise ValueFault(f"nested deeper than {MAX_DEPTH} levels")
    if value is None or value == {}:
        return None
    if not isinstance(value, dict) or len(value) != 1:
        raise ValueFault("a value is an object of exactly one field")
    ((kind, inner),) = value.items()
    match kind:
        case "stringValue" if isinstance(inner, str):
            return clean(inner, notes)
        case "boolValue" if isinstance(inner, bool):
            return inner
        case "intValue":
            return integer(inner, INT64, "intValue")
        case "doubleValue":
            return _json_double(inner)
        case "bytesValue":
            return _json_bytes(inner)
        case "arrayValue":
            return [from_json(item, notes, depth + 1) for item in _items(inner, kind)]
        case "kvlistValue":
            return _list_of_pairs(attributes_from_json(_items(inner, kind), notes, depth + 1))
    raise ValueFault(f"{clean(str(kind), set())[:40]}: no such value, or of another type than it says")


def attributes_from_json(items: Any, notes: set[str], depth: int = 0) -> dict[str, Any]:
    """Attributes of OTLP/JSON.

    Raises:
        ValueFault: naming what is wrong.

    """
    if items is None:
        return {}
    if not isinstance(items, list):
        raise ValueFault("attributes are not a list")
    pairs = []
    for item in items:
        if not isinstance(item, dict) or not isinstance(item.get("key", ""), str):
            raise ValueFault("an attribute is not an object with a key")
        pairs.append((clean(item.get("key", ""), notes), from_json(item.get("value"), notes, depth)))
    return plain_pairs(pairs, notes)


def from_proto(value: Any, notes: set[str], depth: int = 0) -> Any:
    """The plain form of a protobuf AnyValue, of the official schema or of its twin.

    Raises:
        ValueFault: when it nests too deep.

    """
    if depth > MAX_DEPTH:
        raise ValueFault(f"nested deeper than {MAX_DEPTH} levels")
    kind = value.WhichOneof("value")
    match kind:
        case "string_value":
            return text_of(value.string_value, notes)
        case "bool_value" | "int_value":
            return getattr(value, kind)
        case "double_value":
            return plain_double(value.double_value)
        case "bytes_value":
            return plain_bytes(value.bytes_value)
        case "array_value":
            return [from_proto(item, notes, depth + 1) for item in value.array_value.values]
        case "kvlist_value":
            return _list_of_pairs(attributes_from_proto(value.kvlist_value.values, notes, depth + 1))
    if kind is not None:  # an index into a dictionary that only profiles have
        notes.add("unsupported_value")
    return None


def attributes_from_proto(items: Any, notes: set[str], depth: int = 0) -> dict[str, Any]:
    """Attributes of a protobuf message, of the official schema or of its twin.

    Raises:
        ValueFault: when they nest too deep.

    """
    result: dict[str, Any] = {}
    for item in items:
        key, value = item.key, item.value
        if not isinstance(key, str) or "\x00" in key:
            key = text_of(key, notes)
        if key in result:
            notes.add("duplicate_keys")
        kept = value.string_value  # most values are texts, and most texts are sound
        if not kept or not isinstance(kept, str) or "\x00" in kept:
            kept = from_proto(value, notes, depth)
        result[key] = kept
    return result


def to_json(value: Any) -> dict[str, Any]:
    """The AnyValue of a plain value: the inverse of ``from_json``."""
    if value is None:
        return {}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, list | tuple):
        return {"arrayValue": {"values": [to_json(item) for item in value]}}
    if len(value) == 1 and MARKS & value.keys():
        ((kind, inner),) = value.items()
        return {kind: {"values": attributes_to_json(inner)} if kind == "kvlistValue" else inner}
    return {"kvlistValue": {"values": attributes_to_json(value)}}


def attributes_to_json(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    """Attributes in OTLP/JSON."""
    return [{"key": key, "value": to_json(value)} for key, value in attributes.items()]
