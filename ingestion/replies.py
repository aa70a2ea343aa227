"""Replies of the receiver, in the content type of the request: an export response, or a ``google.rpc.Status``."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from fastapi import Response

from governance.records.base import canonical_json
from ingestion.otlp_decode import JSON, PROTOBUF
from ingestion.otlp_fields import SpanFault

INVALID_ARGUMENT: Final = 3
PERMISSION_DENIED: Final = 7
RESOURCE_EXHAUSTED: Final = 8
UNIMPLEMENTED: Final = 12
UNAVAILABLE: Final = 14
UNAUTHENTICATED: Final = 16


def exported(faults: list[SpanFault], content_type: str) -> Response:
    """200: everything durable, or all but the spans that are refused on their own, with the reasons."""
    message = reasons(faults)
    if content_type == PROTOBUF:
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

        reply = ExportTraceServiceResponse()
        if faults:
            reply.partial_success.rejected_spans = len(faults)
            reply.partial_success.error_message = message
        return Response(reply.SerializeToString(), media_type=PROTOBUF)
    partial = {"partialSuccess": {"rejectedSpans": str(len(faults)), "errorMessage": message}} if faults else {}
    return Response(canonical_json(partial), media_type=JSON)


def reasons(faults: list[SpanFault]) -> str:
    """How many spans were refused for what, with one example of each."""
    counts = Counter(fault.reason for fault in faults)
    examples = {fault.reason: fault.detail for fault in reversed(faults)}
    return "; ".join(f"{count} x {reason} ({examples[reason]})" for reason, count in sorted(counts.items()))


def failed(
    status: int, code: int, message: str, content_type: str | None, headers: dict[str, str] | None = None
) -> Response:
    """An error as the OTLP specification has it."""
    if content_type == PROTOBUF:
        from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]

        body: Any = Status(code=code, message=message).SerializeToString()
        return Response(body, status_code=status, media_type=PROTOBUF, headers=headers)
    body = canonical_json({"code": code, "message": message})
    return Response(body, status_code=status, media_type=JSON, headers=headers)
