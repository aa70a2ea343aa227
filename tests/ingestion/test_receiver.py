from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from governance.keys import DerivedKeyProvider
from governance.ports.clock import RandomIds, SystemClock
from governance.records.span import Span
from ingestion.envelope import Envelope
from ingestion.limits import Limits
from ingestion.otlp_decode import JSON, PROTOBUF
from ingestion.receiver import create_app
from ingestion.recording import Recording
from ingestion.spool import Spool
from tests.ingestion.otlp_bodies import body, serving, span_json

KEYS = {"key-of-acme": "acme", "key-of-bolt": "bolt"}
HEADERS = {"x-tidemill-key": "key-of-acme", "content-type": JSON}
SECRET = DerivedKeyProvider("receiver test")


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    spool = Spool(tmp_path / "spool", SECRET, SystemClock(), RandomIds(), max_bytes=2_000_000)
    yield spool
    spool.close()


@pytest.fixture
def url(spool: Spool, free_port: int) -> Iterator[str]:
    limits = Limits(max_body_bytes=400_000, max_unpacked_bytes=1_000_000, max_age_s=None, max_in_flight=16)
    with serving(create_app(spool, KEYS, limits), free_port) as base:
        yield base


def spooled(spool: Spool) -> list[tuple[str, Any]]:
    spool.seal()
    records = [record for one in spool.sealed() for record in spool.read(one)]
    return [(tenant, item) for tenant, payload in records for item in Envelope.unpack(payload).spans()]


def post(url: str, content: bytes, **headers: str) -> httpx.Response:
    return httpx.post(f"{url}/v1/traces", content=content, headers=HEADERS | headers)


def test_the_real_exporter_delivers_every_span(url: str, spool: Spool) -> None:
    exporter = OTLPSpanExporter(
        endpoint=f"{url}/v1/traces", headers={"x-tidemill-key": "key-of-bolt"}, compression=None
    )
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(exporter, max_export_batch_size=32))
    tracer = provider.get_tracer("agent", "1.0")
    for number in range(100):
        with tracer.start_as_current_span("invoke_agent", attributes={"gen_ai.operation.name": "invoke_agent"}) as span:
            span.set_attribute("number", number)
    provider.shutdown()
    found = spooled(spool)
    assert {tenant for tenant, _ in found} == {"bolt"}
    assert sorted(item.attributes["number"] for _, item in found) == list(range(100))


def test_200_is_durable_and_json_replies_in_json(url: str, spool: Spool) -> None:
    reply = post(url, body(span_json(1), span_json(2)))
    assert (reply.status_code, reply.json()) == (200, {})
    assert reply.headers["content-type"] == JSON
    assert len(spooled(spool)) == 2


def test_ing_02_partial_success_names_the_reasons_in_both_encodings(url: str, spool: Spool) -> None:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtoSpan

    from ingestion.otlp_decode import decode

    spans = [span_json(number) for number in range(1, 512)] + [span_json(512) | {"traceId": "0" * 32}]
    reply = post(url, body(*spans))
    assert reply.status_code == 200
    assert reply.json()["partialSuccess"]["rejectedSpans"] == "1"
    assert "all zero" in reply.json()["partialSuccess"]["errorMessage"]
    request = ExportTraceServiceRequest()
    request.resource_spans.add().scope_spans.add().spans.append(ProtoSpan(trace_id=b"short", start_time_unix_nano=5))
    reply = post(url, request.SerializeToString(), **{"content-type": PROTOBUF})
    parsed = ExportTraceServiceResponse.FromString(reply.content)
    assert parsed.partial_success.rejected_spans == 1
    assert "trace_id has 5 bytes" in parsed.partial_success.error_message
    assert sum(isinstance(item, Span) for _, item in spooled(spool)) == 511
    assert decode(b"", PROTOBUF, received_unix_nano=0) == []


def test_ing_08_spans_before_the_window_are_counted(tmp_path: Path, free_port: int) -> None:
    spool = Spool(tmp_path / "window", SECRET, SystemClock(), RandomIds())
    now = SystemClock().now().timestamp()
    fresh = {"startTimeUnixNano": str(int(now * 1e9)), "endTimeUnixNano": str(int(now * 1e9) + 5)}
    old = {key: str(int(value) - 8 * 86_400 * 10**9) for key, value in fresh.items()}
    spans = [span_json(n) | (old if n <= 4 else fresh) for n in range(1, 11)]
    with serving(create_app(spool, KEYS, Limits(max_age_s=86_400)), free_port) as url:
        reply = post(url, body(*spans))
        metrics = httpx.get(f"{url}/metrics").text
    assert reply.json()["partialSuccess"]["rejectedSpans"] == "4"
    assert 'tidemill_intake_spans_total{answer="rejected",reason="too_old",tenant="acme"} 4.0' in metrics
    assert sum(isinstance(item, Span) for _, item in spooled(spool)) == 6
    spool.close()


def test_ing_01_another_signal_is_refused_and_nothing_is_queued(url: str, spool: Spool) -> None:
    logs = ExportLogsServiceRequest()
    logs.resource_logs.add().scope_logs.add().log_records.add(time_unix_nano=5, severity_text="INFO")
    reply = post(url, logs.SerializeToString(), **{"content-type": PROTOBUF})
    assert reply.status_code == 400
    status = Status.FromString(reply.content)
    assert status.code == 3
    assert "export of logs on the path of traces: send it to POST /v1/logs" in status.message
    assert spooled(spool) == []


