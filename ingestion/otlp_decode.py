"""OTLP bodies into spans: the one pure function that the doors and the drain both call.

1. ``decode`` depends on nothing but its arguments, so what the sender was told and what the ledger counts are the same
   numbers.
2. A malformed entry is refused on its own and never costs its neighbours.
3. Whatever the bytes are, the only exception is a ``DecodeError``; the same bytes fail again.
4. A log record that is an event of a span is a span of its own here (``ingestion.log_records``), so that logs pass
   everything that traces pass.
"""

from __future__ import annotations

from typing import Final

from governance.records.span import Span
from ingestion import otlp_json, otlp_protobuf
from ingestion.encodings import Claim, unpack
from ingestion.errors import DecodeError
from ingestion.otlp_fields import SpanFault
from ingestion.telemetry import Telemetry

PROTOBUF: Final = "application/x-protobuf"
JSON: Final = "application/json"
MAX_SPANS: Final = 50_000
"""Of one request; exporters send hundreds. What decodes costs memory, whether or not it is a span."""


def decode(
    body: bytes,
    content_type: str,
    *,
    received_unix_nano: int,
    max_age_nano: int | None = None,
    telemetry: Telemetry = Telemetry.TRACES,
) -> list[Span | SpanFault]:
    """The entries of an export request, in order, each as itself or as its fault.

    Raises:
        DecodeError: when the body is not what its content type says.
        BodyTooLarge: when it has more than ``MAX_SPANS`` entries.
        WrongSignal: when it is an export of another signal.

    """
    match content_type:
        case "application/x-protobuf":
            return otlp_protobuf.read(telemetry, body, received_unix_nano, max_age_nano, MAX_SPANS)
        case "application/json":
            return otlp_json.read(telemetry, body, received_unix_nano, max_age_nano, MAX_SPANS)
    raise DecodeError(f"no decoder for {content_type}")


def unpack_gzip(data: bytes, limit: int, claim: Claim = lambda _: None) -> bytes:
    """The content of a gzip stream, as ``ingestion.encodings.unpack`` gives it.

    Raises:
        BodyTooLarge: as soon as it grows beyond ``limit`` bytes.
        DecodeError: when it is not gzip, or ends early.

    """
    return unpack("gzip", data, limit, claim)
