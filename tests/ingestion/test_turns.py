"""The conversation of a trace, whatever habits its instrumentation has."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.records.content import AdmittedSpan
from governance.records.message import Message, Role, TextPart, ToolCallPart, text_message
from governance.records.trajectory import Actor, Turn
from ingestion.assembly import assemble
from ingestion.calls import tool_spans
from ingestion.conversation.atoms import Atom, Atoms
from ingestion.tree import build
from ingestion.tree import operation as tree_operation
from tests.ingestion.conversations import (
    Emitter,
    Habits,
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
from training.evidence import spoken
from training.split import instruction_of

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


# One habit at a time, in small


def said(*messages: tuple[str, str]) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]} for role, text in messages])


def chat(number: int, told: str, answer: str | None = None, parent: int | None = 1, **more: Any) -> AdmittedSpan:
    held = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": told} | more.pop("attributes", {})
    if answer is not None:
        held["gen_ai.output.messages"] = answer if answer.startswith("[") else said(("assistant", answer))
    return admitted(make_span(number, parent, attributes=held, **more))


def agent(number: int, told: str | None, answer: str | None, parent: int | None = None, **more: Any) -> AdmittedSpan:
    held = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": f"agent-{number}"} | more.pop("extra", {})
    if told is not None:
        held["gen_ai.input.messages"] = told
    if answer is not None:
        held["gen_ai.output.messages"] = said(("assistant", answer))
    times = {"end_unix_nano": T0 + 900_000_000} | more
    return admitted(make_span(number, parent, attributes=held, **times))


def tool(number: int, name: str, arguments: Any, result: Any = None, parent: int = 1, **more: Any) -> AdmittedSpan:
    held = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.arguments": json.dumps(arguments),
    }
    if result is not None:
        held["gen_ai.tool.call.result"] = json.dumps(result)
    return admitted(make_span(number, parent, attributes=held | more.pop("attributes", {}), **more))


def call(name: str, arguments: Any, id_: str = "") -> str:
    part = {"type": "tool_call", "id": id_, "name": name, "arguments": arguments}
    return json.dumps([{"role": "assistant", "parts": [part]}])


def lines(turns: Sequence[Turn]) -> list[str]:
    """Who says what, in short."""
    return [f"{'*' if turn.earlier else ''}{turn.actor}: {_short(turn.message)}" for turn in turns]


def _short(message: Message) -> str:
    found = []
    for part in message.parts:
        if isinstance(part, TextPart):
            found.append(part.text)
        elif isinstance(part, ToolCallPart):
            found.append(f"{part.name}({json.dumps(part.arguments)})")
        else:
            found.append(f"= {json.dumps(part.response)}")
    return " | ".join(found)


ASKED = ("user", "Where is order A-17?")
MS = 1_000_000


def test_a_run_that_ends_in_a_call_has_a_turn_for_it() -> None:
    run = assemble([agent(1, said(ASKED), None), chat(2, said(ASKED), call("get_order", {"order": "A-17"}))])
    assert lines(run.turns) == ["customer: Where is order A-17?", 'agent: get_order({"order": "A-17"})']
    assert run.calls == ()


def test_a_call_in_a_message_and_in_a_span_is_one_call_by_name_and_arguments() -> None:
    spans = [
        agent(1, said(ASKED), "It is here."),
        chat(2, said(ASKED), call("shop__get_order", {"order": "A-17"})),
        tool(3, "get_order", {"order": "A-17"}, "here"),
    ]
    run = assemble(spans)
    assert lines(run.turns) == [
        "customer: Where is order A-17?",
        'agent: shop__get_order({"order": "A-17"})',
        'tool: = "here"',
        "agent: It is here.",
    ]
    (one,) = run.calls
    assert (one.name, one.result) == ("get_order", "here")


def test_a_failed_tool_answers_with_its_error() -> None:
    failed = tool(3, "get_order", {}, status_code=2, status_message="no such order")
    run = assemble([agent(1, said(ASKED), None), chat(2, said(ASKED), call("get_order", {})), failed])
    assert lines(run.turns)[-1] == 'tool: = {"error": "no such order"}'


def test_two_calls_of_one_name_and_arguments_are_two_calls() -> None:
    spans = [
        agent(1, said(ASKED), "Here."),
        chat(2, said(ASKED), call("get_order", {}, "a")),
        tool(3, "get_order", {}, 1, attributes={"gen_ai.tool.call.id": "a"}),
        chat(4, said(ASKED), call("get_order", {}, "b")),
        tool(5, "get_order", {}, 2, attributes={"gen_ai.tool.call.id": "b"}),
    ]
    assert [(one.call_id, one.result) for one in assemble(spans).calls] == [("a", 1), ("b", 2)]


def test_the_history_that_a_run_was_given_is_earlier_and_its_calls_are_not_this_runs() -> None:
    before = json.loads(said(("user", "Hello"))) + json.loads(call("greet", {}, "c0"))
    before.append({"role": "tool", "parts": [{"type": "tool_call_response", "id": "c0", "response": "hi"}]})
    before += json.loads(said(("assistant", "Hi!"), ASKED))
    run = assemble([agent(1, said(ASKED), "Here."), chat(2, json.dumps(before), "Here.")])
    assert lines(run.turns) == [
        "*customer: Hello",
        "*agent: greet({})",
        '*tool: = "hi"',
        "*agent: Hi!",
        "customer: Where is order A-17?",
        "agent: Here.",
    ]
    assert run.calls == ()
    assert instruction_of(run) == ASKED[1]
    assert spoken(run, Actor.AGENT) == "Here."


def test_an_agent_that_is_a_tool_talks_apart() -> None:
    spans = [
        agent(1, said(ASKED), "Shipped."),
        chat(2, said(ASKED), call("ask_expert", {"q": "status?"}, "c1")),
        tool(3, "ask_expert", {"q": "status?"}, "shipped", end_unix_nano=T0 + 20 * MS),
        agent(4, said(("user", "status?")), "shipped", parent=3, end_unix_nano=T0 + 19 * MS),
        chat(5, said(("user", "status?")), "shipped", parent=4),
    ]
    run = assemble(spans)
    assert lines(run.turns)[1:] == ['agent: ask_expert({"q": "status?"})', 'tool: = "shipped"', "agent: Shipped."]
    (expert,) = run.subagents
    assert (expert.name, lines(expert.turns)) == ("agent-4", ["agent: status?", "agent: shipped"])


def test_an_agent_that_takes_the_talk_over_goes_on_in_it() -> None:
    handed = said(ASKED, ("assistant", "I hand you over."))
    spans = [
        agent(1, None, None),
        agent(2, said(ASKED), None, parent=1, end_unix_nano=T0 + 4 * MS),
        chat(3, said(ASKED), "I hand you over.", parent=2),
        agent(5, handed, "It is here.", parent=1, end_unix_nano=T0 + 9 * MS),
        chat(6, handed, "It is here.", parent=5),
    ]
    run = assemble(spans)
    assert lines(run.turns) == [f"customer: {ASKED[1]}", "agent: I hand you over.", "agent: It is here."]
    assert run.subagents == ()


def test_a_helper_with_other_instructions_talks_apart() -> None:
    shop, judge = ("system", "You are a shop."), ("system", "Rate texts.")
    spans = [
        agent(1, said(ASKED), "Here."),
        chat(2, said(shop, ASKED), "Here."),
        chat(3, said(judge, ("user", "Is this text polite?")), "0.9"),
    ]
    run = assemble(spans)
    assert lines(run.turns) == [f"customer: {ASKED[1]}", "agent: Here."]
    assert [lines(one.turns) for one in run.subagents] == [["agent: Is this text polite?", "agent: 0.9"]]


def test_what_an_app_writes_around_a_question_is_not_the_customers() -> None:
    prompt = said(("user", f"Context: none.\nQuestion: {ASKED[1]}"))
    run = assemble([agent(1, said(ASKED), "Here."), chat(2, prompt, "Thinking."), chat(3, prompt, "Here.")])
    assert lines(run.turns) == [f"customer: {ASKED[1]}", "agent: Thinking.", "agent: Here."]
    other = assemble([agent(1, said(("user", "orders")), "Here."), chat(2, said(("user", "Write!")), "Here.")])
    assert lines(other.turns) == ["customer: orders", "agent: Here."]


def test_model_calls_at_the_same_time_are_told_once() -> None:
    spans = [
        agent(1, said(ASKED), "Here."),
        chat(2, said(ASKED), "safe", end_unix_nano=T0 + 9 * MS),
        chat(3, said(ASKED), "Here.", end_unix_nano=T0 + 12 * MS),
        chat(4, said(ASKED, ("assistant", "Here."), ("user", "Thanks")), "Bye", start_unix_nano=T0 + 20 * MS,
             end_unix_nano=T0 + 21 * MS),
    ]  # fmt: skip
    words = lines(assemble(spans).turns)
    assert words == [f"customer: {ASKED[1]}", "agent: safe", "agent: Here.", "customer: Thanks", "agent: Bye"]


def test_a_model_call_that_two_instrumentations_tell_of_side_by_side_is_told_once() -> None:
    twins = [chat(number, said(ASKED), "Here.", end_unix_nano=T0 + 9 * MS) for number in (2, 3)]
    assert lines(assemble([agent(1, said(ASKED), "Here."), *twins]).turns)[1:] == ["agent: Here."]
    named = [
        chat(number, said(ASKED), "Here.", attributes={"gen_ai.response.id": f"r-{number}"}, end_unix_nano=T0 + 9 * MS)
        for number in (2, 3)
    ]
    assert lines(assemble([agent(1, said(ASKED), "Here."), *named]).turns)[1:] == ["agent: Here."] * 2


def test_a_persons_words_and_calls_are_theirs() -> None:
    human = {"tidemill.actor": "human"}
    spans = [
        agent(1, said(ASKED), None),
        chat(2, said(ASKED), "I cannot say."),
        agent(5, None, "I looked: it is here.", parent=1, extra=human, end_unix_nano=T0 + 9 * MS),
        tool(6, "get_order", {}, "here", parent=5),
    ]
    assert lines(assemble(spans).turns) == [
        f"customer: {ASKED[1]}",
        "agent: I cannot say.",
        "human: get_order({})",
        'tool: = "here"',
        "human: I looked: it is here.",
    ]


def test_an_agents_answer_comes_before_the_person_who_took_over_from_it() -> None:
    human = {"tidemill.actor": "human"}
    took_over = agent(5, None, "It is here.", parent=1, extra=human, end_unix_nano=T0 + 9 * MS)
    answered = [agent(1, said(ASKED), "I cannot say."), took_over]
    assert lines(assemble(answered).turns)[1:] == ["agent: I cannot say.", "human: It is here."]
    goes_on = chat(6, said(ASKED), "Glad to help.", start_unix_nano=T0 + 20 * MS, end_unix_nano=T0 + 21 * MS)
    run = assemble([agent(1, said(ASKED), "Glad to help."), took_over, goes_on])
    assert lines(run.turns)[1:] == ["human: It is here.", "agent: Glad to help."]


def test_the_whole_conversation_as_one_output_is_not_said_again() -> None:
    whole_ = said(ASKED, ("assistant", "Here."), ("user", "Thanks"), ("assistant", "Bye"))
    root = admitted(
        make_span(1, attributes={
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.input.messages": said(ASKED),
            "gen_ai.output.messages": whole_,
        }, end_unix_nano=T0 + 900 * MS)
    )  # fmt: skip
    thanks = said(ASKED, ("assistant", "Here."), ("user", "Thanks"))
    run = assemble([root, chat(2, said(ASKED), "Here."), chat(3, thanks, "Bye")])
    assert lines(run.turns) == [f"customer: {ASKED[1]}", "agent: Here.", "customer: Thanks", "agent: Bye"]


def test_twenty_turns_that_repeat_their_history_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [Step([text_message(Role.USER, f"question {n}")], text_message(Role.ASSISTANT, f"answer {n}")) for n in
             range(20)]  # fmt: skip
    spans = Emitter(Habits()).emit(steps)
    shared: dict[Message, Message] = {}
    spans = [
        item.model_copy(update={"content": item.content.model_copy(update={
            side: tuple(shared.setdefault(one, one) for one in getattr(item.content, side))
            for side in ("input", "output")
        })})
        for item in spans
        if item.content is not None
    ]  # fmt: skip
    read: list[Message] = []
    original = Atoms._read

    def counted(self: Atoms, message: Message) -> tuple[Atom, ...]:
        read.append(message)
        return original(self, message)

    monkeypatch.setattr(Atoms, "_read", counted)
    assert len(assemble(spans).turns) == 40
    assert len(read) == len(shared) == 41


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
