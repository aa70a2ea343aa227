"""JSON pointers as masking writes them: RFC 6901, going on through JSON inside strings."""

from __future__ import annotations

import json
from typing import Any

from governance.errors import RecordError


def resolve(value: Any, pointer: str) -> str:
    """The text of the leaf that a pointer names; a number or a literal as JSON writes it.

    Raises:
        RecordError: when there is no such leaf.

    """
    if pointer and not pointer.startswith("/"):
        raise RecordError("a JSON pointer begins with '/'")
    for token in pointer.split("/")[1:]:
        value = _step(value, token.replace("~1", "/").replace("~0", "~"))
    if isinstance(value, dict | list):
        raise RecordError("the pointer names no leaf")
    return value if isinstance(value, str) else json.dumps(value)


class _Digits(str):
    """A number as it was written."""

    __slots__ = ()


def _step(value: Any, token: str) -> Any:
    if isinstance(value, str) and not isinstance(value, _Digits):
        try:
            value = json.loads(value, parse_int=_Digits, parse_float=_Digits)
        except (ValueError, RecursionError):
            raise RecordError("the pointer goes on where there is no JSON") from None
    try:
        return value[int(token)] if isinstance(value, list) else value[token]
    except (KeyError, IndexError, TypeError, ValueError):
        raise RecordError("the pointer names nothing") from None
