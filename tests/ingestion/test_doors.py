"""The contract of the doors: whichever way a batch comes, what is stored is the same, and again it is nothing new."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter as GrpcLogExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter as HttpLogExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider

from governance.records.content import AdmittedSpan
from governance.records.ledger import Fate
from governance.records.rights import Purpose
from ingestion.intake import Intake
from ingestion.otlp_decode import JSON, PROTOBUF
from ingestion.receiver import app_of
from ingestion.telemetry import Telemetry
from tests.ingestion.doors import export, grpc_open
from tests.ingestion.log_bodies import as_protobuf, logs, record
from tests.ingestion.otlp_bodies import attributes, body, serving, span_json
from tests.ingestion.test_drain import Mill, run_of

TRACE = "a" * 32
BATCH = body(
    *run_of(TRACE),
    span_json(3, 1, TRACE, attributes={"text": "tür", "n": 2**60, "list": [1, "a"], "double": 0.1, "flag": True}),
    span_json(9) | {"traceId": "0" * 32},
)
LOGS = logs(
    record(5, "gen_ai.user.message", 3, TRACE, body={"content": "Refund me"}),
    record(6, "gen_ai.evaluation.result", 3, TRACE, gen_ai__evaluation__name="kind"),
    record(7, "http.request", 3, TRACE),
)
Send = Callable[[Telemetry, bytes], None]
WAYS = ("json", "protobuf", "protobuf gzip", "grpc")


def send(way: str, url: str, address: str, telemetry: Telemetry, data: bytes) -> None:
    key = {"x-tidemill-key": "key"}
    if way == "grpc":
        export(address, as_protobuf(data), key, telemetry)
        return
    content = data if way == "json" else as_protobuf(data)
    headers = key | {"content-type": JSON if way == "json" else PROTOBUF}
    if way.endswith("gzip"):
        content, headers = gzip.compress(content), headers | {"content-encoding": "gzip"}
    httpx.post(url + telemetry.path, content=content, headers=headers).raise_for_status()


def stored(folder: Path, port: int, ways: tuple[str, ...]) -> tuple[list[AdmittedSpan], dict[Fate, dict[str, int]]]:
    folder.mkdir()
    mill = Mill(folder)
    mill.contract()
    intake = Intake(mill.spool, {"key": "acme"}, clock=mill.clock)
    with serving(app_of(intake), port) as url, grpc_open(intake) as address:
        for way in ways:
            send(way, url, address, Telemetry.TRACES, BATCH)
            send(way, url, address, Telemetry.LOGS, LOGS)
            mill.drain.run()
    found = mill.store.spans.trace("acme", TRACE, Purpose.COMPLY)
    fates = mill.line().fates
    mill.close()
    return found, fates


def test_the_same_batch_is_stored_the_same_through_every_door(tmp_path: Path, free_port: int) -> None:
    results = [stored(tmp_path / way.replace(" ", "-"), free_port, (way,)) for way in WAYS]
    spans, fates = results[0]
    assert len(spans) == 5
    assert fates == {Fate.STORED: {"": 5}, Fate.REJECTED: {"trace_id": 1, "not_genai": 1}}
    assert all(result == (spans, fates) for result in results[1:])


@pytest.mark.parametrize("ways", [WAYS, WAYS[::-1]])
def test_the_same_batch_through_all_doors_is_stored_once(tmp_path: Path, free_port: int, ways: tuple[str, ...]) -> None:
    spans, fates = stored(tmp_path / "all", free_port, ways)
    assert len(spans) == 5
    assert (fates[Fate.STORED], fates[Fate.DUPLICATE]) == ({"": 5}, {"": 15})


@pytest.mark.parametrize("door", ["http", "grpc"])
def test_the_real_log_exporters_events_reach_the_span_that_was_current(
    tmp_path: Path, free_port: int, door: str
) -> None:
    mill = Mill(tmp_path)
    mill.contract()
    intake = Intake(mill.spool, {"key": "acme"}, clock=mill.clock)
    provider = LoggerProvider()
    with serving(app_of(intake), free_port) as url, grpc_open(intake) as address:
        exporter: Any
        if door == "http":
            exporter = HttpLogExporter(
                f"{url}/v1/logs", headers={"x-tidemill-key": "key"}, compression=Compression.Deflate
            )
        else:
            exporter = GrpcLogExporter(address, insecure=True, headers=(("x-tidemill-key", "key"),))
        provider.add_log_record_processor(BatchLogRecordProcessor(exporter))
        with TracerProvider().get_tracer("agent").start_as_current_span("chat") as span:
            provider.get_logger("agent").emit(event_name="gen_ai.user.message", body={"content": "Refund me"})
        provider.shutdown()
        context = span.get_span_context()
        chat = span_json(1, None, f"{context.trace_id:032x}") | {"spanId": f"{context.span_id:016x}"}
        chat["attributes"] = attributes({"user.id": "ann", "gen_ai.operation.name": "chat"})
        send("json", url, address, Telemetry.TRACES, body(chat))
        mill.drain.run()
    (trajectory,) = mill.trajectories()
    assert [turn.message.text for turn in trajectory.turns] == ["Refund me"]
    mill.close()
