"""Log records that the ingestion tests share, in plain form and in both encodings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from google.protobuf.json_format import ParseDict  # type: ignore[import-untyped]
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.ingestion.otlp_bodies import T0, TRACE, attributes, value

DETAILS = "gen_ai.client.inference.operation.details"


def record(number: int, name: str, span: int = 1, trace: str = TRACE, body: Any = None, **held: Any) -> dict[str, Any]:
    """One OTLP/JSON log record about a span; ``held`` are attributes, with ``__`` for the dots."""
    made: dict[str, Any] = {
        "timeUnixNano": str(T0 + number),
        "observedTimeUnixNano": str(T0 + number + 7),
        "eventName": name,
        "traceId": trace,
        "spanId": f"{span:016x}",
        "attributes": attributes({key.replace("__", "."): item for key, item in held.items()}),
    }
    return made if body is None else made | {"body": any_value(body)}


def any_value(item: Any) -> dict[str, Any]:
    if isinstance(item, Mapping):
        return {"kvlistValue": {"values": [{"key": key, "value": any_value(one)} for key, one in item.items()]}}
    if isinstance(item, list):
        return {"arrayValue": {"values": [any_value(one) for one in item]}}
    return value(item)


def logs(*records: Any, resource: Mapping[str, Any] | None = None) -> bytes:
    groups = [
        {
            "resource": {"attributes": attributes(resource or {"service.name": "agent"})},
            "scopeLogs": [{"scope": {"name": "lib"}, "logRecords": list(records)}],
        }
    ]
    return json.dumps({"resourceLogs": groups}).encode()


def as_protobuf(body: bytes) -> bytes:
    """The same request in protobuf, made by the official classes."""
    plain = json.loads(body)
    kind = ExportLogsServiceRequest if "resourceLogs" in plain else ExportTraceServiceRequest
    _ids_as_base64(plain)
    packed: bytes = ParseDict(plain, kind()).SerializeToString()
    return packed


def _ids_as_base64(item: Any) -> None:
    """The plain protobuf mapping writes ids in base64, OTLP/JSON in hex."""
    import base64

    if isinstance(item, list):
        for one in item:
            _ids_as_base64(one)
    elif isinstance(item, dict):
        for key, one in item.items():
            if key in ("traceId", "spanId", "parentSpanId") and isinstance(one, str):
                item[key] = base64.b64encode(bytes.fromhex(one)).decode()
            else:
                _ids_as_base64(one)
