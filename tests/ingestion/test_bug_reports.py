"""Public bug reports of systems that do this job, each as a test of its kind: what is posted, and what comes of it.

``test_ing_NN`` is the report ING-NN; inputs are made here, several of each kind, and go the whole way through door,
spool, drain and assembly.
"""

from __future__ import annotations

import base64
import gzip
import json
import logging
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from google.protobuf.json_format import ParseDict  # type: ignore[import-untyped]
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from governance.records.ledger import Fate
from governance.records.rights import Purpose
from ingestion.limits import Limits
from ingestion.otlp_decode import JSON, PROTOBUF
from ingestion.receiver import app_of
from tests.ingestion import test_bug_reports_content
from tests.ingestion.log_bodies import as_protobuf, logs, record
from tests.ingestion.otlp_bodies import T0, TRACE, attributes, body, serving, span_json
from tests.ingestion.pipe import Pipe

HOUR = 3_600 * 10**9
WAYS = pytest.mark.parametrize("way", ["json", "protobuf"])


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[Pipe]:
    pipe = Pipe(tmp_path)
    yield pipe
    pipe.close()


def test_every_report_of_the_intake_has_a_test(cases_dir: Path) -> None:
    reports = [json.loads(line)["id"] for line in (cases_dir / "bug_reports.jsonl").read_text().splitlines()]
    wanted = {name for name in reports if name.startswith("ING-")}
    assert len(wanted) > 10
    names = [*globals(), *vars(test_bug_reports_content)]
    held = {f"ING-{number}" for name in names for number in re.findall(r"^test_ing_(\d\d)_", name)}
    assert wanted <= held, wanted - held


