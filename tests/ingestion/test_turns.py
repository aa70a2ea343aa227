"""The conversation of a trace, whatever habits its instrumentation has."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.records.content import AdmittedSpan
from governance.records.message import Role, ToolCallPart
from ingestion.assembly import assemble
from ingestion.calls import tool_spans
from ingestion.tree import build
from ingestion.tree import operation as tree_operation
from tests.ingestion.conversations import (
    Emitter,
    Habits,
    History,
    Step,
    conversations,
    deltas,
    found,
    pinned,
    summarised,
    wanted,
    whole,
    windowed,
)
from tests.ingestion.otlp_bodies import T0, admitted, make_span

HABITS = {
    "whole histories": Habits(),
    "whole histories without an agent's span": Habits(root=False),
    "whole histories, no spans of tools": Habits(tool_spans=False),
    "no ids in messages": Habits(ids=False),
    "each call a message": Habits(apart=True),
    "a system prompt that changes": Habits(system=lambda number: f"It is {number} o'clock."),
    "two instrumentations": Habits(doubled=True),
    "deltas": Habits(history=deltas),
    "deltas without instructions": Habits(history=deltas, system=lambda number: None, root=False),
    "deltas, no spans of tools": Habits(history=deltas, tool_spans=False),
    "events": Habits(events=True),
    "events of what is new": Habits(events=True, history=deltas),
    "a window": Habits(history=windowed(3)),
    "a window of the last reply": Habits(history=windowed(1)),
    "a window with the first message kept": Habits(history=pinned(2)),
    "a summary of what was cut": Habits(history=summarised(2)),
}


HISTORIES = st.sampled_from([whole, deltas, windowed(3), pinned(2)])


@pytest.mark.parametrize("name", HABITS)
@given(steps=conversations(), draw=st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_the_turns_are_the_conversation(name: str, steps: list[Step], draw: random.Random) -> None:
    spans = Emitter(HABITS[name]).emit(steps)
    draw.shuffle(spans)
    run = assemble(spans)
    assert found(run.turns) == wanted(steps)
    assert run.subagents == ()
    executed = [part for step in steps for part in step.reply.parts if part.type == "tool_call"]
    assert [(call.name, call.arguments) for call in run.calls] == [(part.name, part.arguments) for part in executed]


@given(steps=conversations(words_with_calls=False), history=st.sampled_from([whole, deltas]))
@settings(max_examples=40, deadline=None)
def test_calls_that_only_spans_of_tools_show_are_turns(steps: list[Step], history: object) -> None:
    run = assemble(Emitter(Habits(calls=False, history=history)).emit(steps))  # type: ignore[arg-type]
    assert found(run.turns) == wanted(steps)


@given(steps=conversations(), inner=st.lists(conversations(), min_size=1, max_size=2), history=HISTORIES)
@settings(max_examples=40, deadline=None)
def test_what_agents_say_to_agents_under_a_tool_stands_apart(
    steps: list[Step], inner: list[list[Step]], history: History
) -> None:
    emitter = Emitter(Habits(history=history))
    spans = emitter.emit(steps)
    tools = [item.span for item in spans if item.content and item.content.operation == "execute_tool"][: len(inner)]
    for number, (span, talk) in enumerate(zip(tools, inner, strict=False)):
        start = span.start_unix_nano + 1
        below = Emitter(Habits(history=history), number=1000 * (number + 1), now=start, above=span.span_id)
        spans += below.emit(talk)
    run = assemble(spans)
    assert found(run.turns) == wanted(steps)
    apart = sorted(json.dumps(found(one.turns), default=str) for one in run.subagents)
    assert apart == sorted(json.dumps(wanted(talk), default=str) for talk in inner[: len(tools)])


WORD = st.sampled_from(["yes", "no", "", " ", "Where is it?"])
PART = st.one_of(
    WORD.map(lambda text: {"type": "text", "content": text}),
    st.builds(
        lambda id_, name, given: {"type": "tool_call", "id": id_, "name": name, "arguments": given},
        st.sampled_from(["", "c1", "c2"]),
        st.sampled_from(["find", "ask"]),
        st.sampled_from([{}, {"a": 1}, "not json", None]),
    ),
    st.builds(
        lambda id_, answer: {"type": "tool_call_response", "id": id_, "response": answer},
        st.sampled_from(["", "c1", "c2"]),
        st.sampled_from([None, "x", {"a": 1}]),
    ),
)
MESSAGES = st.lists(
    st.builds(
        lambda role, parts: {"role": role, "parts": parts},
        st.sampled_from(["system", "user", "assistant", "tool"]),
        st.lists(PART, max_size=3),
    ),
    max_size=5,
).map(json.dumps)


@st.composite
def any_span(draw: st.DrawFn, number: int) -> AdmittedSpan:
    held: dict[str, Any] = {
        "gen_ai.operation.name": draw(st.sampled_from(["chat", "invoke_agent", "execute_tool", "evaluate", "other"])),
        "gen_ai.input.messages": draw(MESSAGES),
        "gen_ai.output.messages": draw(MESSAGES),
        "gen_ai.tool.name": draw(st.sampled_from(["find", "ask"])),
        "gen_ai.tool.call.arguments": draw(st.sampled_from(["{}", '{"a": 1}', "broken"])),
    }
    if draw(st.booleans()):
        held["tidemill.actor"] = "human"
    start = T0 + draw(st.integers(0, 5))
    return admitted(
        make_span(
            number,
            draw(st.one_of(st.none(), st.integers(1, 9))),
            attributes=held,
            start_unix_nano=start,
            end_unix_nano=draw(st.one_of(st.just(0), st.integers(T0, T0 + 9))),
        ),
        keep=draw(st.integers(0, 9)) > 0,
    )


@given(st.data(), st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_whatever_the_spans_are_each_call_of_a_tool_and_each_last_word_is_there(
    data: st.DataObject, draw: random.Random
) -> None:
    spans = [data.draw(any_span(number)) for number in range(1, data.draw(st.integers(2, 8)))]
    run = assemble(spans)
    tools = tool_spans(build(spans))
    assert {item.span.span_id for item in tools} <= {call.span_id for call in run.calls}
    everything = [turn for turns in (run.turns, *(one.turns for one in run.subagents)) for turn in turns]
    asked = [part for turn in everything for part in turn.message.parts if isinstance(part, ToolCallPart)]
    assert len(asked) >= sum(1 for item in tools if item.content is not None)
    words = {turn.message.text.strip() for turn in everything}
    for item in spans:
        for message in item.content.output if item.content and tree_operation(item) == "chat" else ():
            if message.role is Role.ASSISTANT and len(message.parts) == 1 and message.text.strip():
                assert any(message.text.strip() in text for text in words)
    draw.shuffle(spans)
    assert assemble(spans) == run
