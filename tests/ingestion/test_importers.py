"""Importers: each form is told from what the file holds, and the spans read like any other's."""

from __future__ import annotations

import gzip
import io
import json
import struct
import zipfile
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from governance.records.span import Span
from governance.records.trajectory import Trajectory
from ingestion.assembly import assemble
from ingestion.errors import FormUnknown, ImportRefused
from ingestion.importers import FORMS, FileLimits, Refused, recognise, recognise_file
from ingestion.importers.ids import span_id, trace_id
from ingestion.importers.times import duration_nano, place, unix_nano
from ingestion.otlp_decode import JSON, decode
from ingestion.otlp_encode import encode
from tests.ingestion import import_documents as documents
from tests.ingestion.import_documents import DOCUMENTS, TRACE
from tests.ingestion.otlp_bodies import admitted


def imported(document: Any, source: str = "file.json") -> tuple[list[Span], list[Refused]]:
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    items = list(recognise(data, source).spans())
    return [one for one in items if isinstance(one, Span)], [one for one in items if isinstance(one, Refused)]


def received(spans: Iterable[Span]) -> list[Span]:
    """The spans as the intake reads them from the body that is sent for them."""
    decoded = decode(encode(list(spans)), JSON, received_unix_nano=2**62)
    assert all(isinstance(one, Span) for one in decoded), decoded
    return [one for one in decoded if isinstance(one, Span)]


def run_of(document: Any) -> Trajectory:
    spans, refused = imported(document)
    assert not refused
    return assemble([admitted(span) for span in received(spans)])


def said(run: Trajectory) -> list[str]:
    return [turn.message.text for turn in run.turns if turn.message.text]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_each_form_is_told_from_the_document_and_by_no_other_form(name: str) -> None:
    document = DOCUMENTS[name]
    assert recognise(json.dumps(document).encode(), "a").form.name == name
    assert [form.name for form in FORMS if form.recognises(document)] == [name]
    spans, refused = imported(document)
    assert spans
    assert not refused
    assert len(received(spans)) == len(spans)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_file_imported_twice_gives_the_same_spans(name: str) -> None:
    document = DOCUMENTS[name]
    packed = gzip.compress(json.dumps(document, indent=1).encode())
    assert imported(document, "one.json")[0] == imported(packed, "another name.gz")[0]


@pytest.mark.parametrize("name", ["langfuse", "langsmith", "mlflow", "inspect", "tau_bench"])
def test_the_same_conversation_is_the_same_trajectory_in_every_form(name: str) -> None:
    run = run_of(DOCUMENTS[name])
    assert said(run) == ["Is it open?", "Yes."]
    (call,) = run.calls
    assert call.name.lower() in ("hours", "tool")
    assert (call.arguments, call.result) == ({"day": "Sunday"}, {"open": True})
    if name != "tau_bench":
        assert (run.usage.input_tokens, run.usage.output_tokens) == (21, 7)


def test_an_otlp_span_is_the_span_that_the_intake_receives() -> None:
    document = documents.otlp()
    spans, _ = imported(document)
    wired = decode(json.dumps(document).encode(), JSON, received_unix_nano=2**62)
    assert received(spans) == wired
    assert wired[0].attributes["client.tenant.id"] == "claimed"  # type: ignore[union-attr]


def test_otlp_comes_in_protobuf_and_line_by_line_and_a_broken_line_costs_itself() -> None:
    from google.protobuf.json_format import ParseDict  # type: ignore[import-untyped]
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    document = documents.otlp()
    as_protobuf = json.loads(json.dumps(document))
    as_protobuf["resourceSpans"][0]["scopeSpans"][0]["spans"][0] |= {
        "traceId": "CvdlGRbNQ92ESOshHIAxnA==",
        "spanId": "APBnqgupArc=",
    }
    data = ParseDict(as_protobuf, ExportTraceServiceRequest()).SerializeToString()
    lines = b"\n".join([json.dumps(document).encode(), b'{"resourceSpans": [', json.dumps(document).encode()])
    assert imported(data)[0] == imported(document)[0]
    spans, refused = imported(lines)
    assert len(spans) == 2
    assert [item.where for item in refused] == ["file.json: line 2"]


def test_trail_nests_and_keeps_nanoseconds_and_durations() -> None:
    root, llm = imported(documents.trail())[0]
    assert llm.parent_span_id == root.span_id
    assert llm.start_unix_nano % 10**9 == 123456789
    assert llm.end_unix_nano - llm.start_unix_nano == 1_500_000_000
    assert root.end_unix_nano - root.start_unix_nano == 62 * 10**9
    run = run_of(documents.trail())
    assert said(run) == ["Where is Uluru?", "In Australia."]
    assert (run.usage.input_tokens, run.usage.output_tokens) == (12, 4)


