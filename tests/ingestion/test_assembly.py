from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.records.content import AdmittedSpan
from governance.records.signal import SignalKind
from governance.records.span import SpanEvent
from governance.records.trajectory import UNKNOWN_SUBJECT, Actor, Outcome
from ingestion import signals
from ingestion.assembly import assemble
from ingestion.errors import IngestionError
from ingestion.tree import ORPHANS, build
from tests.ingestion.otlp_bodies import T0, admitted, make_span

END = T0 + 100_000_000


def said(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


def root(score: int | None = None, answer: str | None = "Done.", **held: Any) -> AdmittedSpan:
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "shop",
        "gen_ai.conversation.id": "session-1",
        "tidemill.release": "r" * 64,
        "tidemill.world.digest": "d" * 64,
        "tidemill.request.topic": "refund",
        "tidemill.stop_reason": "answered" if answer else "max_steps",
        "gen_ai.input.messages": said("user", "Refund my order, please."),
    }
    if answer:
        attributes["gen_ai.output.messages"] = said("assistant", answer)
    event = SpanEvent(
        name="gen_ai.evaluation.result",
        time_unix_nano=END,
        attributes={"gen_ai.evaluation.name": "customer_feedback", "gen_ai.evaluation.score.value": score},
    )
    events = () if score is None else (event,)
    span = make_span(1, name="invoke_agent shop", end_unix_nano=END, attributes=attributes, events=events)
    return admitted(span.model_copy(update=held))


def chat(number: int, parent: int = 1, tokens: tuple[int, int] = (10, 2)) -> AdmittedSpan:
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.response.model": "tiny",
        "gen_ai.usage.input_tokens": tokens[0],
        "gen_ai.usage.output_tokens": tokens[1],
    }
    return admitted(make_span(number, parent, name="chat tiny", attributes=attributes))


def tool(number: int, arguments: Any, parent: int = 1, error: str | None = None, name: str = "refund") -> AdmittedSpan:
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.id": f"call-{number}",
        "gen_ai.tool.call.arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
    }
    failed: dict[str, Any] = {}
    if error:
        attributes["error.type"] = error
        failed = {"status_code": 2, "status_message": f"refused: {error}"}
    else:
        attributes["gen_ai.tool.call.result"] = '{"ok": true}'
    return admitted(make_span(number, parent, name=f"execute_tool {name}", attributes=attributes, **failed))


def takeover(number: int = 20) -> list[AdmittedSpan]:
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "human_operator",
        "tidemill.actor": "human",
        "gen_ai.output.messages": said("assistant", "I refunded it."),
    }
    return [
        admitted(make_span(number, 1, name="invoke_agent human_operator", attributes=attributes)),
        tool(number + 1, {"order": "A-1"}, parent=number),
    ]


def session(score: int | None = None) -> list[AdmittedSpan]:
    return [root(score, answer=None), chat(2), tool(3, {"order": 1}, error="schema"), chat(4), *takeover()]


def kinds(spans: list[AdmittedSpan]) -> list[SignalKind]:
    return sorted(one.kind for one in signals.detect(assemble(spans), spans))


def test_a_run_that_a_person_finished() -> None:
    spans = session(score=1)
    trajectory = assemble(spans)
    assert (trajectory.agent_name, trajectory.session_id, trajectory.model) == ("shop", "session-1", "tiny")
    assert (trajectory.topic, trajectory.world_digest, trajectory.release) == ("refund", "d" * 64, "r" * 64)
    assert [(turn.actor, turn.message.text) for turn in trajectory.turns] == [
        (Actor.CUSTOMER, "Refund my order, please."),
        (Actor.AGENT, ""),
        (Actor.TOOL, ""),
        (Actor.HUMAN, ""),
        (Actor.TOOL, ""),
        (Actor.HUMAN, "I refunded it."),
    ]
    assert [(call.actor, call.arguments, call.error_type) for call in trajectory.calls] == [
        (Actor.AGENT, {"order": 1}, "schema"),
        (Actor.HUMAN, {"order": "A-1"}, None),
    ]
    assert trajectory.outcome is Outcome.FAILURE
    assert trajectory.incomplete == ()
    assert (trajectory.usage.input_tokens, trajectory.usage.output_tokens) == (20, 4)
    assert kinds(spans) == ["correction", "feedback", "takeover", "tool_error"]
    errors = [one for one in signals.detect(trajectory, spans) if one.kind is SignalKind.TOOL_ERROR]
    assert errors[0].label == "schema"


@pytest.mark.parametrize(
    ("score", "human", "outcome"),
    [
        (1, False, Outcome.SUCCESS),
        (-1, False, Outcome.FAILURE),
        (None, False, Outcome.UNKNOWN),
        (1, True, Outcome.FAILURE),
        (None, True, Outcome.FAILURE),
    ],
)
def test_the_outcome_is_never_rounded_up(score: int | None, human: bool, outcome: Outcome) -> None:
    spans = [root(score), chat(2), tool(3, {"order": "A-1"}), *(takeover() if human else [])]
    assert assemble(spans).outcome is outcome


def test_an_unanswered_run_is_abandoned_and_a_taken_over_one_is_not() -> None:
    assert kinds([root(answer=None), chat(2)]) == ["abandonment"]
    assert kinds([root(), chat(2)]) == []
    assert "abandonment" not in kinds(session())


def test_a_run_is_usable_before_its_root_arrives() -> None:
    trajectory = assemble(session()[1:])
    assert "missing_root" in trajectory.incomplete
    assert [call.name for call in trajectory.calls] == ["refund", "refund"]
    assert trajectory.outcome is Outcome.FAILURE


