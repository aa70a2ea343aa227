"""The OTLP messages in a form that no bad string can break: a twin of the official schema.

Theory. A protobuf parser refuses a whole message for one string that is not UTF-8, and for one broken submessage. A
request that it refuses is read by a twin of the schema, derived from the official descriptors (package
``opentelemetry-proto``) with two differences that leave the wire format as it is: strings are read as bytes, and the
spans and log records of a scope are read as opaque bytes, each parsed on its own. What stays strict is the envelope.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory  # type: ignore[import-untyped]
from google.protobuf.message import DecodeError as ProtobufDecodeError  # type: ignore[import-untyped]

from ingestion.errors import DecodeError
from ingestion.telemetry import Telemetry

_FILES: Final = (
    "opentelemetry/proto/common/v1/common.proto",
    "opentelemetry/proto/resource/v1/resource.proto",
    "opentelemetry/proto/trace/v1/trace.proto",
    "opentelemetry/proto/collector/trace/v1/trace_service.proto",
    "opentelemetry/proto/logs/v1/logs.proto",
    "opentelemetry/proto/collector/logs/v1/logs_service.proto",
)
_OPAQUE: Final = {("ScopeSpans", "spans"), ("ScopeLogs", "log_records")}
_REQUESTS: Final = {
    Telemetry.TRACES: "collector.trace.v1.ExportTraceServiceRequest",
    Telemetry.LOGS: "collector.logs.v1.ExportLogsServiceRequest",
}
_ENTRIES: Final = {Telemetry.TRACES: "trace.v1.Span", Telemetry.LOGS: "logs.v1.LogRecord"}


def _loosen(message: descriptor_pb2.DescriptorProto) -> None:
    """Strings as bytes; the entries of a scope as bytes."""
    kinds = descriptor_pb2.FieldDescriptorProto
    for field in message.field:
        opaque = (message.name, field.name) in _OPAQUE
        if opaque or field.type == kinds.TYPE_STRING:
            field.type = kinds.TYPE_BYTES
        if opaque:
            field.ClearField("type_name")
    for nested in message.nested_type:
        _loosen(nested)


@cache
def _pool() -> descriptor_pool.DescriptorPool:
    # Importing them registers the official files.
    from opentelemetry.proto.collector.logs.v1 import logs_service_pb2  # noqa: F401
    from opentelemetry.proto.collector.trace.v1 import trace_service_pb2  # noqa: F401

    official = descriptor_pool.Default()
    twin = descriptor_pool.DescriptorPool()
    for name in _FILES:
        file = descriptor_pb2.FileDescriptorProto()
        official.FindFileByName(name).CopyToProto(file)
        for message in file.message_type:
            _loosen(message)
        twin.Add(file)
    return twin


@cache
def _class(name: str) -> Any:
    descriptor = _pool().FindMessageTypeByName(f"opentelemetry.proto.{name}")
    return message_factory.GetMessageClass(descriptor)


def _parse(name: str, data: bytes) -> Any:
    message = _class(name)()
    try:
        message.ParseFromString(data)
    except ProtobufDecodeError as error:
        raise DecodeError(f"not a protobuf {name.rpartition('.')[2]}: {error}") from error
    return message


def parse_whole(telemetry: Telemetry, body: bytes) -> Any | None:
    """An export request by the official schema, every string a text; None where anything in it is broken."""
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    request: Any = ExportLogsServiceRequest() if telemetry is Telemetry.LOGS else ExportTraceServiceRequest()
    try:
        request.ParseFromString(body)
    except ProtobufDecodeError:
        return None
    return request


def parse_request(telemetry: Telemetry, body: bytes) -> Any:
    """The envelope of an export request.

    Raises:
        DecodeError: when the bytes are no such message.

    """
    return _parse(_REQUESTS[telemetry], body)


def parse_entry(telemetry: Telemetry, data: bytes) -> Any:
    """One span or log record.

    Raises:
        DecodeError: when the bytes are no such message.

    """
    return _parse(_ENTRIES[telemetry], data)
