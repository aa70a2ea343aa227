"""The gRPC door: the same judgement as over HTTP, in gRPC's words."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc.error_details_pb2 import RetryInfo  # type: ignore[import-untyped]
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from governance.keys import DerivedKeyProvider
from governance.ports.clock import RandomIds, SystemClock
from governance.records.span import Span
from ingestion.envelope import Envelope
from ingestion.errors import DoorError
from ingestion.grpc_door import TlsFiles, packing
from ingestion.intake import Intake
from ingestion.limits import Limits
from ingestion.spool import Spool
from ingestion.telemetry import Telemetry
from tests.ingestion.doors import export, grpc_open, make_certificate
from tests.ingestion.log_bodies import as_protobuf, logs, record
from tests.ingestion.otlp_bodies import body, span_json

KEY = {"x-tidemill-key": "key-of-acme"}
GOOD = as_protobuf(body(span_json(1), span_json(2, 1, attributes={"text": "x" * 400})))
LIMITS = Limits(max_body_bytes=400_000, max_unpacked_bytes=1_000_000)


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    spool = Spool(tmp_path / "spool", DerivedKeyProvider("grpc test"), SystemClock(), RandomIds(), max_bytes=500_000)
    yield spool
    spool.close()


def intake(spool: Spool, **limits: Any) -> Intake:
    return Intake(spool, {"key-of-acme": "acme", "key-of-bolt": "bolt"}, LIMITS.model_copy(update=limits))


@pytest.fixture
def address(spool: Spool) -> Iterator[str]:
    with grpc_open(intake(spool)) as address:
        yield address


def spooled(spool: Spool) -> list[tuple[str, Any]]:
    spool.seal()
    records = [record for one in spool.sealed() for record in spool.read(one)]
    return [(tenant, item) for tenant, payload in records for item in Envelope.unpack(payload).spans()]


def refused(*args: Any, **held: Any) -> tuple[grpc.StatusCode, str, int | None]:
    """The code, the message and the seconds to wait."""
    with pytest.raises(grpc.RpcError) as caught:
        export(*args, **held)
    error: Any = caught.value
    packed = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin")
    if packed is None:
        return error.code(), error.details(), None
    status = Status.FromString(packed)
    assert (status.code, status.message) == (error.code().value[0], error.details())
    info = RetryInfo()
    return (
        error.code(),
        error.details(),
        info.retry_delay.seconds if any(d.Unpack(info) for d in status.details) else None,
    )


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip])
def test_the_real_exporter_delivers_every_span(address: str, spool: Spool, compression: grpc.Compression) -> None:
    headers = (("x-tidemill-key", "key-of-bolt"),)
    exporter = OTLPSpanExporter(endpoint=address, insecure=True, headers=headers, compression=compression)
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(exporter, max_export_batch_size=32))
    tracer = provider.get_tracer("agent", "1.0")
    for number in range(100):
        with tracer.start_as_current_span("invoke_agent") as span:
            span.set_attribute("number", number)
    provider.shutdown()
    found = spooled(spool)
    assert {tenant for tenant, _ in found} == {"bolt"}
    assert sorted(item.attributes["number"] for _, item in found) == list(range(100))


def test_partial_success_names_the_reasons(address: str, spool: Spool) -> None:
    sent = as_protobuf(body(span_json(1), span_json(2) | {"traceId": "0" * 32}))
    answer = ExportTraceServiceResponse.FromString(export(address, sent, KEY))
    assert answer.partial_success.rejected_spans == 1
    assert "all zero" in answer.partial_success.error_message
    assert sum(isinstance(item, Span) for _, item in spooled(spool)) == 1


def test_logs_are_taken_by_their_service(address: str, spool: Spool) -> None:
    sent = as_protobuf(logs(record(1, "gen_ai.user.message", body={"content": "hi"}), record(2, "other")))
    answer = ExportLogsServiceResponse.FromString(export(address, sent, KEY, Telemetry.LOGS))
    assert answer.partial_success.rejected_log_records == 1
    assert len(spooled(spool)) == 2
    code, message, wait = refused(address, sent, KEY)
    assert (code, wait) == (grpc.StatusCode.INVALID_ARGUMENT, None)
    assert Telemetry.LOGS.service in message


def test_keys(address: str, spool: Spool) -> None:
    assert refused(address, GOOD, {})[0] is grpc.StatusCode.UNAUTHENTICATED
    assert refused(address, GOOD, {"x-tidemill-key": "key-of-acm"})[0] is grpc.StatusCode.PERMISSION_DENIED
    export(address, GOOD, {"authorization": "Bearer key-of-bolt"})
    assert {tenant for tenant, _ in spooled(spool)} == {"bolt"}


@pytest.mark.parametrize(
    "message", [b"\xff\xff", b"{}", gzip.compress(b"{}", mtime=0), gzip.compress(GOOD)[:-9], b"\x78x"]
)
def test_what_is_broken_is_final(address: str, spool: Spool, message: bytes) -> None:
    code, text, wait = refused(address, message, KEY)
    assert (code, wait) == (grpc.StatusCode.INVALID_ARGUMENT, None)
    assert text
    assert spooled(spool) == []


def test_a_message_above_the_bound_is_not_read(address: str, spool: Spool) -> None:
    code, text, wait = refused(address, b"\0" * 400_001, KEY)
    assert (code, wait) == (grpc.StatusCode.RESOURCE_EXHAUSTED, None)
    assert "larger than max" in text
    assert spooled(spool) == []


@pytest.mark.parametrize("compression", [grpc.Compression.Gzip, grpc.Compression.Deflate])
def test_a_bomb_stops_at_the_limit(address: str, spool: Spool, compression: grpc.Compression) -> None:
    code, text, wait = refused(address, b"\n" + b"\0" * 100_000_000, KEY, compression=compression)
    assert (code, wait) == (grpc.StatusCode.INVALID_ARGUMENT, None)
    assert "unpacks to more than 1000000 bytes" in text
    assert spooled(spool) == []


@pytest.mark.parametrize("compression", [grpc.Compression.Gzip, grpc.Compression.Deflate])
def test_packed_messages_are_unpacked(address: str, spool: Spool, compression: grpc.Compression) -> None:
    export(address, GOOD, KEY, compression=compression)
    assert len(spooled(spool)) == 2


def test_packing_is_told_by_the_first_bytes() -> None:
    assert [packing(data) for data in (b"", GOOD, gzip.compress(GOOD))] == ["", "", "gzip"]
    assert {packing(zlib.compress(GOOD, level)) for level in range(10)} == {"deflate"}


def test_back_pressure_says_when_to_come_back(spool: Spool) -> None:
    with grpc_open(intake(spool, max_in_flight=0)) as address:
        code, text, wait = refused(address, GOOD, KEY)
        assert (code, wait) == (grpc.StatusCode.RESOURCE_EXHAUSTED, LIMITS.retry_after_s)
        assert "too many requests" in text
    big = as_protobuf(body(span_json(1, attributes={"text": "x" * 300_000})))
    with grpc_open(intake(spool, max_bytes_in_flight=200_000)) as address:
        assert refused(address, big, KEY)[::2] == (grpc.StatusCode.RESOURCE_EXHAUSTED, LIMITS.retry_after_s)
    with grpc_open(intake(spool)) as address:
        export(address, big, KEY)
        assert refused(address, big, KEY)[::2] == (grpc.StatusCode.RESOURCE_EXHAUSTED, LIMITS.retry_after_s)


def test_every_call_gives_its_bytes_back_and_is_counted(spool: Spool) -> None:
    shared = intake(spool)
    with grpc_open(shared) as address:
        export(address, GOOD, KEY)
        refused(address, b"\xff", KEY)
    text = shared.meters.text().decode()
    assert "tidemill_intake_bytes_in_flight 0.0" in text
    assert 'tidemill_intake_calls_total{code="OK"} 1.0' in text
    assert 'tidemill_intake_calls_total{code="INVALID_ARGUMENT"} 1.0' in text


def test_tls_by_file(spool: Spool, tmp_path: Path) -> None:
    files = make_certificate(tmp_path)
    with grpc_open(intake(spool), files) as address:
        export(address, GOOD, KEY, certificate=files.cert)
        with pytest.raises(grpc.RpcError):
            export(address, GOOD, KEY)
    assert len(spooled(spool)) == 2


def test_a_door_that_cannot_open_says_why(spool: Spool, tmp_path: Path, address: str) -> None:
    import asyncio

    from ingestion.grpc_door import GrpcDoor

    taken = GrpcDoor(intake(spool), "127.0.0.1", int(address.partition(":")[2]))
    missing = GrpcDoor(intake(spool), "127.0.0.1", 0, TlsFiles(tmp_path / "no.crt", tmp_path / "no.key"))
    for door in (taken, missing):
        with pytest.raises(DoorError, match="cannot listen"):
            asyncio.run(door.start())