AGENT, LLM = {"openinference.span.kind": "AGENT"}, {"openinference.span.kind": "LLM"}
LOGS = logs(record(1, "http.request"), record(2, "gen_ai.user.message", body={"content": "hi"}))
METRICS = {
    "resourceMetrics": [
        {
            "scopeMetrics": [
                {"scope": {"name": "m"}, "metrics": [{"name": "n", "sum": {"dataPoints": [{"asInt": "1"}]}}]}
            ]
        }
    ]
}
WRONG: dict[str, tuple[bytes, str]] = {
    "logs protobuf": (as_protobuf(LOGS), PROTOBUF),
    "logs json": (LOGS, JSON),
    "many logs": (as_protobuf(logs(*(record(n, "e") for n in range(300)))), PROTOBUF),
    "metrics json": (json.dumps(METRICS).encode(), JSON),
    "metrics protobuf": (ParseDict(METRICS, ExportMetricsServiceRequest()).SerializeToString(), PROTOBUF),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", sorted(WRONG))
def test_ing_01_another_signal_is_refused_for_good(
    pipe: Pipe, caplog: pytest.LogCaptureFixture, name: str, packed: bool
) -> None:
    content, kind = WRONG[name]
    headers = {"content-encoding": "gzip"} if packed else {}
    for _ in range(2):
        caplog.clear()
        with caplog.at_level(logging.WARNING, "ingestion"):
            reply = pipe.post(gzip.compress(content) if packed else content, kind, **headers)
        said = Status.FromString(reply.content).message if kind == PROTOBUF else reply.json()["message"]
        assert reply.status_code == 400
        assert "retry-after" not in reply.headers
        assert ("logs" if "logs" in name else "another signal") in said or "metrics" in said
        assert len([one for one in caplog.records if one.name.startswith("ingestion")]) == 1
    assert (pipe.spool.segments_held(), pipe.drain().received, pipe.traces()) == (0, 0, [])


BAD_JSON: dict[str, Any] = {
    "attribute without a value": {"attributes": [{"key": "gen_ai.tool.name"}]},
    "attribute without a key": {"attributes": [{"value": {"stringValue": "x"}}]},
    "attribute that is a number": {"attributes": [3]},
    "attributes that are a text": {"attributes": "x"},
    "value of two kinds": {"attributes": [{"key": "a", "value": {"intValue": "1", "stringValue": "2"}}]},
    "no number": {"startTimeUnixNano": "yesterday"},
    "negative time": {"endTimeUnixNano": "-5"},
    "no trace id": {"traceId": ""},
    "short span id": {"spanId": "abc"},
    "events that are a text": {"events": "x"},
}


@pytest.mark.parametrize("name", sorted(BAD_JSON))
def test_ing_02_a_malformed_span_costs_no_other(pipe: Pipe, name: str) -> None:
    good = [span_json(number) for number in range(1, 512)]
    reply = pipe.send(body(*good[:200], span_json(900) | BAD_JSON[name], *good[200:]))
    told = reply.json().get("partialSuccess", {"rejectedSpans": "0", "errorMessage": ""})
    rejected = int(told["rejectedSpans"])
    assert (rejected, bool(told["errorMessage"])) in ((0, False), (1, True))
    report = pipe.drain()
    assert report.fates == ({"stored": 511, "rejected": 1} if rejected else {"stored": 512})
    assert sum(pipe.line().fates.get(Fate.REJECTED, {}).values()) == rejected
    assert {f"{number:016x}" for number in range(1, 512)} <= {item.span.span_id for item in pipe.spans()}


@pytest.mark.parametrize("broken", [b"\x0a\x05ab", b"\xff\xff\xff", b"\x0a\x10" + b"\x00" * 16, b"\x0a\x03abc"])
def test_ing_02_in_protobuf(pipe: Pipe, broken: bytes) -> None:
    scope = b"".join(b"\x12" + _varint(len(one)) + one for one in (*(_raw(n) for n in range(1, 40)), broken, _raw(40)))
    group = b"\x12" + _varint(len(scope)) + scope
    reply = pipe.post(b"\x0a" + _varint(len(group)) + group, PROTOBUF)
    parsed = ExportTraceServiceResponse.FromString(reply.content).partial_success
    assert (reply.status_code, parsed.rejected_spans, bool(parsed.error_message)) == (200, 1, True)
    assert pipe.drain().fates == {"stored": 40, "rejected": 1}


def _raw(number: int) -> bytes:
    request = ExportTraceServiceRequest.FromString(as_protobuf(body(span_json(number))))
    raw: bytes = request.resource_spans[0].scope_spans[0].spans[0].SerializeToString()
    return raw


def _varint(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + _varint(number >> 7)


def b64(hexed: str) -> str:
    return base64.b64encode(bytes.fromhex(hexed)).decode()


@pytest.mark.parametrize("trace", [TRACE, "00" * 15 + "01", "ff" * 16, "abcdef0123456789" * 2])
def test_ing_04_hex_and_base64_are_one_trace(pipe: Pipe, trace: str) -> None:
    child, root = span_json(2, 1, trace), span_json(1, None, trace)
    pipe.send(body(root, child))
    assert pipe.drain().fates == {"stored": 2}
    encoded = [
        span | {name: b64(span[name]) for name in ("traceId", "spanId", "parentSpanId") if name in span}
        for span in (root, child)
    ]
    pipe.send(body(*encoded))
    pipe.drain()
    assert pipe.traces() == [trace]
    assert [item.span.span_id for item in pipe.spans(trace)] == [f"{1:016x}", f"{2:016x}"]
    assert pipe.spans(trace)[1].span.parent_span_id == f"{1:016x}"
    assert "base64_ids" in pipe.shown(trace)["flags"]
    assert "orphaned_spans" not in pipe.shown(trace)["incomplete"]


@pytest.mark.parametrize(
    "wrong", [b64("67" * 12), "67acfc2ea56f108fa4535fc28ba9970", "6" * 24, "z" * 32, b64("67" * 17)]
)
def test_ing_04_what_is_neither_is_refused_with_the_reason(pipe: Pipe, wrong: str) -> None:
    reply = pipe.send(body(span_json(1) | {"traceId": wrong}, span_json(2)))
    assert reply.json()["partialSuccess"]["rejectedSpans"] == "1"
    assert "hex" in reply.json()["partialSuccess"]["errorMessage"]
    assert pipe.drain().fates == {"stored": 1, "rejected": 1}
    assert pipe.traces() == [TRACE]


@pytest.mark.parametrize("number", [0, 1, -1, 42, 2**53 + 1, 2**63 - 1, -(2**63)])
@pytest.mark.parametrize("offset", [0, 1, 123_456_789, 999_999_999])
def test_ing_05_numbers_and_texts_are_the_same_span(pipe: Pipe, number: int, offset: int) -> None:
    start, end = T0 + offset, T0 + offset + 1
    for key, (times, value) in {
        "key-of-acme": ((str(start), str(end)), str(number)),
        "key-of-bolt": ((start, end), number),
    }.items():
        held = {"attributes": [{"key": "n", "value": {"intValue": value}}], "kind": 3}
        pipe.send(body(span_json(1) | held | {"startTimeUnixNano": times[0], "endTimeUnixNano": times[1]}), key=key)
    pipe.drain()
    one, other = pipe.spans()[0].span, pipe.spans(tenant="bolt")[0].span
    assert one == other
    assert (one.start_unix_nano, one.end_unix_nano, one.attributes["n"]) == (start, end, number)


def usage(**tokens: int) -> dict[str, Any]:
    return {"gen_ai.operation.name": "chat", **{f"gen_ai.usage.{key}_tokens": value for key, value in tokens.items()}}


@WAYS
@pytest.mark.parametrize("drained", [True, False])
def test_ing_07_a_retry_changes_nothing_and_an_end_updates(pipe: Pipe, way: str, drained: bool) -> None:
    first = [span_json(1), span_json(2, 1, attributes=usage(input=70, output=30)) | {"endTimeUnixNano": "0"}]
    last = [first[0], first[1] | {"endTimeUnixNano": str(T0 + 9_000_000)}]
    for sent in (first, first, last, first, last):
        pipe.send(body(*sent), way)
        if drained:
            pipe.drain()
    pipe.drain()
    line = pipe.line()
    assert (line.received, line.fates[Fate.STORED]) == (10, {"": 2})
    assert sum(line.fates[Fate.UPDATED].values()) == 1
    assert sum(line.fates[Fate.DUPLICATE].values()) == 7
    told = pipe.shown()
    assert (told["usage"]["input_tokens"], told["usage"]["output_tokens"]) == (70, 30)
    assert "open_span" not in told["incomplete"]
    assert [item.span.end_unix_nano for item in pipe.spans()][1] == T0 + 9_000_000


@WAYS
def test_ing_08_what_is_too_old_is_told_and_counted(tmp_path: Path, way: str) -> None:
    pipe = Pipe(tmp_path, limits=Limits(max_age_s=86_400))
    old = {"startTimeUnixNano": str(T0 - 192 * HOUR), "endTimeUnixNano": str(T0 - 192 * HOUR + 5)}
    sent = body(*(span_json(number) | (old if number <= 4 else {}) for number in range(1, 11)))
    reply = pipe.send(sent, way)
    if way == "json":
        told = reply.json()["partialSuccess"]
        rejected, message = int(told["rejectedSpans"]), told["errorMessage"]
    else:
        parsed = ExportTraceServiceResponse.FromString(reply.content).partial_success
        rejected, message = parsed.rejected_spans, parsed.error_message
    assert (rejected, "4 x too_old" in message) == (4, True)
    counted = 'tidemill_intake_spans_total{answer="rejected",reason="too_old",tenant="acme"} 4.0'
    assert counted in pipe.http.get("/metrics").text
    assert pipe.drain().fates == {"stored": 6, "rejected": 4}
    assert pipe.line().fates[Fate.REJECTED] == {"too_old": 4}
    pipe.close()


@pytest.mark.parametrize(
    "parents",
    [
        {1: 91, 2: 91, 3: 92, 4: None},
        {number: 900 + number for number in range(1, 58)} | {58: None},
        {1: 91, 2: 1, 3: 2, 4: 92},
        {1: 2, 2: 1, 3: None},
        {1: 1, 2: None},
    ],
)
def test_ing_10_every_dangling_span_hangs_under_one_place(pipe: Pipe, parents: dict[int, int | None]) -> None:
    from ingestion import tree

    pipe.send(body(*(span_json(number, parent) for number, parent in parents.items())))
    assert pipe.drain().fates == {"stored": len(parents)}
    built = tree.build(pipe.spans())
    tops = [span_id for span_id, place in built.parent.items() if place in (None, tree.ORPHANS)]
    assert sum(place is None for place in built.parent.values()) == (None in parents.values())
    assert set(built.parent.values()) - {None, tree.ORPHANS} <= built.spans.keys()
    assert all(built.depth(span_id) < len(parents) for span_id in built.spans)
    kept = {int(item.span.span_id, 16): item.span.parent_span_id for item in pipe.spans()}
    assert kept == {n: None if parent is None else f"{parent:016x}" for n, parent in parents.items()}
    dangling = {parent for parent in parents.values() if parent is not None and parent not in parents}
    assert ("orphaned_spans" in pipe.shown()["incomplete"]) is bool(dangling)
    assert tops


def test_ing_22_writers_of_one_trace_at_once(tmp_path: Path, free_port: int, database_url: str) -> None:
    pipe = Pipe(tmp_path, database_url)
    batches = [
        body(*(span_json(100 * n + m, 1, attributes=LLM | {"llm.token_count.prompt": 10}) for m in range(5)))
        for n in range(1, 9)
    ]
    batches[0] = body(span_json(1, attributes=AGENT | {"llm.token_count.prompt": 400, "user.id": "ann"}), *(
        json.loads(batches[0])["resourceSpans"][0]["scopeSpans"][0]["spans"]
    ))  # fmt: skip

    def post(url: str, sent: bytes, statuses: list[int]) -> None:
        headers = {"x-tidemill-key": "key-of-acme", "content-type": JSON}
        statuses.append(httpx.post(url, content=sent, headers=headers).status_code)

    for rerun in (False, True):
        statuses: list[int] = []
        with serving(app_of(pipe.intake), free_port) as url:
            senders = [threading.Thread(target=post, args=(f"{url}/v1/traces", sent, statuses)) for sent in batches]
            drains = [threading.Thread(target=pipe.drains.run) for _ in range(2)]
            for thread in (*senders, *drains):
                thread.start()
            for thread in (*senders, *drains):
                thread.join()
        assert statuses == [200] * 8
        pipe.drain()
        assert len(pipe.spans()) == 41
        assert pipe.shown()["usage"]["input_tokens"] == 400
        stored = {"stored": {"": 41}}
        assert pipe.line().fates == (stored | {"duplicate": {"": 41}} if rerun else stored)
    pipe.close()


CLAIMS = {
    "langwatch.tenant_id": "bolt",
    "tenant_id": "bolt",
    "tenant.id": "bolt",
    "organization_id": "bolt",
    "organisation.id": "bolt",
    "consent.training": "granted",
    "tidemill.subject": "0" * 64,
    "provenance.source": "human",
}


@WAYS
@pytest.mark.parametrize("key", sorted(CLAIMS))
@pytest.mark.parametrize("place", ["span", "resource"])
def test_ing_23_what_only_the_server_may_say_is_a_clients_claim(pipe: Pipe, way: str, key: str, place: str) -> None:
    claim = {key: CLAIMS[key]}
    held = attributes({"user.id": "ann"} | (claim if place == "span" else {}))
    pipe.send(body(span_json(1, attributes=held), resource=claim if place == "resource" else None), way)
    pipe.drain()
    assert (pipe.traces("acme"), pipe.traces("bolt")) == ([TRACE], [])
    (item,) = pipe.spans()
    assert item.tenant_id == "acme"
    found = item.span.attributes if place == "span" else item.span.resource
    assert found.get(f"client.{key}") == CLAIMS[key]
    assert key not in found
    assert "client_claims" in pipe.shown()["flags"]


@pytest.mark.parametrize("purpose", [Purpose.TRAIN_WEIGHTS, Purpose.EVALUATE, Purpose.DEBUG])
def test_ing_23_no_attribute_is_consent(tmp_path: Path, purpose: Purpose) -> None:
    from tests.ingestion.test_drain import Mill

    mill = Mill(tmp_path)  # no contract, no consent
    mill.send(span_json(1, attributes=CLAIMS | {"user.id": "ann", "consent": True, "purpose": purpose.value}))
    mill.drain.run()
    assert mill.line().withheld == 1
    assert mill.trajectories(purpose) == ()
    mill.close()
