"""The control process: both doors of the intake in one loop, by file under TLS, ended in order by a signal."""

from __future__ import annotations

import asyncio
import os
import signal
import ssl
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import ValidationError

from governance.keys import DerivedKeyProvider
from governance.ports.clock import RandomIds, SystemClock
from ingestion.envelope import Envelope
from ingestion.intake import Intake
from ingestion.otlp_decode import JSON
from ingestion.spool import Spool
from pipelines import control
from pipelines.errors import ServiceError
from pipelines.services import control_service
from pipelines.settings import Settings, load_settings
from pipelines.supervisor import healthy, verification
from serving.telemetry import TelemetryExport
from tests.ingestion.doors import export, make_certificate
from tests.ingestion.log_bodies import as_protobuf
from tests.ingestion.otlp_bodies import body, span_json

KEY = {"x-tidemill-key": "key"}


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    spool = Spool(tmp_path / "spool", DerivedKeyProvider("control test"), SystemClock(), RandomIds())
    yield spool
    spool.close()


def free_ports() -> tuple[int, int]:
    import socket

    with socket.socket() as one, socket.socket() as two:
        one.bind(("127.0.0.1", 0))
        two.bind(("127.0.0.1", 0))
        return one.getsockname()[1], two.getsockname()[1]


def settings_of(tmp_path: Path, **held: object) -> Settings:
    http, grpc = free_ports()
    return load_settings(data_home=tmp_path / "home", intake_port=http, intake_grpc_port=grpc, **held)


async def serve_and_send(spool: Spool, settings: Settings) -> None:
    """Serve, send one span through each door, and end by a signal to this process."""
    intake = Intake(spool, {"key": "acme"})
    server = control.intake_server(intake, settings)
    running = asyncio.ensure_future(control.run([server], control.grpc_door(intake, settings)))
    while not server.started:
        await asyncio.sleep(0.01)
    await asyncio.to_thread(send_both, settings)
    os.kill(os.getpid(), signal.SIGTERM)
    await asyncio.wait_for(running, 20)


def send_both(settings: Settings) -> None:
    service = control_service(settings)
    assert healthy(service.health, 5.0, service.certificate)
    verify = verification(settings.tls_cert)
    headers = KEY | {"content-type": JSON}
    url = f"{settings.intake_url}/v1/traces"
    httpx.post(url, content=body(span_json(1)), headers=headers, verify=verify).raise_for_status()
    address = f"{settings.host}:{settings.intake_grpc_port}"
    export(address, as_protobuf(body(span_json(2))), KEY, certificate=settings.tls_cert)


def check(spool: Spool, settings: Settings) -> None:
    asyncio.run(serve_and_send(spool, settings))
    spool.seal()
    payloads = [payload for one in spool.sealed() for _, payload in spool.read(one)]
    names = [getattr(item, "name", None) for payload in payloads for item in Envelope.unpack(payload).spans()]
    assert sorted(names, key=str) == ["span 1", "span 2"]
    for port in (settings.intake_port, settings.intake_grpc_port):
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"http://{settings.host}:{port}/health")


def test_both_doors_serve_until_the_signal_and_close(spool: Spool, tmp_path: Path) -> None:
    check(spool, settings_of(tmp_path))


def test_both_doors_speak_tls_by_file(spool: Spool, tmp_path: Path) -> None:
    files = make_certificate(tmp_path)
    check(spool, settings_of(tmp_path, tls_cert=files.cert, tls_key=files.key))


def test_another_certificate_is_not_healthy(spool: Spool, tmp_path: Path) -> None:
    files = make_certificate(tmp_path)
    (tmp_path / "other").mkdir()
    other = make_certificate(tmp_path / "other")
    assert isinstance(verification(files.cert), ssl.SSLContext)

    async def look() -> bool:
        settings = settings_of(tmp_path, tls_cert=files.cert, tls_key=files.key)
        server = control.intake_server(Intake(spool, {"key": "acme"}), settings)
        running = asyncio.ensure_future(control.run([server], None))
        while not server.started:
            await asyncio.sleep(0.01)
        found = await asyncio.to_thread(healthy, f"{settings.intake_url}/health", 5.0, other.cert)
        server.should_exit = True
        await running
        return found

    assert not asyncio.run(look())


def test_certificate_and_key_come_together(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="set both or neither"):
        load_settings(tls_cert=tmp_path / "intake.crt")


def test_files_that_are_no_certificate_and_key_are_named(spool: Spool, tmp_path: Path) -> None:
    files = make_certificate(tmp_path)
    (tmp_path / "other").mkdir()
    for cert, key in (
        (tmp_path / "none", files.key),
        (files.key, files.key),
        (make_certificate(tmp_path / "other").cert, files.key),
    ):
        with pytest.raises(ServiceError, match=f"certificate {cert} and key {key}"):
            control.intake_server(Intake(spool, {}), settings_of(tmp_path, tls_cert=cert, tls_key=key))


def test_port_0_is_no_grpc_door(spool: Spool) -> None:
    assert control.grpc_door(Intake(spool, {}), load_settings(intake_grpc_port=0)) is None


def test_the_agents_own_spans_reach_an_intake_under_tls(spool: Spool, tmp_path: Path) -> None:
    files = make_certificate(tmp_path)
    settings = settings_of(tmp_path, tls_cert=files.cert, tls_key=files.key)
    provider = TracerProvider()
    finished = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(finished))
    provider.get_tracer("agent").start_span("chat").end()

    async def send() -> None:
        server = control.intake_server(Intake(spool, {"key": "acme"}), settings)
        running = asyncio.ensure_future(control.run([server], None))
        while not server.started:
            await asyncio.sleep(0.01)
        export = TelemetryExport(f"{settings.intake_url}/v1/traces", "key", certificate=settings.tls_cert)
        await asyncio.to_thread(export.export, finished.get_finished_spans())
        server.should_exit = True
        await running

    asyncio.run(send())
    assert spool.segments_held() == 1


def test_the_signal_does_not_wait_for_a_slow_body(spool: Spool, tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    intake = Intake(spool, {"key": "acme"})

    async def serve_and_leave() -> bytes:
        server = control.intake_server(intake, settings)
        running = asyncio.ensure_future(control.run([server], None, intake.leave))
        while not server.started:
            await asyncio.sleep(0.01)
        reader, writer = await asyncio.open_connection(settings.host, settings.intake_port)
        head = f"POST /v1/traces HTTP/1.1\r\nhost: x\r\nx-tidemill-key: key\r\ncontent-type: {JSON}\r\n"
        writer.write(head.encode() + b"content-length: 100\r\n\r\n{")
        await asyncio.sleep(0.3)
        os.kill(os.getpid(), signal.SIGTERM)
        told = await asyncio.wait_for(reader.read(), 5)
        await asyncio.wait_for(running, 5)
        writer.close()
        return told

    told = asyncio.run(serve_and_leave())
    assert told.startswith(b"HTTP/1.1 503")
    assert b"retry-after" in told.lower()
