"""The harness runtime: what it offers, what it refuses, why it stops, and that it never raises."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.ports.engine import Completion, CompletionRequest
from governance.ports.tools import ToolSession, Unrecorded
from governance.records.context import Context, Fact
from governance.records.harness import PermissionRule
from governance.records.release import ReleaseBundle
from governance.records.rollout import AgentRequest, Rollout, StopReason
from serving.errors import EngineUnavailable
from serving.runtime import HarnessRuntime, answer_text, shown_tools
from serving.template import ChatTokens
from tests.serving.byte_tokenizer import CHATML, SPECIALS, ByteTokenizer
from tests.serving.shop_records import AT, REFUSED, Script, Session, bundle, completion, harness, request, say
from tests.support.clock import ManualClock

RUNTIME = HarnessRuntime(ByteTokenizer(), None, ManualClock())
READ = say("get_order", order_id="SO-1234")
WRITE = say("refund_order", order_id="SO-1234")
REPLY = say("reply", text="It is on its way.")


def play(
    engine: Script, tools: ToolSession | None = None, release: ReleaseBundle | None = None, **asked: Any
) -> Rollout:
    call: AgentRequest = request(**asked)
    return asyncio.run(RUNTIME.run(release or bundle(), call, tools or Session(), engine))


def test_a_run_reads_and_answers() -> None:
    engine, tools = Script(READ, REPLY), Session()
    rollout = play(engine, tools)
    assert (rollout.stop, rollout.answer, rollout.error) == (StopReason.ANSWERED, "It is on its way.", None)
    assert tools.calls == [("get_order", {"order_id": "SO-1234"})]
    assert [call.result for call in rollout.calls] == [{"ok": "get_order"}]
    assert rollout.release_digest == bundle().release.digest()
    assert [sent.tools for sent in engine.requests] == [("get_order", "reply")] * 2


def test_the_prompt_grows_and_never_changes() -> None:
    rollout = play(Script(READ, REPLY))
    first, second = rollout.steps
    kept = first.prompt_token_ids + first.output_token_ids
    assert second.prompt_token_ids[: len(kept)] == kept
    tokens = ChatTokens(ByteTokenizer(), CHATML)
    assert tokens.text(first.output_token_ids) == READ
    assert '{"ok":"get_order"}' in tokens.text(second.prompt_token_ids)
    assert first.output_token_ids[-1] == SPECIALS["<|im_end|>"]


def test_after_a_write_only_the_answer_is_offered() -> None:
    engine = Script(WRITE, REPLY)
    rollout = play(engine, topic="refund")
    assert rollout.stop is StopReason.ANSWERED
    assert [sent.tools for sent in engine.requests] == [("refund_order",), ("reply",)]
    engine = Script(WRITE, REPLY)
    play(engine, release=bundle(answer_after_write=False), topic="refund")
    assert engine.requests[1].tools == ("refund_order",)


def test_a_tool_that_succeeded_need_not_be_offered_again() -> None:
    engine = Script(READ, REPLY)
    rollout = play(engine, release=bundle(repeat_tools=False))
    assert rollout.stop is StopReason.ANSWERED
    assert [sent.tools for sent in engine.requests] == [("get_order", "reply"), ("reply",)]
    again = play(Script(READ, READ, REPLY), release=bundle(repeat_tools=False, max_errors=2))
    assert [call.error_type for call in again.calls] == [None, "not_permitted"]


def test_where_nothing_is_left_the_answer_is() -> None:
    engine = Script(READ, REPLY)
    rules = (PermissionRule(topic="delivery", tools=("get_order",)),)
    play(engine, release=bundle(repeat_tools=False, permissions=rules))
    assert [sent.tools for sent in engine.requests] == [("get_order",), ("reply",)]


def test_a_topic_is_told_only_the_facts_that_its_rule_names() -> None:
    facts = tuple(Fact(key=key, text=f"The {key} is known.", valid_from=AT) for key in ("fee", "period"))
    rules = (PermissionRule(topic="delivery", tools=("reply",), facts=("fee",)),)
    for topic, told in (("delivery", ["fee"]), ("refund", ["fee", "period"])):
        engine = Script(REPLY)
        play(engine, release=bundle(context=Context(facts=facts), permissions=rules), topic=topic)
        prompt = engine.requests[0].messages[0].text
        assert [fact.key for fact in facts if fact.text in prompt] == told


def test_the_prompt_names_the_answer_tool_though_it_comes_later() -> None:
    assert [tool.name for tool in shown_tools(harness(), "refund")] == ["refund_order", "reply"]
    assert [tool.name for tool in shown_tools(harness(), None)] == ["get_order", "refund_order", "reply"]


def test_a_refusal_stops_the_run_at_max_errors() -> None:
    rollout = play(Script(WRITE, REPLY), Session(REFUSED), topic="refund")
    assert rollout.stop is StopReason.TOOL_ERRORS
    assert (rollout.calls[0].error_type, rollout.calls[0].error) == ("conflict", "was refunded already")
    assert rollout.answer is None


def test_within_max_errors_the_model_sees_the_error_and_goes_on() -> None:
    engine = Script(WRITE, WRITE, REPLY)
    rollout = play(engine, Session(REFUSED), bundle(max_errors=3), topic="refund")
    assert '{"error":"was refunded already"}' in ChatTokens(ByteTokenizer(), CHATML).text(
        engine.requests[1].prompt_token_ids
    )
    assert len(rollout.calls) == 3
    assert rollout.calls[2].error_type == "not_permitted", "a refused write does not open the answer"


def test_arguments_are_checked_before_the_tool_sees_them() -> None:
    tools = Session()
    rollout = play(Script(say("get_order", order_id="1234")), tools)
    assert rollout.calls[0].error_type == "schema_violation"
    assert "order_id" in str(rollout.calls[0].error)
    assert tools.calls == []


@pytest.mark.parametrize("name", ["refund_order", "drop_tables"])
def test_a_tool_that_is_not_offered_is_not_called(name: str) -> None:
    tools = Session()
    rollout = play(Script(say(name, order_id="SO-1234")), tools)
    assert rollout.calls[0].error_type == "not_permitted"
    assert rollout.stop is StopReason.TOOL_ERRORS
    assert tools.calls == []


def test_an_empty_answer_is_a_schema_violation() -> None:
    rollout = play(Script(say("reply", text="")))
    assert (rollout.answer, rollout.stop) == (None, StopReason.TOOL_ERRORS)


def test_a_run_without_an_end_stops_at_max_steps() -> None:
    rollout = play(Script(*[READ] * 9), release=bundle(max_steps=3))
    assert (rollout.stop, len(rollout.steps), len(rollout.calls)) == (StopReason.MAX_STEPS, 3, 3)


def test_a_text_that_is_no_action_stops_the_run() -> None:
    rollout = play(Script(READ, "I would say that"))
    assert rollout.stop is StopReason.UNPARSEABLE
    assert "not_one_json_value" in str(rollout.error)
    assert rollout.steps[1].text == "I would say that"


@pytest.mark.parametrize("error", [EngineUnavailable("gone"), RuntimeError("a bug")])
def test_an_engine_that_fails_is_a_rollout(error: Exception) -> None:
    rollout = play(Script(READ, error))
    assert rollout.stop is StopReason.ENGINE_ERROR
    assert type(error).__name__ in str(rollout.error)
    assert len(rollout.steps) == 1


def test_a_tool_that_crashes_is_a_result() -> None:
    rollout = play(Script(READ), Session({"get_order": KeyError("order")}))
    assert rollout.calls[0].error_type == "internal"


def test_a_world_that_cannot_answer_ends_the_run_without_a_result() -> None:
    rollout = play(Script(READ, REPLY), Session({"get_order": Unrecorded("get_order: no such call was recorded")}))
    assert (rollout.stop, rollout.answer, rollout.calls) == (StopReason.UNRECORDED, None, ())
    assert "no such call" in str(rollout.error)


def test_a_template_that_fails_is_a_rollout() -> None:
    rollout = play(Script(READ), release=bundle(chat_template="{{ nothing.at.all }}"))
    assert rollout.stop is StopReason.ENGINE_ERROR


def test_ids_that_say_another_text_fail_the_rollout() -> None:
    """RL-03: a step whose ids do not decode to its text is no rollout to learn from."""
    liar = Script(lambda sent: completion(sent, REPLY, (104, SPECIALS["<|im_end|>"])))
    rollout = play(liar)
    assert (rollout.stop, rollout.answer) == (StopReason.ENGINE_ERROR, None)
    assert "TokenMismatch" in str(rollout.error)


def test_sampled_ids_are_kept_as_they_came() -> None:
    """RL-03: the engine's own tokenisation goes into the next prompt, not the tokenizer's."""
    spelled = (*READ.encode(), SPECIALS["<|im_end|>"])

    def letters(sent: CompletionRequest) -> Completion:
        return completion(sent, READ, spelled)

    rollout = play(Script(letters, REPLY))
    assert rollout.stop is StopReason.ANSWERED
    kept = rollout.steps[0].prompt_token_ids + spelled
    assert rollout.steps[1].prompt_token_ids[: len(kept)] == kept


def test_a_demonstration_gets_the_one_text_form() -> None:
    loose = '{ "arguments": {"order_id":"SO-1234"},\n "tool":"get_order"}'
    rollout = play(Script(loose, REPLY))
    assert [step.text for step in rollout.steps] == [READ, REPLY]


def test_facts_are_those_of_the_request_s_time() -> None:
    later = Fact(key="returns", text="45 days now.", valid_from=AT.replace(year=2027))
    release = bundle(context=Context(facts=(later,)))
    engine = Script(REPLY)
    play(engine, release=release)
    assert "45 days" not in engine.requests[0].messages[0].text


@given(st.lists(st.sampled_from([READ, WRITE, REPLY, "nonsense", say("reply", text=""), "{}"]), min_size=8, max_size=8))
def test_any_script_ends_in_a_whole_rollout(says: list[str]) -> None:
    rollout = play(Script(*says), Session(REFUSED), topic=None, release=bundle(max_errors=2))
    assert (rollout.answer is not None) == (rollout.stop is StopReason.ANSWERED)
    assert len(rollout.steps) <= 4
    assert all(step.output_token_ids for step in rollout.steps)
    ChatTokens(ByteTokenizer(), CHATML).check(rollout.steps)


def test_an_answer_tool_may_name_its_text_otherwise() -> None:
    assert answer_text({"title": "Hello", "count": 2, "body": "Bye"}) == "Hello\nBye"
