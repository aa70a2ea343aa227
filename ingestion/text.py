"""Text that every store can hold: no NUL, no lone surrogate.

1. Each character that PostgreSQL or UTF-8 refuses becomes U+FFFD, visibly, and the fact is noted.
2. Valid pairs are joined before anything looks at them, so an emoji is never cut.
3. ``parse_json`` gives a value only where the text is exactly one JSON value (RFC 8259: no NaN, no infinity) of a
   depth that every reader can take. ``parse_strict`` also refuses an object that names a key twice (RFC 7493, 2.3):
   which of the two would count is nobody's guess where a right hangs on it.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

REPLACED: Final = "replaced_characters"
"""The flag of a span in which a character was replaced."""
MAX_DEPTH: Final = 64
"""Levels of nesting that are read; deeper values are refused where they stand."""
_REFUSED: Final = re.compile("[\x00\ud800-\udfff]")
_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")


class NotJson(ValueError):
    """The text is not exactly one JSON value."""


def clean(text: str, notes: set[str]) -> str:
    """``text`` with each refused character replaced; notes ``replaced_characters`` where one was."""
    if (text.isascii() and "\x00" not in text) or _REFUSED.search(text) is None:
        return text
    joined = _PAIR.sub(lambda pair: pair.group().encode("utf-16", "surrogatepass").decode("utf-16"), text)
    cleaned = _REFUSED.sub("\ufffd", joined)
    if cleaned != joined:
        notes.add(REPLACED)
    return cleaned


def text_of(data: str | bytes, notes: set[str]) -> str:
    """A string of a protobuf message, text or UTF-8; bytes that are not UTF-8 are replaced and noted."""
    if isinstance(data, str):
        text = data
    else:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            notes.add(REPLACED)
            return clean(data.decode("utf-8", "replace"), notes)
    return clean(text, notes) if "\x00" in text else text  # UTF-8 has no lone surrogates


def clean_value(value: Any, notes: set[str], depth: int = 0) -> Any:
    """A JSON value with every key and string cleaned.

    Raises:
        NotJson: when it nests deeper than ``MAX_DEPTH``.

    """
    if depth > MAX_DEPTH:
        raise NotJson(f"nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, str):
        return clean(value, notes)
    if isinstance(value, dict):
        return {clean(str(key), notes): clean_value(item, notes, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean_value(item, notes, depth + 1) for item in value]
    return value


def _refuse_constant(name: str) -> Any:
    raise NotJson(f"{name} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise NotJson(f"{text[:32]} is beyond a double")
    return value


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite)


def parse_json(text: str, notes: set[str]) -> Any:
    """The one JSON value that ``text`` is, cleaned.

    Raises:
        NotJson: when it is none, several, or not representable.

    """
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise NotJson(str(error)) from error
    return value if _is_plain(text) else clean_value(value, notes)


def parse_strict(text: str) -> Any:
    """The one JSON value that ``text`` is, in which no object names a key twice.

    Raises:
        NotJson: when it is none, several, or not representable, or names a key twice.

    """
    try:
        value = _STRICT.decode(text)
    except (ValueError, RecursionError) as error:
        raise NotJson(str(error)) from error
    return value if _is_plain(text) else clean_value(value, set())


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len({clean(name, set()) for name in found}) < len(pairs):
        raise NotJson("an object names a key twice")
    return found


_STRICT: Final = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_once)


def _is_plain(text: str) -> bool:
    """Whether nothing in a JSON text can need cleaning: no escape, no refused character, no deep nesting."""
    shallow = text.count("[") + text.count("{") <= MAX_DEPTH
    return shallow and "\\u" not in text and text.isascii() and "\x00" not in text
