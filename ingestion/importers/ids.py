"""Ids of files as OTLP ids, by one rule that gives the same answer every time.

1. Hex of the right length is itself, with or without ``0x``; an integer is its hex; the base64 of the right number of
   bytes (padded, as protobuf's JSON writes it) is its bytes.
2. A UUID is a trace id: its 32 hex digits.
3. Anything else is the first 16 (trace) or 8 (span) bytes of SHA-256 over the form's name, a NUL and the original id.
4. An empty or all-zero id is none.

So a file that is imported twice gives the spans that are there already.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from typing import Any, Final

from ingestion.otlp_fields import SPAN_BYTES, TRACE_BYTES

_HEX: Final = re.compile(r"(0[xX])?([0-9a-fA-F]+)")
_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def trace_id(original: Any, form: str) -> str | None:
    """The trace id of an original id; None where there is none."""
    return _id(original, form, TRACE_BYTES)


def span_id(original: Any, form: str) -> str | None:
    """The span id of an original id; None where there is none."""
    return _id(original, form, SPAN_BYTES)


def as_text(original: Any) -> str:
    """The id as the file has it."""
    if isinstance(original, str):
        return original
    return str(original)[:80] if isinstance(original, int) and not isinstance(original, bool) else ""


def _id(original: Any, form: str, length: int) -> str | None:
    if isinstance(original, int) and not isinstance(original, bool) and 0 < original < 2 ** (8 * length):
        return f"{original:0{2 * length}x}"
    name = as_text(original).strip()
    hexed = _HEX.fullmatch(name)
    if not name or (hexed and not hexed[2].strip("0")):
        return None
    if hexed and len(hexed[2]) == 2 * length:
        return hexed[2].lower()
    if length == TRACE_BYTES and _UUID.fullmatch(name) and name.strip("0-"):
        return name.replace("-", "").lower()
    return _base64(name, length) or derived(form, name, length)


def _base64(name: str, length: int) -> str | None:
    if len(name) != 4 * ((length + 2) // 3) or not name.endswith("="):
        return None
    try:
        decoded = base64.b64decode(name, validate=True)
    except (binascii.Error, ValueError):
        return None
    return decoded.hex() if len(decoded) == length and any(decoded) else None


def derived(form: str, name: str, length: int) -> str:
    """The id that stands for a name that is no id."""
    return hashlib.sha256(f"{form}\0{name}".encode("utf-8", "surrogatepass")).digest()[:length].hex()
