from __future__ import annotations

import gzip
import json
import math
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from governance.records.span import Span
from ingestion.errors import BodyTooLarge, DecodeError, WrongSignal
from ingestion.otlp_decode import JSON, MAX_SPANS, PROTOBUF, decode, unpack_gzip
from ingestion.otlp_encode import encode
from ingestion.otlp_fields import SpanFault
from tests.ingestion.otlp_bodies import T0, TRACE, body, span_json

DAY = 86_400 * 1_000_000_000


def read(data: bytes, content_type: str = JSON, received: int = T0 + DAY, **held: Any) -> list[Span | SpanFault]:
    return decode(data, content_type, received_unix_nano=received, **held)


def one(data: bytes, content_type: str = JSON) -> Span:
    (span,) = read(data, content_type)
    assert isinstance(span, Span), span
    return span


def proto(count: int = 1) -> tuple[ExportTraceServiceRequest, Any]:
    request = ExportTraceServiceRequest()
    spans = request.resource_spans.add().scope_spans.add().spans
    for number in range(1, count + 1):
        span = spans.add(name=f"span {number}", start_time_unix_nano=T0, end_time_unix_nano=T0 + 1)
        span.trace_id, span.span_id = bytes.fromhex(TRACE), number.to_bytes(8, "big")
    return request, spans


def test_ing_01_logs_export_on_the_traces_path_is_refused_whole() -> None:
    logs = ExportLogsServiceRequest()
    records = logs.resource_logs.add().scope_logs.add().log_records
    for number in range(2):
        record = records.add(time_unix_nano=T0, severity_text="INFO")
        record.body.string_value = "hello"
        record.trace_id, record.span_id = bytes.fromhex(TRACE), (number + 1).to_bytes(8, "big")
        record.attributes.add(key="a").value.string_value = "b"
    with pytest.raises(WrongSignal, match="POST /v1/logs"):
        read(logs.SerializeToString(), PROTOBUF)


def test_metrics_export_on_the_traces_path_is_refused_whole() -> None:
    metrics = ExportMetricsServiceRequest()
    metric = metrics.resource_metrics.add().scope_metrics.add().metrics.add(name="http.requests", description="n")
    metric.sum.data_points.add(as_int=3)
    with pytest.raises(WrongSignal):
        read(metrics.SerializeToString(), PROTOBUF)


@pytest.mark.parametrize("name", ["logs.json", "metrics.json", "events.json"])
def test_ing_01_json_of_another_signal(cases_dir: Path, name: str) -> None:
    with pytest.raises(WrongSignal):
        read((cases_dir / "traces/otlp_reference" / name).read_bytes())


def test_ing_02_one_bad_span_never_costs_its_neighbours() -> None:
    spans = [span_json(number) for number in range(1, 512)]
    empty = span_json(512) | {"attributes": [{"key": "gen_ai.tool.name"}]}
    bad = span_json(513) | {"attributes": [{"key": "x", "value": {"intValue": "many"}}]}
    results = read(body(*spans, empty, bad))
    assert sum(isinstance(item, Span) for item in results) == 512
    assert results[511].attributes == {"gen_ai.tool.name": None}  # type: ignore[union-attr]
    assert isinstance(results[-1], SpanFault)
    assert results[-1].reason == "malformed"


def test_ing_02_a_broken_protobuf_span_never_costs_its_neighbours() -> None:
    request, spans = proto(3)
    spans[1].name = "BROKENSPAN"
    data = request.SerializeToString().replace(b"BROKENSPAN", b"BROKEN\xffSPA")
    results = read(data, PROTOBUF)
    assert [type(item) for item in results] == [Span, Span, Span]
    assert results[1].name == "BROKEN\ufffdSPA"  # type: ignore[union-attr]
    assert "replaced_characters" in results[1].flags  # type: ignore[union-attr]
    spans[1].trace_id = b"short"
    results = read(request.SerializeToString(), PROTOBUF)
    assert [type(item) for item in results] == [Span, SpanFault, Span]


