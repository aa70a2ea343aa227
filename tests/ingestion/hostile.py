"""Hostile bodies: real ones of every convention, changed in structure and in bytes, packed and mislabelled."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable
from typing import Any, NamedTuple

from hypothesis import strategies as st

from governance.records.span import Span
from ingestion.otlp_decode import JSON, PROTOBUF
from ingestion.otlp_encode import encode
from tests.ingestion.dialect_spans import ANSWERS, ASKS, TOOLS
from tests.ingestion.log_bodies import DETAILS, as_protobuf, logs, record
from tests.ingestion.otlp_bodies import T0, body, span_json

FEEDBACK = "/v1/feedback"
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["", "0" * 32, "\x00", "\ud800", "NaN", "{", '{"a":', "[[1]]", '"x"', "1e999", "9" * 30, "-1"]),
    st.sampled_from([[], {}, [[]], [{}], [None], 2**64, -1, 1e308, {"doubleValue": []}, {"stringValue": None}]),
)


def _spans() -> list[dict[str, Any]]:
    whole: list[Span] = [*ASKS.values(), *TOOLS.values(), *ANSWERS.values()]
    groups = json.loads(encode(whole))["resourceSpans"]
    return [span for group in groups for scope in group["scopeSpans"] for span in scope["spans"]]


SPANS = _spans()
FEEDBACK_ITEMS: list[Any] = [
    {"id": "f1", "trace_id": "a" * 32, "name": "thumbs", "value": 1},
    {"id": "f2", "session_id": "s", "score": 0.5, "comment": "no", "name": "quality"},
    {"id": "f3", "trace_id": "a" * 32, "span_id": "b" * 16, "outcome": "success"},
]


class Posted(NamedTuple):
    """One request."""

    path: str
    kind: str
    encoding: str
    content: bytes


def _places(value: Any) -> list[tuple[Any, Any]]:
    found, waiting = [], [value]
    while waiting:
        holder = waiting.pop()
        items: Iterable[tuple[Any, Any]] = holder.items() if isinstance(holder, dict) else enumerate(holder)
        for key, inner in list(items):
            found.append((holder, key))
            if isinstance(inner, dict | list):
                waiting.append(inner)
    return found


@st.composite
def changed(draw: st.DrawFn, document: Any) -> Any:
    """A document with up to four of its places replaced, removed, repeated or cut."""
    document = json.loads(json.dumps(document))
    for _ in range(draw(st.integers(0, 4))):
        places = _places(document)
        if not places:
            break
        holder, key = places[draw(st.integers(0, len(places) - 1))]
        match draw(st.integers(0, 3)):
            case 0:
                holder[key] = json.loads(json.dumps(draw(ODD)))
            case 1:
                del holder[key]
            case 2 if isinstance(holder, list):
                holder.append(json.loads(json.dumps(holder[key])))
            case _ if isinstance(holder[key], str):
                holder[key] = holder[key][: draw(st.integers(0, 12))] + draw(st.text(max_size=3))
    return document


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, Any]:
    """A path, and a request for it before anything of it is changed."""
    match draw(st.integers(0, 3)):
        case 0:
            records = [
                record(n, draw(st.sampled_from(["gen_ai.user.message", "gen_ai.choice", DETAILS, "other"])),
                       draw(st.integers(1, 3)), body={"content": "hi"})
                for n in range(draw(st.integers(1, 4)))
            ]  # fmt: skip
            return "/v1/logs", json.loads(logs(*records))
        case 1:
            return FEEDBACK, draw(st.sampled_from([FEEDBACK_ITEMS, *FEEDBACK_ITEMS]))
        case _:
            chosen = draw(st.lists(st.sampled_from(SPANS), min_size=1, max_size=4))
            spans = [
                span
                | {"spanId": f"{number:016x}", "traceId": draw(st.sampled_from(["a" * 32, "b" * 32]))}
                | {"startTimeUnixNano": str(T0 + number)}
                for number, span in enumerate(chosen, 1)
            ]
            return "/v1/traces", json.loads(body(*spans, span_json(90, attributes={"user.id": "ann"})))


@st.composite
def damaged(draw: st.DrawFn, data: bytes) -> bytes:
    """Bytes with some of them changed, cut off or put in."""
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, max(len(data) - 1, 0)))
        match draw(st.integers(0, 3)):
            case 0:
                data = data[:at]
            case 1:
                data = data[:at] + bytes([draw(st.integers(0, 255))]) + data[at + 1 :]
            case 2:
                data = data[:at] + draw(st.binary(max_size=6)) + data[at:]
            case _:
                data = data[:at] + data[at + draw(st.integers(1, 9)) :]
    return data


PACKERS = {"": lambda data: data, "gzip": gzip.compress, "deflate": zlib.compress}


@st.composite
def requests(draw: st.DrawFn) -> Posted:
    """One request: sound, or wrong in one or several ways."""
    path, document = draw(documents())
    document = draw(changed(document))
    content, kind = json.dumps(document).encode(), JSON
    if path != FEEDBACK and draw(st.booleans()):
        try:
            content, kind = as_protobuf(content), PROTOBUF
        except Exception:  # noqa: BLE001 - the official classes refuse what is changed too much: it stays JSON
            kind = JSON
    if draw(st.integers(0, 3)) == 0:
        content = draw(damaged(content))
    encoding = draw(st.sampled_from(["", "", "", "gzip", "deflate"]))
    content = PACKERS[encoding](content)
    if encoding and draw(st.integers(0, 3)) == 0:
        content = draw(damaged(content))
    match draw(st.integers(0, 19)):
        case 0:
            kind = JSON if kind == PROTOBUF else PROTOBUF
        case 1:
            path = draw(st.sampled_from(["/v1/traces", "/v1/logs", FEEDBACK]))
        case 2:
            encoding = draw(st.sampled_from(["gzip", "deflate", "zstd", ""]))
    return Posted(path, kind, encoding, content)
