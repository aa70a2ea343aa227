"""The rules of a conversation, one habit of instrumentations at a time."""

from __future__ import annotations

import json

import pytest

from governance.records.message import Message, Role, text_message
from governance.records.trajectory import Actor
from ingestion.assembly import assemble
from ingestion.conversation.atoms import Atom, Atoms
from tests.ingestion.conversation_spans import ASKED, MS, agent, call, chat, lines, said, tool
from tests.ingestion.conversations import Emitter, Habits, Step
from tests.ingestion.otlp_bodies import T0, admitted, make_span
from training.evidence import spoken
from training.split import instruction_of


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


def test_a_handoff_that_a_span_and_a_message_tell_of_is_one_call() -> None:
    asked = chat(2, said(ASKED), call("transfer_to_order_desk", {}, "h1"))
    run = assemble([agent(1, said(ASKED), "Here."), asked, tool(3, "handoff to order desk", "front")])
    assert lines(run.turns)[1:] == ["agent: transfer_to_order_desk({})", "agent: Here."]
    assert [(one.name, one.call_id) for one in run.calls] == [("transfer_to_order_desk", "h1")]


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


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ("Observation:\nshipped on Monday", False),
        ("Observation: shipped on Monday\nit weighs 3 kg", False),
        ("Observation: shipped on Tuesday", True),
        ("shipped on Monday", True),
        ("Did you say it was shipped on Monday?", True),
    ],
)
def test_a_tools_answer_in_a_users_message_is_nobodys_words(told: str, kept: bool) -> None:
    history = said(ASKED, ("assistant", "Calling get_order"), ("user", told))
    spans = [
        agent(1, said(ASKED), "On Monday."),
        chat(2, said(ASKED), "Calling get_order"),
        tool(3, "get_order", {}, "shipped on Monday"),
        tool(4, "weigh", {}, "it weighs 3 kg"),
        chat(5, history, "On Monday."),
    ]
    words = [turn.message.text for turn in assemble(spans).turns if turn.actor is Actor.CUSTOMER]
    assert words == ([ASKED[1], told] if kept else [ASKED[1]])


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
    original = Atoms._again

    def counted(self: Atoms, message: Message) -> tuple[Atom, ...]:
        read.append(message)
        return original(self, message)

    monkeypatch.setattr(Atoms, "_again", counted)
    assert len(assemble(spans).turns) == 40
    assert len(read) == len(shared) == 41