def test_keys(url: str, spool: Spool) -> None:
    data = body(span_json(1))
    bare = {"content-type": JSON}
    missing = httpx.post(f"{url}/v1/traces", content=data, headers=bare)
    assert missing.status_code == 401
    assert "API key" in missing.json()["message"]
    wrong = httpx.post(f"{url}/v1/traces", content=data, headers=bare | {"x-tidemill-key": "key-of-acm"})
    assert wrong.status_code == 403
    bearer = httpx.post(f"{url}/v1/traces", content=data, headers=bare | {"authorization": "Bearer key-of-bolt"})
    assert bearer.status_code == 200
    assert [tenant for tenant, _ in spooled(spool)] == ["bolt"]


def test_ing_23_the_tenant_comes_from_the_key(url: str, spool: Spool) -> None:
    post(url, body(span_json(1, attributes={"tenant_id": "bolt"}), resource={"tenant.id": "bolt"}))
    ((tenant, span),) = spooled(spool)
    assert tenant == "acme"
    assert span.attributes == {"client.tenant_id": "bolt"}
    assert span.resource == {"client.tenant.id": "bolt"}


@pytest.mark.parametrize(
    ("content", "headers", "status"),
    [
        (b"{", {}, 400),
        (b"\xff\xff", {"content-type": PROTOBUF}, 400),
        (b"[]", {}, 400),
        (b"{}", {"content-type": "text/plain"}, 415),
        (b"{}", {"content-encoding": "br"}, 415),
        (b"not gzip", {"content-encoding": "gzip"}, 400),
        (b"x" * 400_001, {}, 413),
        (gzip.compress(b" " * 1_000_001), {"content-encoding": "gzip"}, 413),
    ],
)
def test_errors_that_repeat_are_clear_and_final(
    url: str, spool: Spool, content: bytes, headers: dict[str, str], status: int
) -> None:
    reply = post(url, content, **headers)
    assert reply.status_code == status
    assert "retry-after" not in reply.headers
    if headers.get("content-type") == PROTOBUF:
        assert Status.FromString(reply.content).message
    else:
        assert reply.json()["message"]
    assert spooled(spool) == []


def test_gzip_of_two_members(url: str, spool: Spool) -> None:
    data = body(span_json(1))
    packed = gzip.compress(data[:50]) + gzip.compress(data[50:])
    assert post(url, packed, **{"content-encoding": "gzip"}).status_code == 200
    assert len(spooled(spool)) == 1


def test_a_full_spool_says_come_back(tmp_path: Path, free_port: int) -> None:
    spool = Spool(tmp_path / "small", SECRET, SystemClock(), RandomIds(), max_bytes=1_500)
    with serving(create_app(spool, KEYS), free_port) as url:
        assert post(url, body(span_json(1))).status_code == 200
        replies = [post(url, body(*(span_json(n) for n in range(1, 9)))) for _ in range(3)]
        assert replies[-1].status_code == 503
        assert int(replies[-1].headers["retry-after"]) > 0
        assert replies[-1].json()["code"] == 14
    spool.close()


def test_ing_22_eight_posts_at_once(url: str, spool: Spool) -> None:
    statuses = []

    def send(number: int) -> None:
        spans = [span_json(number * 100 + n) for n in range(1, 51)]
        statuses.append(post(url, body(*spans)).status_code)

    threads = [threading.Thread(target=send, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [200] * 8
    assert len({item.span_id for _, item in spooled(spool)}) == 400


def test_health_and_metrics(url: str) -> None:
    post(url, body(span_json(1)))
    assert httpx.get(f"{url}/health").json()["status"] == "ok"
    metrics = httpx.get(f"{url}/metrics").text
    assert 'tidemill_intake_requests_total{status="200"} 1.0' in metrics
    assert "tidemill_spool_bytes" in metrics


@pytest.mark.parametrize(
    ("asked", "status", "allow"),
    [
        ("POST /v1/metrics", 404, None),
        ("POST /v1/traces/", 404, None),
        ("POST /health/", 404, None),
        ("GET /", 404, None),
        ("GET /v1/logs", 405, "POST"),
        ("GET /v1/%00%ff/\u00e9", 404, None),
        ("GET /v1/traces", 405, "POST"),
        ("PUT /v1/traces", 405, "POST"),
        ("POST /metrics", 405, "GET"),
    ],
)
@pytest.mark.parametrize("content_type", [PROTOBUF, JSON, "text/plain"])
def test_what_is_not_served_is_said_in_the_form_of_otlp(
    url: str, asked: str, status: int, allow: str | None, content_type: str
) -> None:
    method, path = asked.split()
    reply = httpx.request(method, f"{url}{path}", headers=HEADERS | {"content-type": content_type})
    assert (reply.status_code, reply.headers.get("allow"), reply.headers.get("location")) == (status, allow, None)
    if content_type == PROTOBUF:
        assert reply.headers["content-type"] == PROTOBUF
        said = Status.FromString(reply.content)
        code, message = said.code, said.message
    else:
        assert reply.headers["content-type"] == JSON
        assert set(reply.json()) == {"code", "message"}
        code, message = reply.json()["code"], reply.json()["message"]
    assert code == 12
    assert message.startswith(f"{method} {httpx.URL(url + path).path!r} is not served")
    assert "POST /v1/traces" in message
    assert f'tidemill_intake_requests_total{{status="{status}"}} 1.0' in httpx.get(f"{url}/metrics").text


def test_accepted_bodies_are_recorded(tmp_path: Path, free_port: int) -> None:
    spool = Spool(tmp_path / "spool", SECRET, SystemClock(), RandomIds())
    recording = Recording(tmp_path / "recording", SECRET)
    with serving(create_app(spool, KEYS, recording=recording), free_port) as url:
        post(url, body(span_json(1)))
        post(url, b"{")
    (item,) = recording
    assert (item.tenant_id, item.content_type) == ("acme", JSON)
    assert json.loads(item.body)["resourceSpans"]
    spool.close()