@pytest.mark.parametrize(
    ("trace_id", "span_id", "reason"),
    [
        ("0" * 32, "1" * 16, "trace_id"),
        ("1" * 32, "0" * 16, "span_id"),
        ("1" * 31, "1" * 16, "trace_id"),
        ("", "1" * 16, "trace_id"),
        (None, "1" * 16, "trace_id"),
        (12345, "1" * 16, "trace_id"),
        ("g" * 32, "1" * 16, "trace_id"),
    ],
)
def test_ids_are_refused_for_each_span(trace_id: Any, span_id: str, reason: str) -> None:
    good, bad = read(body(span_json(1), span_json(2) | {"traceId": trace_id, "spanId": span_id}))
    assert isinstance(good, Span)
    assert isinstance(bad, SpanFault)
    assert bad.reason == reason


def test_ing_04_base64_ids_are_the_same_trace() -> None:
    plain = one(body(span_json(1) | {"traceId": "67acfc2ea56f108fa4535fc28ba99705", "spanId": "80c1200c94be1178"}))
    coded = one(body(span_json(1) | {"traceId": "Z6z8LqVvEI+kU1/Ci6mXBQ==", "spanId": "gMEgDJS+EXg="}))
    assert (coded.trace_id, coded.span_id) == (plain.trace_id, plain.span_id)
    assert coded.flags == ("base64_ids",)
    assert plain.flags == ()


def test_ing_05_integers_as_strings_and_as_numbers_are_one_span() -> None:
    held = [("k", "42"), ("k", 42)]
    spans = [
        one(
            body(
                span_json(1)
                | {
                    "startTimeUnixNano": form(1712134800123456789),
                    "endTimeUnixNano": form(1712134800123456790),
                    "attributes": [{"key": key, "value": {"intValue": number}}],
                }
            )
        )
        for form, (key, number) in zip((str, int), held, strict=True)
    ]
    assert spans[0] == spans[1]
    assert spans[0].start_unix_nano == 1712134800123456789


def test_ing_08_spans_before_the_window_are_rejected_one_by_one() -> None:
    old = [
        span_json(n) | {"startTimeUnixNano": str(T0 - 8 * DAY), "endTimeUnixNano": str(T0 - 8 * DAY)}
        for n in (1, 2, 3, 4)
    ]
    results = read(body(*old, *(span_json(n) for n in range(5, 11))), received=T0 + 60 * 10**9, max_age_nano=DAY)
    assert [item.reason for item in results if isinstance(item, SpanFault)] == ["too_old"] * 4


def test_ing_11_refused_characters_are_replaced_visibly_at_any_depth() -> None:
    raw = (
        b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"%s","spanId":"%s","name":"n\\u0000",'
        b'"attributes":[{"key":"k\\u0000ey","value":{"kvlistValue":{"values":[{"key":"in\\u0000","value":'
        b'{"arrayValue":{"values":[{"stringValue":"\\ud83d"},{"stringValue":"\\ud83d\\ude00 ok"}]}}}]}}}]}]}]}]}'
    ) % (TRACE.encode(), b"1" * 16)
    span = one(raw)
    assert span.name == "n\ufffd"
    assert span.attributes == {"k\ufffdey": {"in\ufffd": ["\ufffd", "😀 ok"]}}
    assert "replaced_characters" in span.flags


def test_ing_11_a_byte_that_is_not_utf8_costs_one_character() -> None:
    data = body(span_json(1), span_json(2)).replace(b"span 2", b"span \xff")
    first, second = read(data)
    assert isinstance(first, Span)
    assert first.flags == ()
    assert isinstance(second, Span)
    assert second.name == "span \ufffd"


