"""Dialects on any attributes: never an exception, and the order of attributes says nothing."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance.records.span import Span, SpanEvent
from ingestion.dialects import CONTENT_EVENTS, DIALECTS, content_keys, read, strip
from tests.ingestion.dialect_spans import ANSWERS, ASKS, TOOLS
from tests.ingestion.otlp_bodies import T0, make_span

SPANS = [*ASKS.values(), *TOOLS.values(), *ANSWERS.values()]
KEYS = sorted(
    {key for span in SPANS for key in span.attributes}
    | {"span.type", "tool_input", "full_command", "final_result", "input", "output", "gen_ai.input", "beeai.version"}
    | {"llm.invocation_parameters", "mlflow.chat.messages", "ai.value", "ai.values", "system_reminders", "history"}
    | {"gen_ai.prompt.01.content", "gen_ai.prompt.2", "llm.prompts.0.prompt.text", "new_context_truncated"}
)
FIELDS = sorted({key for span in SPANS for event in span.events for key in event.attributes})
WORDS = [
    "role", "content", "parts", "type", "tool_calls", "message", "kwargs", "text", "arguments", "choices", "messages",
    "toolUse", "toolResult", "function_call", "functionResponse", "thought", "kind", "id", "name", "output", "input",
    "generations", "candidates", "contents", "args", "value", "event.name", "system", "model", "usage_metadata",
]  # fmt: skip
SAID = [
    "user", "assistant", "tool", "tool_use", "tool-result", "reasoning", "LLM", "TOOL", '"TOOL"', "tool_call", "chat",
    "execute_tool", "ai.toolCall", "<REDACTED>", "N/A", "[USER]\nhi\n\n---\n\n[TOOL RESULT: a]\nb", "{'a': b}", "\x00",
    "\ud800", "A(b=", "generation", "{}{}", "null", "(merged tools)", "gen_ai.choice",
]  # fmt: skip
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(SAID) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4),
    max_leaves=8,
)
ATTRIBUTES = st.dictionaries(st.sampled_from(KEYS), VALUE | VALUE.map(json.dumps), max_size=8)
EVENTS = st.lists(
    st.builds(
        SpanEvent,
        name=st.sampled_from(sorted(CONTENT_EVENTS)),
        time_unix_nano=st.just(T0),
        attributes=st.dictionaries(st.sampled_from(FIELDS), VALUE | VALUE.map(json.dumps), max_size=3),
    ),
    max_size=3,
)
RUNS = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def turned(span: Span) -> Span:
    """The same span, its attributes in another order."""
    events = [one.model_copy(update={"attributes": dict(reversed(one.attributes.items()))}) for one in span.events]
    return span.model_copy(update={"attributes": dict(reversed(span.attributes.items())), "events": tuple(events)})


@given(ATTRIBUTES, EVENTS)
@RUNS
def test_any_attributes_are_read_the_same_in_any_order(attributes: dict[str, Any], events: list[SpanEvent]) -> None:
    span = make_span(1, attributes=attributes, events=tuple(events))
    assert read(span) == read(span) == read(turned(span))
    for dialect in DIALECTS:
        assert dialect.read(span) == dialect.read(turned(span)), dialect.__name__


@given(ATTRIBUTES, EVENTS)
@RUNS
def test_strip_takes_what_is_named_and_only_that(attributes: dict[str, Any], events: list[SpanEvent]) -> None:
    span = make_span(1, attributes=attributes, events=tuple(events))
    left = strip(span)
    assert left.attributes.keys() == attributes.keys() - content_keys(span)
    assert left.events == ()
    assert strip(left) == left
    after = read(left)
    assert (after.evaluations, after.flags) == ((), ()) or after.flags in (("truncated",),)


@given(st.sampled_from(SPANS), ATTRIBUTES)
@RUNS
def test_a_span_with_anything_beside_it_is_read(span: Span, attributes: dict[str, Any]) -> None:
    both = span.model_copy(update={"attributes": {**attributes, **span.attributes}})
    content = read(both)
    assert content == read(turned(both))
    assert len(content.output) <= max(len(dialect.read(both).output) for dialect in DIALECTS)
