"""Replies of the doors: an export response, or a ``google.rpc.Status``, in the form that the request came in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from fastapi import Response

from governance.records.base import canonical_json
from ingestion.consent.taking import Became, Result
from ingestion.feedback.item import Item, ItemFault
from ingestion.otlp_decode import JSON, PROTOBUF
from ingestion.otlp_fields import SpanFault
from ingestion.telemetry import Telemetry

INVALID_ARGUMENT: Final = 3
PERMISSION_DENIED: Final = 7
RESOURCE_EXHAUSTED: Final = 8
UNIMPLEMENTED: Final = 12
INTERNAL: Final = 13
UNAVAILABLE: Final = 14
UNAUTHENTICATED: Final = 16
_REJECTED: Final = {Telemetry.TRACES: "rejectedSpans", Telemetry.LOGS: "rejectedLogRecords"}


def export_response(telemetry: Telemetry, faults: list[SpanFault]) -> Any:
    """The protobuf answer: everything durable, or all but the entries that are refused on their own."""
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

    reply = ExportLogsServiceResponse() if telemetry is Telemetry.LOGS else ExportTraceServiceResponse()
    if not faults:
        return reply
    if isinstance(reply, ExportLogsServiceResponse):
        reply.partial_success.rejected_log_records = len(faults)
    else:
        reply.partial_success.rejected_spans = len(faults)
    reply.partial_success.error_message = reasons(faults)
    return reply


def exported(telemetry: Telemetry, faults: list[SpanFault], content_type: str) -> Response:
    """200, with the reasons of what is refused on its own."""
    if content_type == PROTOBUF:
        return Response(export_response(telemetry, faults).SerializeToString(), media_type=PROTOBUF)
    said = {_REJECTED[telemetry]: str(len(faults)), "errorMessage": reasons(faults)}
    return Response(canonical_json({"partialSuccess": said} if faults else {}), media_type=JSON)


def reasons(faults: list[SpanFault]) -> str:
    """How many entries were refused for what, with one example of each."""
    counts = Counter(fault.reason for fault in faults)
    examples = {fault.reason: fault.detail for fault in reversed(faults)}
    return "; ".join(f"{count} x {reason} ({examples[reason]})" for reason, count in sorted(counts.items()))


def heard(items: Sequence[Item | ItemFault]) -> Response:
    """What became of each item of feedback, in order: 200 where one is durable, 400 where none is taken."""
    results = [
        {"position": one.position, "status": "rejected", "field": one.field, "reason": one.reason}
        if isinstance(one, ItemFault)
        else {"position": position, "status": "accepted", "id": one.id}
        for position, one in enumerate(items)
    ]
    rejected = sum(isinstance(one, ItemFault) for one in items)
    said: dict[str, Any] = {"accepted": len(items) - rejected, "rejected": rejected, "results": results}
    if rejected == len(items):
        first = items[0]
        why = f"{first.field}: {first.reason}" if isinstance(first, ItemFault) else ""
        said |= {"code": INVALID_ARGUMENT, "message": f"no item can be taken; item 0: {why}"}
    return Response(canonical_json(said), status_code=400 if rejected == len(items) else 200, media_type=JSON)


def consented(results: Sequence[Result]) -> Response:
    """What became of each consent row, in order: 200 where one is taken or was before, 400 where none is."""
    counts = Counter(one.became.value for one in results)
    said: dict[str, Any] = {became.value: counts[became.value] for became in Became}
    said["results"] = [one.plain() for one in results]
    refused = counts[Became.REJECTED.value] == len(results)
    if refused:
        why = f"{results[0].field}: {results[0].reason}"
        said |= {"code": INVALID_ARGUMENT, "message": f"no row can be taken; row 0: {why}"}
    return Response(canonical_json(said), status_code=400 if refused else 200, media_type=JSON)


def status(code: int, message: str, retry_after_s: int | None = None) -> bytes:
    """A ``google.rpc.Status``, with ``RetryInfo`` where the sender may come again."""
    from google.protobuf.duration_pb2 import Duration  # type: ignore[import-untyped]
    from google.rpc.error_details_pb2 import RetryInfo  # type: ignore[import-untyped]
    from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]

    made = Status(code=code, message=message)
    if retry_after_s is not None:
        made.details.add().Pack(RetryInfo(retry_delay=Duration(seconds=retry_after_s)))
    packed: bytes = made.SerializeToString()
    return packed


def failed(
    http_status: int, code: int, message: str, content_type: str | None, headers: dict[str, str] | None = None
) -> Response:
    """An error as the OTLP specification has it."""
    if content_type == PROTOBUF:
        return Response(status(code, message), status_code=http_status, media_type=PROTOBUF, headers=headers)
    body = canonical_json({"code": code, "message": message})
    return Response(body, status_code=http_status, media_type=JSON, headers=headers)
