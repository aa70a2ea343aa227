"""OTLP bodies into spans: the one pure function that the receiver and the drain both call.

1. ``decode`` depends on nothing but its arguments, so what the receiver told the sender and what the ledger counts are
   the same numbers.
2. A malformed span is refused on its own and never costs its neighbours.
3. Whatever the bytes are, the only exception is a ``DecodeError``; the same bytes fail again.
4. Unpacking is bounded: a body that would grow beyond the bound is refused before it has.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, Final

from governance.records.span import Span
from ingestion import otlp_json, otlp_protobuf
from ingestion.errors import BodyTooLarge, DecodeError
from ingestion.otlp_fields import SpanFault

PROTOBUF: Final = "application/x-protobuf"
JSON: Final = "application/json"
_GZIP_WINDOW: Final = 16 + zlib.MAX_WBITS
_STEP: Final = 2**18
"""Bytes that are unpacked at a time: few enough to stop early, enough that copies of what is left cost little."""
MAX_MEMBERS: Final = 64
MAX_SPANS: Final = 50_000
"""Of one request; exporters send hundreds. What decodes costs memory, whether or not it is a span."""


def decode(
    body: bytes, content_type: str, *, received_unix_nano: int, max_age_nano: int | None = None
) -> list[Span | SpanFault]:
    """The spans of an export request, in order, each as itself or as its fault.

    Raises:
        DecodeError: when the body is not what its content type says.
        BodyTooLarge: when it has more than ``MAX_SPANS`` entries.
        WrongSignal: when it is an export of another signal.

    """
    match content_type:
        case "application/x-protobuf":
            return otlp_protobuf.read(body, received_unix_nano, max_age_nano, MAX_SPANS)
        case "application/json":
            return otlp_json.read(body, received_unix_nano, max_age_nano, MAX_SPANS)
    raise DecodeError(f"no decoder for {content_type}")


def unpack_gzip(data: bytes, limit: int, claim: Callable[[int], None] = lambda _: None) -> bytes:
    """The content of a gzip stream of one or more members.

    It is unpacked in steps, and ``claim`` is told the size of each before the next one; what ``claim`` raises ends it.

    Raises:
        BodyTooLarge: as soon as it grows beyond ``limit`` bytes.
        DecodeError: when it is not gzip, ends early, or has more members than any exporter writes: each member costs
            a copy of what follows it.

    """
    parts: list[bytes] = []
    members, size = 0, 0
    while data:
        if members == MAX_MEMBERS:
            raise DecodeError(f"the gzip stream has more than {MAX_MEMBERS} members")
        members += 1
        member = zlib.decompressobj(_GZIP_WINDOW)
        while not member.eof:
            part = _step(member, data, min(_STEP, limit - size + 1))
            size += len(part)
            if size > limit:
                raise BodyTooLarge(f"the body unpacks to more than {limit} bytes")
            claim(len(part))
            parts.append(part)
            data = member.unconsumed_tail
        data = member.unused_data.lstrip(b"\x00")
    return b"".join(parts)


def _step(member: Any, data: bytes, most: int) -> bytes:
    try:
        part: bytes = member.decompress(data, most)
    except zlib.error as error:
        raise DecodeError(f"not gzip: {error}") from error
    if not part and not member.eof and not member.unconsumed_tail:
        raise DecodeError("the gzip stream ends early")
    return part