def test_langfuse_keeps_original_attributes_person_session_and_scores() -> None:
    spans = {span.name: span for span in imported(documents.langfuse())[0]}
    assert len(spans) == 3
    assert spans["llm"].resource == {"service.name": "helpdesk"}
    assert (spans["llm"].scope_name, spans["llm"].scope_version) == ("langfuse-sdk", "3.0.0")
    assert all(span.attributes["user.id"] == "C-7" for span in spans.values())
    (score,) = spans["helpdesk"].events
    assert score.attributes["gen_ai.evaluation.score.value"] == 1.0


def test_langfuse_content_stands_in_only_where_the_original_attributes_say_nothing() -> None:
    document = documents.langfuse()
    original = json.dumps([{"role": "user", "content": "As it was sent"}])
    metadata = json.dumps({"attributes": {"gen_ai.input.messages": original}})
    document["observations"][1]["metadata"] = metadata
    spans = {span.name: span for span in imported(document)[0]}
    assert spans["llm"].attributes["gen_ai.input.messages"] == original


def test_langfuse_keeps_tool_definitions_and_older_calls_where_they_belong() -> None:
    document = documents.langfuse()
    chat, tool = document["observations"][1:]
    definition = {"type": "function", "function": {"name": "hours", "parameters": {"type": "object"}}}
    called = chat["output"].pop("tool_calls")
    chat["output"]["additional_kwargs"] = {"tool_calls": called}
    chat["input"].append({"role": "tool", "content": definition})
    tool |= {"type": "SPAN", "output": {"type": "tool", "content": '{"open": true}', "tool_call_id": "k1"}}
    spans = {span.name: span for span in imported(document)[0]}
    assert json.loads(spans["llm"].attributes["gen_ai.tool.definitions"]) == [definition]
    assert len(json.loads(spans["llm"].attributes["gen_ai.input.messages"])) == 1
    assert json.loads(spans["llm"].attributes["gen_ai.output.messages"])[0]["tool_calls"] == called
    (call,) = run_of(document).calls
    assert (call.call_id, call.arguments, call.result) == ("k1", {"day": "Sunday"}, {"open": True})


def test_langsmith_merges_the_parts_of_a_run_and_reads_nested_runs() -> None:
    spans = {span.name: span for span in imported(documents.langsmith())[0]}
    root = spans["AgentExecutor"]
    assert root.trace_id == documents.RUN.replace("-", "")
    assert root.attributes["tidemill.import.id"] == documents.RUN
    assert (root.attributes["user.id"], root.attributes["session.id"]) == ("C-7", "s-1")
    assert {span.parent_span_id for span in spans.values()} == {None, root.span_id}
    post = documents.langsmith()["post"]
    nested = {**post[0], "outputs": {"output": "Yes."}, "end_time": 1728680308000}
    nested["child_runs"] = [{key: value for key, value in run.items() if key != "parent_run_id"} for run in post[1:]]
    assert {span.span_id for span in imported(nested)[0]} == {span.span_id for span in spans.values()}
    assert said(run_of(nested)) == ["Is it open?", "Yes."]


def test_mlflow_ids_in_base64_and_in_its_second_version() -> None:
    spans, _ = imported(documents.mlflow())
    assert {span.trace_id for span in spans} == {TRACE}
    span = {
        "name": "agent", "context": {"span_id": "0xd000000000000001", "trace_id": f"0x{TRACE}"}, "parent_id": None,
        "start_time": 1_700_000_000_000_000_000, "end_time": 1_700_000_001_000_000_000, "status_code": "ERROR",
        "attributes": {"mlflow.spanType": '"AGENT"'},
    }  # fmt: skip
    (old,), _ = imported({"info": {"request_id": "r"}, "data": {"spans": [span]}})
    assert (old.trace_id, old.span_id, old.status_code) == (TRACE, "d000000000000001", 2)


def test_phoenix_flattens_nested_attributes_and_reads_both_sdks() -> None:
    llm, agent = imported(documents.phoenix())[0]
    assert llm.attributes["llm.input_messages.0.message.content"] == "Is it open?"
    assert llm.attributes["llm.token_count.prompt"] == 21
    assert (llm.parent_span_id, llm.trace_id, llm.status_code) == (agent.span_id, TRACE, 1)
    assert (agent.start_unix_nano, agent.status_code) == (1714521600 * 10**9 + 5, 2)


