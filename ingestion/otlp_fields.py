"""The fields that both OTLP readers share: ids, times, what intake notices.

1. An id is 16 or 8 bytes, not all zero. In JSON it is hex; the base64 of the plain protobuf mapping is recognised by
   its length and padding, decoded and noted, so one trace never becomes two.
2. A parent that is empty or all zero is no parent.
3. Times are exact to the nanosecond. A span that ends before it starts, or starts well after it was received, keeps
   its times and is noted as ``clock_skew``.
4. Keys that only the server may set (tenant, organisation, consent, subject, provenance) are kept under ``client.``:
   a client may claim, and nobody believes it.
"""

from __future__ import annotations

import base64
import binascii
import re
from functools import lru_cache
from typing import Any, Final

from pydantic import ValidationError

from governance.records.base import Record
from governance.records.span import Span
from ingestion.otlp_values import ValueFault

TRACE_BYTES: Final = 16
SPAN_BYTES: Final = 8
SKEW_NANO: Final = 300 * 1_000_000_000
"""A start that lies this far after receipt is a wrong clock and not a slow network."""
_HEX: Final = re.compile(r"[0-9a-fA-F]*")
_SERVER_OWNED: Final = re.compile(
    r"(.*\.)?(tenant([._]id)?|organi[sz]ation([._]id)?|consent|provenance)(\..*)?|tidemill\.(tenant|subject|verdict|right)s?\b.*"
)


class SpanFault(Record):
    """A received span that is refused on its own, with the reason."""

    reason: str
    """A stable code: ``trace_id``, ``span_id``, ``too_old``, ``malformed``."""
    detail: str


class Refused(Exception):
    """Ends the reading of one span."""

    def __init__(self, reason: str, detail: str) -> None:
        """The fault to report."""
        super().__init__(detail)
        self.fault = SpanFault(reason=reason, detail=detail)


def id_bytes(value: bytes, length: int, where: str) -> str:
    """The hex of a binary id.

    Raises:
        Refused: when it is short, long or all zero.

    """
    if len(value) != length:
        raise Refused(where, f"{where} has {len(value)} bytes instead of {length}")
    if not any(value):
        raise Refused(where, f"{where} is all zero")
    return value.hex()


def id_text(value: Any, length: int, where: str, notes: set[str]) -> str:
    """The hex of an id in OTLP/JSON.

    Raises:
        Refused: when it is neither hex nor base64 of the right length, or all zero.

    """
    if not isinstance(value, str) or not value:
        raise Refused(where, f"{where} is missing")
    if len(value) == 2 * length and _HEX.fullmatch(value):
        return id_bytes(bytes.fromhex(value), length, where)
    if len(value) == 4 * ((length + 2) // 3):
        try:
            decoded = base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            decoded = b""
        if len(decoded) == length:
            notes.add("base64_ids")
            return id_bytes(decoded, length, where)
    raise Refused(where, f"{where} is not {2 * length} hex digits")


def no_id(value: Any) -> bool:
    """Whether an id in OTLP/JSON says that there is none: left out, empty, or all zero."""
    return value is None or (isinstance(value, str) and not value.strip("0"))


def claims_apart(attributes: dict[str, Any], notes: set[str]) -> dict[str, Any]:
    """The attributes with server-owned keys under ``client.``."""
    if not _claims_any(frozenset(attributes)):
        return attributes
    notes.add("client_claims")
    return {f"client.{key}" if _is_claim(key) else key: value for key, value in attributes.items()}


@lru_cache(maxsize=1024)
def _claims_any(keys: frozenset[str]) -> bool:
    """Instrumentations have few sets of keys."""
    return any(map(_is_claim, keys))


@lru_cache(maxsize=4096)
def _is_claim(key: str) -> bool:
    return _SERVER_OWNED.fullmatch(key) is not None


def build(
    fields: dict[str, Any], notes: set[str], received_unix_nano: int, max_age_nano: int | None, *, typed: bool = False
) -> Span:
    """The span of these fields; ``typed`` when their types are proven, by the schema that they were read with.

    Raises:
        Refused: when it is older than intake takes, or not a span after all.

    """
    start, end = fields["start_unix_nano"], fields["end_unix_nano"]
    if max_age_nano is not None and received_unix_nano - max(start, end) > max_age_nano:
        raise Refused("too_old", "the span ended before the intake window")
    if (end and end < start) or start > received_unix_nano + SKEW_NANO:
        notes.add("clock_skew")
    if not start:
        notes.add("missing_start")
    for name in ("attributes", "resource"):
        fields[name] = claims_apart(fields[name], notes)
    flags = tuple(sorted(notes)) if notes else ()
    if typed:
        fields["flags"] = flags
        return Span.proven_whole(fields)
    try:
        return Span(**fields, flags=flags)
    except (ValidationError, ValueFault) as error:
        raise Refused("malformed", f"not a span: {str(error)[:200]}") from error
