"""Log events: durable as spans are, folded into their spans whatever comes first, and refused one by one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse

from governance.keys import DerivedKeyProvider
from governance.ports.clock import RandomIds, SystemClock
from governance.records.base import to_unix_nano
from governance.records.content import AdmittedSpan
from governance.records.ledger import Fate
from governance.records.message import Role
from governance.records.rights import Purpose
from governance.records.span import Span
from ingestion import dialects
from ingestion.envelope import Envelope
from ingestion.log_events import PARTLY_WITHHELD, fold
from ingestion.merge import merge
from ingestion.otlp_decode import JSON, PROTOBUF, decode
from ingestion.otlp_encode import encode_logs
from ingestion.otlp_fields import SpanFault
from ingestion.receiver import create_app
from ingestion.spool import Spool
from ingestion.telemetry import Telemetry
from tests.ingestion.log_bodies import DETAILS, as_protobuf, logs, record
from tests.ingestion.otlp_bodies import admitted, attributes, body, make_span, serving, span_json
from tests.ingestion.test_drain import Mill, run_of

ASKED = [{"role": "user", "parts": [{"type": "text", "content": "Refund me"}]}]
SAID = [{"role": "assistant", "parts": [{"type": "text", "content": "Done"}]}]
WHOLE = record(
    20, DETAILS, gen_ai__operation__name="chat", gen_ai__input__messages=json.dumps(ASKED),
    gen_ai__output__messages=json.dumps(SAID), gen_ai__system_instructions="Be kind",
)  # fmt: skip
SINGLE = [
    record(1, "gen_ai.system.message", body={"content": "Be kind"}),
    record(2, "gen_ai.user.message", body={"content": "Refund me"}),
    record(3, "gen_ai.choice", body={"index": 0, "finish_reason": "stop", "message": {"content": "Done"}}),
]
SCORED = record(9, "gen_ai.evaluation.result", gen_ai__evaluation__name="kind", gen_ai__evaluation__score__value=1.0)
OTHER = record(11, "gen_ai.something.new", detail="kept", gen_ai__request__model="m")


def read(data: bytes, content_type: str = JSON) -> list[Span | SpanFault]:
    return decode(data, content_type, received_unix_nano=2**62, telemetry=Telemetry.LOGS)


def spans(data: bytes, content_type: str = JSON) -> list[Span]:
    found = read(data, content_type)
    assert all(isinstance(item, Span) for item in found), found
    return [item for item in found if isinstance(item, Span)]


EVERY = [WHOLE, *SINGLE, SCORED, OTHER]


def test_json_and_protobuf_give_the_same_log_spans() -> None:
    data = logs(*EVERY)
    assert spans(data) == spans(as_protobuf(data), PROTOBUF)
    assert len({item.span_id for item in spans(data)}) == len(EVERY)
    assert {item.parent_span_id for item in spans(data)} == {f"{1:016x}"}


def test_the_older_attribute_names_the_event_too() -> None:
    older = record(2, "", body={"content": "Refund me"}, event__name="gen_ai.user.message")
    assert spans(logs(older)) == spans(logs(SINGLE[1]))


def test_a_rewritten_body_gives_the_same_log_spans() -> None:
    found = spans(logs(*EVERY))
    assert spans(encode_logs(found)) == found


@pytest.mark.parametrize("content_type", [JSON, PROTOBUF])
def test_each_record_is_refused_on_its_own_with_the_reason(content_type: str) -> None:
    refused = [
        SINGLE[0] | {"traceId": ""},
        SINGLE[0] | {"spanId": "0" * 16},
        SINGLE[0] | {"eventName": ""},
        SINGLE[0] | {"eventName": "http.request"},
    ]
    data = logs(*refused, SINGLE[1])
    *faults, good = read(data if content_type == JSON else as_protobuf(data), content_type)
    assert [one.reason for one in faults if isinstance(one, SpanFault)] == [
        "trace_id", "span_id", "not_an_event", "not_genai",
    ]  # fmt: skip
    assert isinstance(good, Span)


def said(item: AdmittedSpan) -> list[tuple[Role, str]]:
    assert item.content is not None
    return [(message.role, message.text) for message in (*item.content.input, *item.content.output)]


def folded(*records: dict[str, Any], host: Span | None = None) -> AdmittedSpan:
    arrived = [admitted(host or make_span(1)), *(admitted(item) for item in spans(logs(*records)))]
    (item,) = fold(arrived)
    return item


SPOKEN = [(Role.SYSTEM, "Be kind"), (Role.USER, "Refund me"), (Role.ASSISTANT, "Done")]


def test_a_whole_call_and_single_messages_say_what_the_span_would() -> None:
    assert said(folded(WHOLE)) == SPOKEN
    assert said(folded(*SINGLE)) == SPOKEN


def test_what_is_written_in_several_places_is_not_doubled() -> None:
    told = {"gen_ai.input.messages": json.dumps(ASKED), "gen_ai.output.messages": json.dumps(SAID)}
    own = make_span(1, attributes=told | {"gen_ai.system_instructions": "Be kind"})
    assert said(folded(WHOLE, *SINGLE, host=own)) == SPOKEN


def test_single_messages_say_the_same_as_events_of_the_span() -> None:
    events = [item.events[0] for item in spans(logs(*SINGLE, SCORED))]
    direct = dialects.read(make_span(1, events=events))
    content = folded(*SINGLE, SCORED).content
    assert content is not None
    assert (content.input, content.output, content.evaluations) == (direct.input, direct.output, direct.evaluations)


def test_an_event_that_no_dialect_reads_becomes_an_event_of_the_span() -> None:
    item = folded(OTHER)
    ((name, held),) = [(event.name, event.attributes) for event in item.span.events]
    assert (name, held) == ("gen_ai.something.new", {"gen_ai.request.model": "m"})
    assert item.span.attributes["detail"] == "kept"


def test_logs_whose_span_is_not_there_wait_as_orphans() -> None:
    alone = [admitted(item) for item in spans(logs(*SINGLE))]
    assert fold(alone) == alone


def test_withheld_logs_mark_their_span() -> None:
    (log,) = spans(logs(WHOLE))
    (item,) = fold([admitted(make_span(1)), admitted(log, keep=False)])
    assert PARTLY_WITHHELD in item.span.flags
    (item,) = fold([admitted(make_span(1), keep=False), admitted(log, keep=False)])
    assert (item.content, PARTLY_WITHHELD in item.span.flags) == (None, False)


def versions() -> list[AdmittedSpan]:
    begun, ended = make_span(1, end_unix_nano=0, name="old"), make_span(1, attributes={"gen_ai.operation.name": "chat"})
    return [admitted(one) for one in (begun, ended, make_span(2, 1), *spans(logs(*EVERY)))]


def gathered(arrived: list[AdmittedSpan]) -> list[str]:
    kept: dict[str, AdmittedSpan] = {}
    for item in arrived:
        before = kept.get(item.span.span_id)
        kept[item.span.span_id] = item if before is None else merge(before, item)
    return sorted(item.digest() for item in fold(list(kept.values())))


@settings(deadline=None)
@given(st.permutations(versions()), st.lists(st.sampled_from(versions()), max_size=6))
def test_any_order_and_any_repetition_of_spans_and_logs_end_in_one_state(
    order: list[AdmittedSpan], again: list[AdmittedSpan]
) -> None:
    assert gathered([*order, *again]) == gathered(versions())


@settings(deadline=None)
@given(st.permutations(versions()), st.integers(0, 9))
def test_grouping_does_not_matter(order: list[AdmittedSpan], cut: int) -> None:
    """Two halves merged on their own and then together are the whole."""
    halves: list[dict[str, AdmittedSpan]] = [{}, {}]
    for position, item in enumerate(order):
        half = halves[position >= cut]
        before = half.get(item.span.span_id)
        half[item.span.span_id] = item if before is None else merge(before, item)
    assert gathered([*halves[1].values(), *halves[0].values()]) == gathered(versions())


# Through the drain


@pytest.fixture
def mill(tmp_path: Path) -> Iterator[Mill]:
    mill = Mill(tmp_path)
    yield mill
    mill.close()


def send_logs(mill: Mill, *records: dict[str, Any]) -> None:
    received = to_unix_nano(mill.clock.now())
    envelope = Envelope(telemetry=Telemetry.LOGS, content_type=JSON, received_unix_nano=received, body=logs(*records))
    mill.spool.append("acme", envelope.pack())


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("first", ["logs", "spans", "together"])
def test_whichever_arrives_first_the_trajectory_is_the_same(tmp_path: Path, first: str, named: bool) -> None:
    mill = Mill(tmp_path, hold=timedelta(seconds=30))
    mill.contract()
    trace = "a" * 32
    held = {"gen_ai.operation.name": "chat", "user.id": "ann@example.org"}
    chat = span_json(1, None, trace, attributes=held)
    # Where the logs name the person themselves, their span may even be drained before they come.
    who = attributes({"user.id": "ann@example.org"}) if named else []
    records = [one | {"traceId": trace, "attributes": who} for one in SINGLE]
    for what in ("spans", "logs") if first == "spans" else ("logs", "spans"):
        if what == "logs":
            send_logs(mill, *records)
        else:
            mill.send(chat)
        if first == "logs" or (first == "spans" and named):
            mill.drain.run()
        else:
            mill.spool.seal()
    mill.clock.advance(timedelta(minutes=1))
    mill.drain.run()
    (trajectory,) = mill.trajectories(Purpose.COMPLY)
    assert [turn.message.text for turn in trajectory.turns] == ["Refund me", "Done"]
    assert (mill.line().received, mill.line().fates) == (4, {Fate.STORED: {"": 4}})
    send_logs(mill, *records)
    mill.clock.advance(timedelta(minutes=1))
    mill.drain.run()
    assert mill.line().fates[Fate.DUPLICATE] == {"": 3}
    mill.close()


def test_logs_that_come_after_their_span_was_drained_belong_to_the_person_of_its_trace(mill: Mill) -> None:
    mill.contract()
    mill.send(*run_of())
    mill.drain.run()
    send_logs(mill, *[one | {"traceId": "a" * 32} for one in SINGLE])
    mill.drain.run()
    (trajectory,) = mill.trajectories(Purpose.COMPLY)
    assert "withheld" not in trajectory.incomplete
    assert mill.line().withheld == 0
    spans = mill.store.spans.trace("acme", "a" * 32, Purpose.COMPLY)
    assert {item.subject for item in spans} == {mill.door.subject("acme", "ann@example.org")}


def test_logs_of_a_trace_that_names_nobody_are_withheld_visibly(mill: Mill) -> None:
    mill.contract()
    mill.send(*run_of(user=None))
    mill.drain.run()
    send_logs(mill, *[one | {"traceId": "a" * 32} for one in SINGLE])
    mill.drain.run()
    (trajectory,) = mill.trajectories(Purpose.COMPLY)
    assert "withheld" in trajectory.incomplete
    assert mill.line().withheld == 5


def test_the_ledger_counts_records_that_are_refused(mill: Mill) -> None:
    mill.contract()
    mill.send(*run_of())
    send_logs(mill, SINGLE[0] | {"traceId": "a" * 32, "eventName": "other"})
    mill.drain.run()
    assert mill.line().fates[Fate.REJECTED] == {"not_genai": 1}


def test_a_mail_in_a_log_is_masked(mill: Mill) -> None:
    mill.contract()
    mill.send(*run_of(text="hi"))
    told = record(30, "gen_ai.user.message", trace="a" * 32, body={"content": "I am ann@example.org, refund"})
    send_logs(mill, told, record(29, "gen_ai.system.message", trace="a" * 32, body={"content": "Be kind"}))
    mill.drain.run()
    (trajectory,) = mill.trajectories(Purpose.COMPLY)
    assert trajectory.turns[0].message.text == "I am user15@masked.invalid, refund"
    assert "ann@" not in trajectory.model_dump_json()


# Over HTTP


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    spool = Spool(tmp_path / "spool", DerivedKeyProvider("logs test"), SystemClock(), RandomIds())
    yield spool
    spool.close()


@pytest.fixture
def url(spool: Spool, free_port: int) -> Iterator[str]:
    with serving(create_app(spool, {"key": "acme"}), free_port) as base:
        yield base


def post(url: str, path: str, data: bytes, content_type: str) -> httpx.Response:
    return httpx.post(url + path, content=data, headers={"x-tidemill-key": "key", "content-type": content_type})


def test_logs_are_durable_and_partial_success_names_reasons(url: str, spool: Spool) -> None:
    data = logs(*EVERY, SINGLE[0] | {"eventName": "other"})
    reply = post(url, "/v1/logs", data, JSON)
    assert (reply.status_code, reply.json()["partialSuccess"]["rejectedLogRecords"]) == (200, "1")
    assert "not_genai" in reply.json()["partialSuccess"]["errorMessage"]
    parsed = ExportLogsServiceResponse.FromString(post(url, "/v1/logs", as_protobuf(data), PROTOBUF).content)
    assert parsed.partial_success.rejected_log_records == 1
    spool.seal()
    kept = [Envelope.unpack(payload) for one in spool.sealed() for _, payload in spool.read(one)]
    assert [one.telemetry for one in kept] == [Telemetry.LOGS] * 2
    assert kept[0].spans() == kept[1].spans()
    assert 'tidemill_intake_log_records_total{answer="accepted",reason="",tenant="acme"} 12.0' in metrics(url)


def metrics(url: str) -> str:
    return httpx.get(f"{url}/metrics").text


@pytest.mark.parametrize("content_type", [JSON, PROTOBUF])
@pytest.mark.parametrize(
    ("path", "held"),
    [("/v1/logs", "traces"), ("/v1/traces", "logs")],
)
def test_the_wrong_path_says_what_it_holds_and_where_it_belongs(
    url: str, spool: Spool, path: str, held: str, content_type: str
) -> None:
    right = f"/v1/{held}"
    data = logs(*SINGLE) if held == "logs" else body(span_json(1), span_json(2, attributes={"a": "b"}))
    reply = post(url, path, data if content_type == JSON else as_protobuf(data), content_type)
    assert reply.status_code == 400
    message = reply.json()["message"] if content_type == JSON else Status.FromString(reply.content).message
    assert f"export of {held} on the path of {path.removeprefix('/v1/')}: send it to POST {right}" in message
    assert spool.bytes_held() == 0


@settings(deadline=None, max_examples=300)
@given(st.integers(0, 2**16), st.binary(min_size=1, max_size=8), st.sampled_from([JSON, PROTOBUF]))
def test_broken_bodies_are_read_or_refused_and_never_crash(at: int, noise: bytes, content_type: str) -> None:
    from ingestion.errors import DecodeError

    data = bytearray(logs(*EVERY) if content_type == JSON else as_protobuf(logs(*EVERY)))
    data[at % len(data) : at % len(data) + len(noise)] = noise
    try:
        results = read(bytes(data), content_type)
    except DecodeError:
        return
    for item in results:
        item.digest()