def test_phoenix_pages_name_the_kind_beside_the_attributes() -> None:
    span = {
        "id": "s", "name": "hours", "context": {"trace_id": TRACE, "span_id": "e000000000000003"}, "span_kind": "TOOL",
        "parent_id": None, "start_time": "2024-05-01T00:00:00Z", "end_time": "2024-05-01T00:00:01Z",
        "status_code": "OK",
        "attributes": {"tool.name": "hours", "input.value": '{"day": "Sunday"}', "output.value": '{"open": true}'},
    }  # fmt: skip
    (call,) = run_of({"data": [span], "next_cursor": None}).calls
    assert (call.name, call.arguments, call.result) == ("hours", {"day": "Sunday"}, {"open": True})


def test_an_inspect_archive_is_the_same_run_as_the_log_in_json() -> None:
    assert imported(documents.inspect_archive(), "a.eval")[0] == imported(documents.inspect_log())[0]
    root, *_ = imported(documents.inspect_log())[0]
    assert root.events[0].attributes["gen_ai.evaluation.score.label"] == "C"


def test_tau_bench_names_the_customer_the_reward_and_that_times_are_made() -> None:
    root, *steps = imported(documents.tau_bench())[0]
    assert root.attributes["user.id"] == "ann_1"
    assert root.events[0].attributes["gen_ai.evaluation.score.value"] == 1.0
    assert all("start" in span.attributes["tidemill.import.derived"] for span in (root, *steps))
    starts = [span.start_unix_nano for span in (root, *steps)]
    assert starts == sorted(set(starts))
    assert run_of(documents.tau_bench()).started_at == datetime(1973, 3, 3, 9, 46, 40, tzinfo=UTC)


def test_swe_agent_actions_are_calls_with_the_next_observation_as_result() -> None:
    run = run_of(documents.swe_agent())
    called = [(call.name, call.arguments["command"]) for call in run.calls]
    assert called == [
        ("open", "open a.py\n"),
        ("submit", "submit"),
    ]
    assert run.calls[0].result == "[File: a.py]"
    assert (run.usage.input_tokens, run.usage.output_tokens) == (900, 40)


@pytest.mark.parametrize(
    ("original", "is_trace", "expected"),
    [
        (TRACE.upper(), True, TRACE),
        (f"0x{TRACE}", True, TRACE),
        (int(TRACE, 16), True, TRACE),
        ("0af76519-16cd-43dd-8448-eb211c80319c", True, TRACE),
        ("CvdlGRbNQ92ESOshHIAxnA==", True, TRACE),
        ("00f067aa0ba902b7", False, "00f067aa0ba902b7"),
        ("0" * 32, True, None),
        ("", True, None),
        (None, False, None),
        (True, False, None),
        ("00000000-0000-0000-0000-000000000000", True, trace_id("00000000-0000-0000-0000-000000000000", "f")),
    ],
)
def test_ids_follow_one_rule(original: Any, is_trace: bool, expected: str | None) -> None:
    assert (trace_id if is_trace else span_id)(original, "f") == expected


def test_other_ids_are_hashed_with_the_forms_name() -> None:
    assert span_id("llm-1", "f") == span_id("llm-1", "f") != span_id("llm-1", "g")
    assert len(trace_id("abc", "f") or "") == 32


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1_700_000_000, 1_700_000_000 * 10**9),
        (1_700_000_000_123, 1_700_000_000_123 * 10**6),
        (1_700_000_000_123_456, 1_700_000_000_123_456 * 10**3),
        (1_700_000_000_123_456_789, 1_700_000_000_123_456_789),
        ("1700000000123456789", 1_700_000_000_123_456_789),
        (1_700_000_000.5, 1_700_000_000_500_000_000),
        ([1_700_000_000, 7], 1_700_000_000 * 10**9 + 7),
        ("2023-11-14T22:13:20Z", 1_700_000_000 * 10**9),
        ("2023-11-15T00:13:20.000000001+02:00", 1_700_000_000 * 10**9 + 1),
        ("2023-11-14 22:13:20", 1_700_000_000 * 10**9),
        ("2023-13-14T22:13:20Z", 0),
        ("yesterday", 0),
        (-5, 0),
        (float("inf"), 0),
        (None, 0),
        (True, 0),
    ],
)
def test_times_are_exact_in_every_writing(value: Any, expected: int) -> None:
    assert unix_nano(value) == expected


def test_a_made_time_is_read_as_itself() -> None:
    assert [unix_nano(place(position)) for position in (0, 7)] == [place(0), place(7)]


