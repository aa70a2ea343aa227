"""Whatever a trace holds: detectors never fail, name spans of the trace, and say the same twice and in any order."""

from __future__ import annotations

import json
import random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance.records.content import AdmittedSpan
from governance.records.process_rule import ArgumentBounds, CalledAtMost, NeverCalled, NeverSaid, OnlyAfter
from governance.records.signal import SignalKind
from ingestion import signals
from ingestion.assembly import assemble
from ingestion.signals.baseline import Baseline, Figures
from ingestion.signals.refusals import _DECLINES, _IN_EVERY
from tests.ingestion.otlp_bodies import T0, admitted, make_span

RULES = (
    OnlyAfter(name="a", tool="refund", after="find_order"), NeverCalled(name="b", tool="f*"),
    CalledAtMost(name="c", tool="*", times=1), ArgumentBounds(name="d", tool="*", argument="amount", most=3),
    NeverSaid(name="e", pattern="[a-z]"),
)  # fmt: skip
BASELINE = Baseline(runs=tuple(Figures(seconds=0.001, tokens=1) for _ in range(30)))
TEXTS = st.sampled_from(
    ["", "Error: no", "I cannot assist with that.", "No results found", "[]", "{", "네", "\U0001f600"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["error", "results", "amount", "status", "q"]), inner, max_size=3)
    ),
    max_leaves=5,
)
PARTS = st.lists(
    st.fixed_dictionaries({"type": st.just("text"), "content": TEXTS})
    | st.fixed_dictionaries({"type": st.just("refusal"), "refusal": TEXTS})
    | st.fixed_dictionaries(
        {"type": st.just("tool_call"), "id": st.sampled_from("ab"), "name": st.just("refund"), "arguments": VALUES}
    )
    | st.fixed_dictionaries({"type": st.just("tool_call_response"), "id": st.sampled_from("ab"), "response": VALUES}),
    max_size=2,
)
MESSAGES = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant", "tool"]), "parts": PARTS}), max_size=3
)


@st.composite
def spans(draw: st.DrawFn) -> list[AdmittedSpan]:
    made = []
    for number in range(1, draw(st.integers(1, 7)) + 1):
        attributes: dict[str, Any] = {
            "gen_ai.operation.name": draw(
                st.sampled_from(["chat", "invoke_agent", "execute_tool", "retrieval", "other"])
            ),
            "gen_ai.tool.name": draw(st.sampled_from(["refund", "find_order", "submit"])),
            "gen_ai.tool.call.arguments": json.dumps(draw(VALUES)),
            "gen_ai.tool.call.result": json.dumps(draw(VALUES)),
            "gen_ai.input.messages": json.dumps(draw(MESSAGES)),
            "gen_ai.output.messages": json.dumps(draw(MESSAGES)),
            "gen_ai.usage.input_tokens": draw(st.integers(0, 900)),
        }
        if draw(st.booleans()):
            attributes |= {
                "error.type": draw(TEXTS) or "x",
                "tidemill.actor": draw(st.sampled_from(["human", "agent"])),
            }
        parent = draw(st.none() | st.integers(1, 8)) if number > 1 else None
        span = make_span(number, parent, attributes=attributes, end_unix_nano=T0 + draw(st.integers(0, 10**12)))
        made.append(admitted(span, keep=draw(st.integers(0, 5)) > 0))
    return made


@given(spans(), st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_detection_is_a_function_of_the_trace(made: list[AdmittedSpan], draw: random.Random) -> None:
    run = assemble(made)
    first = signals.detect(run, made, rules=RULES, baseline=BASELINE)
    shuffled = list(made)
    draw.shuffle(shuffled)
    assert signals.detect(assemble(shuffled), shuffled, rules=RULES, baseline=BASELINE) == first
    assert len({one.id for one in first}) == len(first)
    known = {item.span.span_id for item in made}
    for one in first:
        assert one.span_ids
        assert len(set(one.span_ids)) == len(one.span_ids)
        assert set(one.span_ids) <= known
        assert (one.tenant_id, one.trajectory_id, one.subject) == (run.tenant_id, run.id, run.subject)


@given(spans())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_nothing_is_inferred_from_what_was_withheld(made: list[AdmittedSpan]) -> None:
    withheld = [
        item.model_copy(update={"content": None, "withheld_reason": "content_withheld"}) for item in made
    ]  # fmt: skip
    found = {one.kind for one in signals.detect(assemble(withheld), withheld, rules=RULES)}
    structure = {SignalKind.TAKEOVER, SignalKind.TOOL_ERROR, SignalKind.POLICY_BREACH, SignalKind.REFUSAL}
    assert found <= structure


@given(st.one_of(*(st.from_regex(pattern) for pattern in _DECLINES)))
def test_what_is_looked_for_first_stands_in_every_refusal(text: str) -> None:
    assert any(word in text.lower() for word in _IN_EVERY)