def test_ing_17_every_kind_of_value() -> None:
    values = [
        {"key": "gen_ai.request.temperature", "value": {}},
        {"key": "none", "value": None},
        {"key": "reasoning", "value": {"kvlistValue": {"values": [{"key": "effort", "value": {"stringValue": "m"}}]}}},
        {"key": "bytes", "value": {"bytesValue": "AAAwOQ=="}},
        {"key": "list", "value": {"arrayValue": {"values": [{"intValue": 1}, {"boolValue": True}, {}]}}},
        {"key": "nan", "value": {"doubleValue": "NaN"}},
        {"key": "empty list", "value": {"arrayValue": {}}},
        {"key": "looks", "value": {"kvlistValue": {"values": [{"key": "bytesValue", "value": {"stringValue": "x"}}]}}},
    ]
    span = one(body(span_json(1) | {"attributes": values}))
    assert span.attributes == {
        "gen_ai.request.temperature": None,
        "none": None,
        "reasoning": {"effort": "m"},
        "bytes": {"bytesValue": "AAAwOQ=="},
        "list": [1, True, None],
        "nan": {"doubleValue": "NaN"},
        "empty list": [],
        "looks": {"kvlistValue": {"bytesValue": "x"}},
    }
    assert one(encode([span])).attributes == span.attributes


def test_ing_23_server_owned_keys_stay_claims() -> None:
    claims = {
        "langwatch.tenant_id": "other",
        "consent.training": "granted",
        "organization_id": "victim",
        "user.id": "u",
    }
    span = one(body(span_json(1, attributes=claims)))
    assert span.attributes == {
        "client.langwatch.tenant_id": "other",
        "client.consent.training": "granted",
        "client.organization_id": "victim",
        "user.id": "u",
    }
    assert "client_claims" in span.flags


def test_clock_skew_is_noted_and_times_are_kept() -> None:
    backwards = one(body(span_json(1) | {"endTimeUnixNano": str(T0)}))
    assert "clock_skew" in backwards.flags
    (early,) = read(body(span_json(1)), received=T0 - DAY)
    assert isinstance(early, Span)
    assert "clock_skew" in early.flags


def _comparable(span: Any) -> Any:
    """A span of OTLP/JSON in the one form that says the same: defaults out, numbers as text, lower-case ids."""
    if isinstance(span, dict):
        held = {key: _comparable(item) for key, item in span.items()}
        held = {key: item for key, item in held.items() if item not in ("", "0", [], {}, None) or key == "value"}
        if set(held) == {"arrayValue"} or set(held) == {"kvlistValue"}:
            return held
        if "attributes" in held:
            held["attributes"] = sorted(held["attributes"], key=lambda item: str(item.get("key")))
        return {
            key: item.lower() if key.endswith(("traceId", "Id")) and isinstance(item, str) else item
            for key, item in held.items()
        }
    if isinstance(span, list):
        return [_comparable(item) for item in span]
    return str(span) if isinstance(span, int | float) and not isinstance(span, bool) else span


@pytest.mark.parametrize("name", ["trace.json", "jaeger_otel_traces_01.json"])
def test_reference_bodies_round_trip_without_loss(cases_dir: Path, name: str) -> None:
    source = (cases_dir / "traces/otlp_reference" / name).read_bytes()
    requests = json.loads(source)
    for request in requests if isinstance(requests, list) else [requests]:
        spans = read(json.dumps(request).encode())
        assert spans
        assert all(isinstance(span, Span) for span in spans), spans
        again = json.loads(encode([span for span in spans if isinstance(span, Span)]))
        assert _flat(again) == _flat(request)


def _flat(request: dict[str, Any]) -> list[Any]:
    return [
        _comparable([group.get("resource"), scoped.get("scope"), span])
        for group in request["resourceSpans"]
        for scoped in group["scopeSpans"]
        for span in scoped["spans"]
    ]