def test_durations() -> None:
    assert duration_nano("PT1M2.5S") == 62_500_000_000
    assert duration_nano("P1DT1H") == 90_000 * 10**9
    assert duration_nano("soon") == 0


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "holds nothing"),
        (b'{"a": ', "not JSON"),
        (b'{"hello": 1}', "an object with 'hello'"),
        (b"[]", "an empty list"),
        (b"just words", "neither JSON nor an archive"),
        (b"[" * 5000 + b"]" * 5000, "nested"),
        (b'{"resourceMetrics": []}', "'resourceMetrics'"),
        (b"\x1f\x8bbroken", "not gzip"),
        (b"PK\x03\x04broken", "not an archive"),
    ],
)
def test_what_is_no_export_is_refused_with_the_reason(data: bytes, words: str) -> None:
    with pytest.raises(ImportRefused, match=words):
        recognise(data, "a.json")


def test_a_refusal_names_every_form_that_was_tried_and_what_it_needs() -> None:
    with pytest.raises(FormUnknown) as told:
        recognise(b'{"hello": "secret"}', "a.json")
    assert all(f"{form.name} needs {form.needs}" in str(told.value) for form in FORMS)
    assert "secret" not in str(told.value)


def test_packed_files_stop_at_the_bound() -> None:
    limits = FileLimits(max_unpacked_bytes=1000, max_members=2)
    with pytest.raises(ImportRefused, match="unpacks to more"):
        recognise(gzip.compress(b" " * 100_000), "a.gz", limits)
    for members, words in (
        ({"header.json": " " * 100_000}, "unpacks to more"),
        ({"a.json": "1", "b.json": "1", "c.json": "1"}, "more than 2 members"),
        ({"../../etc/a.json": "1"}, "leads outside"),
        ({"/etc/a.json": "1"}, "leads outside"),
        ({"..\\a.json": "1"}, "leads outside"),
    ):
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        with pytest.raises(ImportRefused, match=words):
            recognise(held.getvalue(), "a.eval", limits)


def test_an_archive_whose_offsets_lead_nowhere_is_refused() -> None:
    """A zip64 entry that says its member begins at 2**64 - 1."""
    name, extra = b"a.json", struct.pack("<HHQ", 1, 8, 2**64 - 1)
    entry = struct.pack(
        "<4s6H3I5H2I", b"PK\x01\x02", 45, 45, 0, 0, 0, 33, 0, 2, 2, len(name), len(extra), 0, 0, 0, 0, 0xFFFFFFFF
    )
    start, directory = b"PK\x03\x04" + bytes(26), entry + name + extra
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 1, 1, len(directory), len(start), 0)
    with pytest.raises(ImportRefused, match="not an archive that can be read"):
        recognise(start + directory + end, "a.eval")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_archive_that_cannot_be_unpacked_in_steps_is_refused(method: int) -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", method) as archive:
        archive.writestr("header.json", "{}")
    with pytest.raises(ImportRefused, match=f"packed by method {method}"):
        recognise(held.getvalue(), "a.eval")


def test_only_regular_files_within_the_bound_are_read(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_bytes(json.dumps(documents.otlp()).encode())
    assert recognise_file(file).form.name == "otlp"
    with pytest.raises(ImportRefused, match="larger than 10 bytes"):
        recognise_file(file, FileLimits(max_file_bytes=10))
    with pytest.raises(ImportRefused, match="no regular file"):
        recognise_file(tmp_path)
    with pytest.raises(ImportRefused, match="no such file"):
        recognise_file(tmp_path / "gone.json")


def test_a_long_conversation_stays_within_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    from ingestion.importers import conversation

    monkeypatch.setattr(conversation, "HISTORY", 5_000)
    turn = [{"role": "user", "content": "again"}, {"role": "assistant", "content": "x" * 100}]
    spans, _ = imported([{"task_id": 1, "reward": 0, "traj": turn * 200}])
    held = sum(len(span.attributes.get("gen_ai.input.messages", "")) for span in spans)
    assert held < 5_000 + 200 * 200
    assert "history" in spans[-1].attributes["tidemill.import.derived"]


LINED = tuple(name for name in DOCUMENTS if name not in {"inspect", "swe_agent"})
"""The forms of which a file may hold several, line by line."""


@pytest.mark.parametrize("name", LINED)
def test_a_line_of_another_kind_is_named_and_costs_no_other(name: str) -> None:
    """Right behind the first line, where a form is still told, and at the end."""
    document = DOCUMENTS[name]
    lines = [json.dumps(item) for item in (document if isinstance(document, list) else [document])]
    alone = list(recognise("\n".join(lines).encode(), "a.jsonl").spans())
    mixed = recognise("\n".join([lines[0], "null", *lines[1:], '{"hello":1}']).encode(), "a.jsonl")
    assert mixed.form.name == name
    items = list(mixed.spans())
    assert {one.span_id for one in items if isinstance(one, Span)} == {
        one.span_id for one in alone if isinstance(one, Span)
    }
    assert len([one for one in items if isinstance(one, Refused)]) == 2