def test_ing_10_every_dangling_span_hangs_under_one_place() -> None:
    spans = [admitted(make_span(n, p)) for n, p in ((1, 901), (2, 901), (3, 902), (4, None))]
    tree = build(spans)
    assert tree.root is not None
    assert tree.root.span.span_id == f"{4:016x}"
    assert sorted(tree.children[ORPHANS]) == [f"{n:016x}" for n in (1, 2, 3)]
    assert tree.missing == {f"{901:016x}", f"{902:016x}"}
    assert spans[0].span.parent_span_id == f"{901:016x}"
    trajectory = assemble(spans)
    assert "orphaned_spans" in trajectory.incomplete
    assert "missing_root" not in trajectory.incomplete


def test_a_circle_of_parents_is_no_endless_loop() -> None:
    trajectory = assemble([admitted(make_span(1, 2)), admitted(make_span(2, 1)), admitted(make_span(3, 1))])
    assert "missing_root" in trajectory.incomplete


def test_ing_13_dropped_attributes_keep_a_run_out_of_training() -> None:
    span = root().span.model_copy(update={"dropped_attributes_count": 57, "attributes": {}})
    trajectory = assemble([admitted(span)])
    assert {"dropped_attributes", "missing_session_id"} <= set(trajectory.incomplete)


def agent(number: int, parent: int | None, tokens: int, kind: str = "AGENT") -> AdmittedSpan:
    attributes = {"openinference.span.kind": kind, "llm.token_count.prompt": tokens}
    return admitted(make_span(number, parent, attributes=attributes))


def test_ing_16_tokens_are_counted_once() -> None:
    leaves = [agent(n, 1, tokens, "LLM") for n, tokens in enumerate((3031, 4421, 10709, 11738), 2)]
    assert assemble([agent(1, None, 29899), *leaves]).usage.input_tokens == 29899
    assert assemble([agent(1, None, 0), *leaves]).usage.input_tokens == 29899
    assert assemble([agent(1, None, 500)]).usage.input_tokens == 500
    nested = [agent(1, None, 100, "LLM"), agent(2, 1, 100, "LLM")]
    assert assemble(nested).usage.input_tokens == 100


def test_ing_14_corrupt_arguments_are_a_violation_and_a_reason() -> None:
    spans = [root(), tool(2, '{"a":1}{"b":2}')]
    assert "corrupt_arguments" in assemble(spans).incomplete
    (signal,) = [one for one in signals.detect(assemble(spans), spans) if one.kind is SignalKind.SCHEMA_VIOLATION]
    assert signal.detail == {"tool": "refund"}


def test_withheld_content_leaves_structure_and_says_so() -> None:
    spans = [admitted(item.span, UNKNOWN_SUBJECT, keep=False) for item in session()]
    trajectory = assemble(spans)
    assert trajectory.subject == UNKNOWN_SUBJECT
    assert "withheld" in trajectory.incomplete
    assert [call.arguments for call in trajectory.calls] == [None, None]
    assert trajectory.turns == ()
    assert trajectory.usage.input_tokens == 20
    assert kinds(spans) == ["takeover", "tool_error"]


def test_a_span_without_a_person_has_the_person_of_its_trace() -> None:
    spans = [admitted(chat(2).span, UNKNOWN_SUBJECT), root()]
    assert assemble(spans).subject == "s" * 64


def test_the_same_call_in_two_spans_is_one_call() -> None:
    outer, inner = tool(3, {"a": 1}), tool(4, {"a": 1}, parent=3)
    same = inner.span.model_copy(update={"attributes": outer.span.attributes})
    assert len(assemble([root(), outer, admitted(same)]).calls) == 1


def test_spans_of_two_traces_are_refused() -> None:
    with pytest.raises(IngestionError):
        assemble([root(), admitted(make_span(2, trace="9" * 32))])
    with pytest.raises(IngestionError):
        assemble([])


@given(st.randoms(use_true_random=False), st.integers(0, 6))
@settings(max_examples=60, deadline=None)
def test_order_of_arrival_changes_nothing(draw: random.Random, without: int) -> None:
    spans = session(score=-1)
    if without < len(spans):
        del spans[without]
    shuffled = list(spans)
    draw.shuffle(shuffled)
    assert assemble(shuffled) == assemble(spans)
    assert signals.detect(assemble(shuffled), shuffled) == signals.detect(assemble(spans), spans)


def test_detecting_twice_gives_the_same_ids() -> None:
    spans = session(score=-1)
    first = [one.id for one in signals.detect(assemble(spans), spans)]
    assert len(set(first)) == len(first)
    assert first == [one.id for one in signals.detect(assemble(spans), spans)]


@pytest.mark.parametrize("name", ["otel_genai_convention_spans", "pydantic_ai_live_spans", "openinference_live_spans"])
def test_live_spans_become_trajectories(cases_dir: Path, name: str) -> None:
    from tests.ingestion.test_dialects import strands

    spans = strands(cases_dir / f"traces/strands_evals_fixtures/{name}.json")
    traces: dict[str, list[AdmittedSpan]] = {}
    for span in spans:
        traces.setdefault(span.trace_id, []).append(admitted(span))
    trajectories = [assemble(items) for items in traces.values()]
    assert any(trajectory.calls for trajectory in trajectories)
    assert any(trajectory.turns for trajectory in trajectories)
    assert not any("orphaned_spans" in trajectory.incomplete for trajectory in trajectories if name.startswith("otel"))