def test_protobuf_and_json_give_the_same_span() -> None:
    request, spans = proto()
    spans[0].attributes.add(key="pi").value.double_value = math.pi
    spans[0].attributes.add(key="b").value.bytes_value = b"\x00\x01"
    spans[0].attributes.add(key="empty")
    spans[0].events.add(name="e", time_unix_nano=T0).attributes.add(key="k").value.int_value = -5
    span = one(request.SerializeToString(), PROTOBUF)
    assert one(encode([span])) == span
    assert Span.model_validate(span.model_dump()) == span


@given(st.binary(max_size=400), st.sampled_from([JSON, PROTOBUF]))
@settings(max_examples=300, deadline=None)
def test_any_bytes_decode_or_are_refused(data: bytes, content_type: str) -> None:
    try:
        results = read(data, content_type)
    except DecodeError:
        return
    assert all(isinstance(item, Span | SpanFault) for item in results)
    assert all(type(item).model_validate(item.model_dump()) == item for item in results)


_NAMES = [
    "traceId", "spanId", "name", "attributes", "events", "links", "status", "code", "key", "value", "stringValue",
    "intValue", "arrayValue", "values", "kvlistValue", "bytesValue", "doubleValue", "startTimeUnixNano", "kind",
    "parentSpanId", "flags",
]  # fmt: skip
_ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["1" * 32, "2" * 16]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(_NAMES),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.lists(_ANY, max_size=4))
@settings(max_examples=300, deadline=None)
def test_any_json_span_is_a_span_or_a_fault(spans: list[Any]) -> None:
    data = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()
    results = read(data)
    assert len(results) == len(spans)
    for item in results:
        item.digest()


@given(st.binary(min_size=1, max_size=60), st.integers(min_value=0, max_value=200))
@settings(max_examples=200, deadline=None)
def test_damaged_protobuf_never_crashes(noise: bytes, at: int) -> None:
    request, _ = proto(3)
    data = bytearray(request.SerializeToString())
    data[at % len(data) : at % len(data) + len(noise)] = noise
    try:
        results = read(bytes(data), PROTOBUF)
    except DecodeError:
        return
    for item in results:
        item.digest()


def test_deep_nesting_is_refused_and_not_a_crash() -> None:
    deep: Any = {"stringValue": "x"}
    for _ in range(80):
        deep = {"arrayValue": {"values": [deep]}}
    (fault,) = read(body(span_json(1) | {"attributes": [{"key": "k", "value": deep}]}))
    assert isinstance(fault, SpanFault)
    with pytest.raises(DecodeError):
        read(b"[" * 200_000)


def test_gzip_members_and_bombs() -> None:
    assert unpack_gzip(gzip.compress(b"ab") + gzip.compress(b"cd"), 10) == b"abcd"
    with pytest.raises(BodyTooLarge):
        unpack_gzip(gzip.compress(b"0" * 10_000_000), 1_000_000)
    for broken in (b"no gzip", gzip.compress(b"abc" * 99)[:-9], zlib.compress(b"x")):
        with pytest.raises(DecodeError):
            unpack_gzip(broken, 1_000)


def test_many_empty_members_do_not_cost_the_square_of_the_body() -> None:
    with pytest.raises(DecodeError, match="members"):
        unpack_gzip(gzip.compress(b"") * 1000, 1 << 20)
    assert unpack_gzip(gzip.compress(b"a") * 64, 1 << 20) == b"a" * 64


def test_the_number_of_spans_of_a_body_is_bounded() -> None:
    for count, refused in ((MAX_SPANS, False), (MAX_SPANS + 1, True)):
        sent = b'{"resourceSpans":[{"scopeSpans":[{"spans":[' + b",".join([b"{}"] * count) + b"]}]}]}"
        if refused:
            with pytest.raises(BodyTooLarge, match="spans"):
                decode(sent, "application/json", received_unix_nano=0)
        else:
            assert len(decode(sent, "application/json", received_unix_nano=0)) == count
