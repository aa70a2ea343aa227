"""Every parser on hostile input: nothing but its declared errors comes out, and door and drain count the same.

Each test has a sibling marked ``long`` with a budget of its own.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from prometheus_client.parser import text_string_to_metric_families

from governance.records.content import AdmittedSpan
from governance.records.ledger import Fate
from governance.records.span import Span
from ingestion import dialects, encodings
from ingestion import segment as segments
from ingestion.assembly import assemble
from ingestion.batch import read_groups
from ingestion.envelope import Envelope
from ingestion.errors import DecodeError, IngestionError, SegmentCorrupt, SpoolError
from ingestion.feedback.body import FeedbackEnvelope
from ingestion.importers import FileLimits, recognise
from ingestion.log_events import fold
from ingestion.merge import merge, normal
from ingestion.otlp_check import check
from ingestion.otlp_decode import JSON, PROTOBUF, decode
from ingestion.setting_aside import set_aside
from ingestion.telemetry import Telemetry
from tests.ingestion.hostile import PACKERS, Posted, changed, damaged, documents, requests
from tests.ingestion.import_documents import DOCUMENTS
from tests.ingestion.otlp_bodies import T0, admitted, make_span
from tests.ingestion.pipe import SECRET, Pipe

ANSWERS = {200, 400, 413, 415}
KEY = SECRET.key


def budget(examples: int, long: int) -> Callable[[Any], Any]:
    """The same property twice: within seconds, and marked ``long``."""

    def decorate(test: Any) -> Any:
        rules = {"deadline": None, "suppress_health_check": list(HealthCheck), "print_blob": True}
        quick = settings(max_examples=examples, **rules)(test)  # type: ignore[arg-type]
        slow = settings(max_examples=long, **rules)(_copy(test))  # type: ignore[arg-type]
        globals()[f"{test.__name__}_for_long"] = pytest.mark.long(slow)
        return quick

    return decorate


def _copy(test: Any) -> Any:
    import types

    inner = test.hypothesis.inner_test
    twin = types.FunctionType(inner.__code__, inner.__globals__, f"{inner.__name__}_for_long", inner.__defaults__)
    twin.__annotations__ = inner.__annotations__
    twin.__kwdefaults__ = inner.__kwdefaults__
    return given(**test.hypothesis._given_kwargs)(twin)


def counted(pipe: Pipe) -> Counter[str]:
    """What the door has said so far, by answer, spans and log records and feedback together."""
    total: Counter[str] = Counter()
    for family in text_string_to_metric_families(pipe.http.get("/metrics").text):
        for sample in family.samples:
            if sample.name.endswith("_total") and {"tenant", "answer"} <= sample.labels.keys():
                total[sample.labels["answer"]] += int(sample.value)
    return total


@budget(30, 600)
@given(sent=st.lists(requests(), min_size=1, max_size=6))
def test_door_and_drain_count_the_same(sent: list[Posted], tmp_path_factory: pytest.TempPathFactory) -> None:
    pipe = Pipe(tmp_path_factory.mktemp("fuzz"))
    door: Counter[str] = Counter()
    for path, kind, encoding, content in sent:
        before = counted(pipe)
        reply = pipe.post(content, kind, path, **({"content-encoding": encoding} if encoding else {}))
        assert reply.status_code in ANSWERS, reply.text
        said = counted(pipe) - before
        if reply.status_code == 200:  # of what is refused whole, nothing is taken
            door += said
            assert said["rejected"] == refused(reply, kind)
    report = pipe.drain()
    fates: Counter[str] = Counter()
    for line in pipe.store.ledger.lines():
        fates.update({fate.value: sum(reasons.values()) for fate, reasons in line.fates.items()})
    kept = Counter(report.fates)
    assert report.received == sum(door.values())
    assert kept == fates
    assert kept[Fate.REJECTED.value] == door["rejected"]
    assert kept[Fate.QUARANTINED.value] == 0
    assert pipe.store.spans.dirty_traces() == []
    assert pipe.spool.segments_held() == 0
    assert pipe.drain().received == 0
    pipe.close()


def refused(reply: Any, kind: str) -> int:
    """How many entries the sender was told are refused."""
    if kind == PROTOBUF:
        parsed = ExportTraceServiceResponse.FromString(reply.content)  # the responses of all signals have one form
        return int(parsed.partial_success.rejected_spans)
    told = reply.json()
    partial_success = told.get("partialSuccess", {})
    counts = [partial_success.get(name) for name in ("rejectedSpans", "rejectedLogRecords", "rejected")]
    return int(next((count for count in counts if count is not None), told.get("rejected", 0)))


@budget(150, 2_500)
@given(data=st.data())
def test_decoding_gives_entries_or_a_decode_error(data: st.DataObject) -> None:
    content = data.draw(requests().filter(lambda sent: not sent.encoding)).content
    oldest = data.draw(st.sampled_from([None, 0, 10**9]))
    for telemetry in Telemetry:
        for kind in (JSON, PROTOBUF):
            envelope = Envelope(
                telemetry=telemetry, content_type=kind, received_unix_nano=T0, max_age_nano=oldest, body=content
            )
            try:
                found = envelope.spans()
            except DecodeError as refusal:
                for read in (envelope.spans, partial(check, envelope)):
                    with pytest.raises(type(refusal)):
                        read()
                continue
            assert envelope.spans() == found
            counted_at_the_door = check(envelope)
            assert counted_at_the_door.entries == len(found)
            assert counted_at_the_door.faults == [item for item in found if not isinstance(item, Span)]
            kept = envelope.model_copy(update={"entries": counted_at_the_door.entries})
            for group in read_groups([("acme", kept.pack())]):
                assert group.received == len(group.spans) + len(group.fates) == len(found)


@budget(150, 2_500)
@given(data=st.data(), encoding=st.sampled_from(sorted({*PACKERS, "zstd"})))
def test_unpacking_gives_bytes_within_the_bound_or_a_decode_error(data: st.DataObject, encoding: str) -> None:
    content = data.draw(st.binary(max_size=300)) * data.draw(st.integers(1, 400))
    packed = data.draw(damaged(PACKERS.get(encoding, bytes)(content)))
    try:
        assert len(encodings.unpack(encoding, packed, 40_000)) <= max(40_000, len(packed))
    except DecodeError:
        return


@budget(150, 2_500)
@given(data=st.data())
def test_feedback_gives_items_or_a_decode_error(data: st.DataObject) -> None:
    from tests.ingestion.hostile import FEEDBACK_ITEMS

    content = json.dumps(data.draw(changed(FEEDBACK_ITEMS))).encode()
    if data.draw(st.booleans()):
        content = data.draw(damaged(content))
    envelope = FeedbackEnvelope(received_unix_nano=T0, body=content)
    try:
        assert envelope.items() == envelope.items()
    except DecodeError:
        return


@budget(100, 2_500)
@given(data=st.data())
def test_any_trace_is_read_merged_and_assembled(data: st.DataObject) -> None:
    _, document = data.draw(documents().filter(lambda found: found[0] == "/v1/traces"))
    content = json.dumps(data.draw(changed(document))).encode()
    try:
        found = decode(content, JSON, received_unix_nano=T0)
    except DecodeError:
        return
    traces: dict[str, dict[str, AdmittedSpan]] = {}
    for span in (item for item in found if isinstance(item, Span)):
        one = normal(admitted(span))
        of_trace = traces.setdefault(span.trace_id, {})
        held = of_trace.get(span.span_id)
        of_trace[span.span_id] = one if held is None else merge(held, one)
        assert dialects.strip(dialects.strip(span)) == dialects.strip(span)
    for of_trace in traces.values():
        run = assemble(fold(list(of_trace.values())))
        assert run == assemble(fold(list(reversed(of_trace.values()))))


@budget(80, 2_500)
@given(data=st.data(), name=st.sampled_from(sorted(DOCUMENTS)))
def test_a_file_is_imported_or_refused(data: st.DataObject, name: str) -> None:
    content = json.dumps(data.draw(changed(DOCUMENTS[name]))).encode()
    if data.draw(st.booleans()):
        content = data.draw(damaged(content))
    try:
        items = list(recognise(content, "file", FileLimits(max_file_bytes=2**20, max_unpacked_bytes=2**22)).spans())
    except IngestionError:
        return
    for span in (item for item in items if isinstance(item, Span)):
        dialects.read(span)


@budget(150, 2_500)
@given(payload=st.binary(max_size=200) | st.sampled_from([b"{}\n", b"\n", b'{"holds":"feedback"}\n{}', b"[]\nx"]))
def test_a_record_of_the_spool_is_an_envelope_or_a_spool_error(payload: bytes) -> None:
    try:
        read_groups([("acme", payload)])
    except SpoolError:
        return


@budget(60, 1_500)
@given(data=st.data())
def test_a_damaged_segment_gives_what_was_written_or_says_that_it_is_damaged(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder: Path = tmp_path_factory.mktemp("segment")
    key = b"k" * 32
    written = [("acme", item) for item in data.draw(st.lists(st.binary(max_size=40), min_size=1, max_size=5))]
    writer = segments.SegmentWriter(folder, "1-a", key)
    for one in written:
        writer.write([one])
    writer.close()
    path = folder / data.draw(st.sampled_from(["1-a.open", "1-a.key"]))
    path.write_bytes(data.draw(damaged(path.read_bytes())))
    segments.seal_segment(folder, "1-a")
    try:
        found = segments.read_segment(folder, "1-a", key)
    except (SegmentCorrupt, SpoolError):
        return
    assert found == written[: len(found)]


@budget(60, 1_500)
@given(data=st.data())
def test_what_is_sealed_opens_whole_or_not_at_all(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    pipe = _closed_pipe(tmp_path_factory)
    aside = set_aside(pipe.spool, "place", [make_span(1, attributes={"text": "x"})], "ann", "masking_failed")
    label = f"tidemill quarantine {aside.id}"
    whole = pipe.spool.open_aside(label, aside.sealed)
    sealed = data.draw(damaged(aside.sealed))
    try:
        assert pipe.spool.open_aside(label, sealed) == whole
        assert sealed == aside.sealed
    except SpoolError:
        return


_PIPES: list[Pipe] = []


def _closed_pipe(factory: pytest.TempPathFactory) -> Pipe:
    """One pipe for all examples: only its key is used."""
    if not _PIPES:
        _PIPES.append(Pipe(factory.mktemp("sealed")))
    return _PIPES[0]
