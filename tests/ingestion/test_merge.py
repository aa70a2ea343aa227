from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.records.content import AdmittedSpan, SpanContent
from governance.records.message import Role, text_message
from governance.records.span import Span, SpanEvent
from governance.records.trajectory import UNKNOWN_SUBJECT
from ingestion.errors import MergeError
from ingestion.merge import merge, normal
from tests.ingestion.otlp_bodies import admitted, make_span

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-2, 2) | st.sampled_from(["a", "b", "é"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xy"), inner, max_size=2),
    max_leaves=3,
)
_MAP = st.dictionaries(st.sampled_from("abc"), _JSON, max_size=3)
_EVENTS = st.lists(
    st.builds(SpanEvent, name=st.sampled_from("ef"), time_unix_nano=st.integers(0, 2), attributes=_MAP), max_size=2
)
_CONTENT = st.none() | st.builds(
    SpanContent,
    operation=st.sampled_from([None, "chat"]),
    input=st.lists(st.sampled_from([text_message(Role.USER, "x"), text_message(Role.USER, "y")]), max_size=2),
    tool_result=_JSON,
)


@st.composite
def versions(draw: Any) -> AdmittedSpan:
    content = draw(_CONTENT)
    span = Span(
        trace_id="1" * 32,
        span_id="2" * 16,
        parent_span_id=draw(st.sampled_from([None, "3" * 16, "4" * 16])),
        name=draw(st.sampled_from("nm")),
        start_unix_nano=draw(st.integers(0, 2)),
        end_unix_nano=draw(st.integers(0, 2)),
        status_code=draw(st.integers(0, 2)),
        attributes=draw(_MAP),
        resource=draw(_MAP),
        events=draw(_EVENTS),
        flags=draw(st.sampled_from([(), ("a",), ("b", "c")])),
    )
    return normal(
        AdmittedSpan(
            tenant_id="acme",
            subject=draw(st.sampled_from([UNKNOWN_SUBJECT, "s", "t"])),
            span=span,
            content=content,
            withheld_reason=None if content is not None else "content_withheld",
            mentions=draw(st.sampled_from([(), ("m",), ("n", "m")])),
        )
    )


@given(versions(), versions(), versions())
@settings(max_examples=250, deadline=None)
def test_merge_is_commutative_associative_and_idempotent(
    first: AdmittedSpan, second: AdmittedSpan, third: AdmittedSpan
) -> None:
    assert merge(first, first).digest() == first.digest()
    assert merge(first, second).digest() == merge(second, first).digest()
    assert merge(merge(first, second), third).digest() == merge(first, merge(second, third)).digest()
    both = merge(first, second)
    assert merge(both, first).digest() == both.digest()


def test_an_open_span_is_updated_by_its_end_whatever_comes_first() -> None:
    begun = admitted(make_span(1, end_unix_nano=0, name="old", attributes={"a": 1}))
    ended = admitted(make_span(1, name="new", attributes={"a": 0, "b": 2}))
    orders = [[begun, ended, begun], [ended, begun], [begun, begun, ended, ended]]
    results = set()
    for order in orders:
        result = order[0]
        for item in order[1:]:
            result = merge(result, item)
        results.add(result.digest())
        assert result.span.name == "new"
        assert result.span.attributes == {"a": 0, "b": 2}
    assert len(results) == 1


def test_content_and_a_known_subject_survive_a_withheld_copy() -> None:
    kept = admitted(make_span(1, attributes={"gen_ai.input.messages": '[{"role":"user","content":"hi"}]'}))
    bare = admitted(make_span(1), subject=UNKNOWN_SUBJECT, keep=False)
    result = merge(bare, kept)
    assert result.digest() == merge(kept, bare).digest()
    assert result.content == kept.content
    assert result.subject == kept.subject
    assert result.withheld_reason is None


def test_different_spans_never_merge() -> None:
    with pytest.raises(MergeError):
        merge(admitted(make_span(1)), admitted(make_span(2)))


def test_shuffled_deliveries_end_in_one_state() -> None:
    draw = random.Random(3)
    spans = [admitted(make_span(1, end_unix_nano=end, attributes={"k": end})) for end in (0, 0, 5, 9, 9)]
    results = set()
    for _ in range(50):
        draw.shuffle(spans)
        result = spans[0]
        for item in spans[1:]:
            result = merge(result, item)
        results.add(result.digest())
    assert len(results) == 1
