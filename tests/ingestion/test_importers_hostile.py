"""Importers on hostile input: whatever the bytes are, nothing but an error of the ingestion tree comes out."""

from __future__ import annotations

import gzip
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from governance.records.span import Span
from ingestion import dialects
from ingestion.errors import IngestionError
from ingestion.importers import FORMS, FileLimits, recognise
from ingestion.otlp_decode import JSON, decode
from ingestion.otlp_encode import encode
from tests.ingestion.import_documents import DOCUMENTS, inspect_archive

LIMITS = FileLimits(max_file_bytes=2**20, max_unpacked_bytes=2**22)
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["", "0" * 32, "\x00", "\ud800", "NaN", "{", '{"a":', "[[1]]", '"x"', "1e999", "9" * 30]),
    st.sampled_from([[], {}, [[]], [{}], {"messages": 3}, {"spans": [None]}, 10**40, -1, 1e308, {"doubleValue": []}]),
)


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """A document of some form with a few of its places changed, removed or repeated."""
    document = json.loads(json.dumps(draw(st.sampled_from(list(DOCUMENTS.values())))))
    for _ in range(draw(st.integers(1, 4))):
        places = _places(document)
        if not places:
            break
        holder, key = draw(st.sampled_from(places))
        match draw(st.integers(0, 3)):
            case 0:
                holder[key] = json.loads(json.dumps(draw(ODD)))  # of its own, or a later change would make a circle
            case 1:
                del holder[key]
            case 2 if isinstance(holder, list):
                holder.append(json.loads(json.dumps(holder[key])))
            case _ if isinstance(holder[key], str):
                holder[key] = holder[key][: draw(st.integers(0, 12))] + draw(st.text(max_size=3))
    return document


def _places(value: Any) -> list[tuple[Any, Any]]:
    found, waiting = [], [value]
    while waiting:
        holder = waiting.pop()
        items = list(holder.items()) if isinstance(holder, dict) else list(enumerate(holder))
        found += [(holder, key) for key, _ in items]
        waiting += [inner for _, inner in items if isinstance(inner, dict | list)]
    return found


def read_all(data: bytes) -> None:
    """Everything that an import does to a file, up to the body that is sent."""
    try:
        items = list(recognise(data, "file", LIMITS).spans())
    except IngestionError:
        return
    spans = [item for item in items if isinstance(item, Span)]
    assert len(decode(encode(spans), JSON, received_unix_nano=2**62)) == len(spans)


@settings(max_examples=400, deadline=None)
@given(mutated())
def test_a_changed_document_is_imported_or_refused(document: Any) -> None:
    read_all(json.dumps(document).encode())


@settings(max_examples=200, deadline=None)
@given(mutated(), st.sampled_from(FORMS))
def test_every_form_reads_what_it_recognises(document: Any, form: Any) -> None:
    if form.recognises(document):
        for item in form.spans(document, "file"):
            if isinstance(item, Span):
                dialects.read(item)


@settings(max_examples=200, deadline=None)
@given(st.recursive(ODD, lambda inner: st.one_of(
    st.lists(inner, max_size=3),
    st.dictionaries(st.sampled_from(
        ["resourceSpans", "trace_id", "spans", "span_name", "observations", "traceId", "id", "type", "startTime",
         "post",
         "run_type", "info", "data", "eval", "task", "samples", "history", "trajectory", "role", "content", "traj",
         "task_id", "reward", "attributes", "span_id", "action", "observation", "version", "child_spans", "messages"]
    ), inner, max_size=5),
), max_leaves=20))  # fmt: skip
def test_any_value_under_the_names_of_the_forms(document: Any) -> None:
    read_all(json.dumps(document).encode())


@settings(max_examples=200, deadline=None)
@given(
    st.binary(max_size=200),
    st.sampled_from([b"", b"\x1f\x8b\x08", b"PK\x03\x04", b"{", b"[", b"\xef\xbb\xbf{", b"\n\x0a"]),
)
def test_any_bytes(data: bytes, start: bytes) -> None:
    read_all(start + data)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_damaged_archive_or_stream(data: st.DataObject) -> None:
    whole = data.draw(st.sampled_from([inspect_archive(), gzip.compress(json.dumps(DOCUMENTS["langfuse"]).encode())]))
    damaged = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 5))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    read_all(bytes(damaged[: data.draw(st.integers(1, len(damaged)))]))
