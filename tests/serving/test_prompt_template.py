"""Prompt and token ids: one BOS, sampled ids kept, a check that notices."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.records.message import Message, Role, text_message
from governance.records.rollout import RolloutStep
from serving.action import Action
from serving.errors import TemplateError, TokenMismatch
from serving.prompt import call_message, chat, render, result_message, tool_line
from serving.template import ChatTokens, load_tokenizer
from tests.serving.byte_tokenizer import CHATML, SPECIALS, ByteTokenizer
from tests.serving.shop_records import CONTEXT, TOOLS, harness

BOS, END = SPECIALS["<s>"], SPECIALS["<|im_end|>"]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
OPENING = (text_message(Role.SYSTEM, "be brief"), text_message(Role.USER, "hello"))


def step(prompt: tuple[int, ...], output: tuple[int, ...], text: str) -> RolloutStep:
    return RolloutStep(messages=(), prompt_token_ids=prompt, output_token_ids=output, text=text, finish_reason="stop")


def test_the_system_prompt_holds_tools_and_facts() -> None:
    text = render(harness(), CONTEXT.facts, TOOLS[:1], ("Be kind.",)).text
    assert "get_order(order_id): does get_order" in text
    assert text.endswith("Facts:\nItems can be returned within 30 days.\nBe kind.")


@given(TEXTS)
def test_a_fact_is_text_and_never_a_field(text: str) -> None:
    fact = CONTEXT.facts[0].model_copy(update={"text": "{tools}" + text + "{customer.name}"})
    shown = render(harness(system_prompt="{facts}|{tools}"), (fact,), TOOLS[:1]).text
    assert shown == "{tools}" + text + "{customer.name}|" + tool_line(TOOLS[0])


def test_a_field_note_stands_in_the_tool_line() -> None:
    noted = TOOLS[0].model_copy(
        update={"parameters": {"properties": {"n": {"description": "four digits", "enum": [1, 2]}, "m": {}}}}
    )
    assert tool_line(noted) == "get_order(n: four digits; one of 1, 2, m): does get_order"


def test_calls_and_results_are_rendered_once() -> None:
    call = call_message("c1", Action(tool="get_order", arguments={"order_id": "SO-1"}))
    assert chat([call, result_message("c1", {"status": "sent"}), result_message("c1", "text")]) == [
        {"role": "assistant", "content": '{"tool":"get_order","arguments":{"order_id":"SO-1"}}'},
        {"role": "tool", "content": '{"status":"sent"}'},
        {"role": "tool", "content": "text"},
    ]


@pytest.mark.parametrize("adds", [False, True])
@pytest.mark.parametrize("writes", [False, True])
def test_there_is_exactly_one_bos_whoever_writes_it(*, adds: bool, writes: bool) -> None:
    """SFT-01: the template writes it, or the tokenizer adds it, never both."""
    template = ("<s>" if writes else "") + CHATML
    ids = ChatTokens(ByteTokenizer(adds_bos=adds), template).prompt(OPENING)
    assert ids.count(BOS) == (1 if adds or writes else 0)
    assert ids.count(END) == 2


def test_a_template_with_two_bos_is_refused() -> None:
    with pytest.raises(TemplateError, match="twice"):
        ChatTokens(ByteTokenizer(), "<s><s>" + CHATML).prompt(OPENING)


@given(TEXTS, TEXTS)
def test_a_later_prompt_keeps_the_sampled_ids(said: str, result: str) -> None:
    tokens = ChatTokens(ByteTokenizer(adds_bos=True), CHATML)
    reply, news = text_message(Role.ASSISTANT, said), text_message(Role.TOOL, result)
    prompt = tokens.prompt(OPENING)
    sampled = (*said.encode(), END)  # bytes one by one: not what the tokenizer would make of "hello"
    after = tokens.follow(prompt, sampled, [*OPENING, reply], [news])
    assert after[: len(prompt) + len(sampled)] == prompt + sampled
    assert tokens.text(after) == tokens.text(tokens.prompt([*OPENING, reply, news]))
    tokens.check([step(prompt, sampled, said), step(after, tokens.reply("x"), "x")])


def test_retokenised_text_is_found_out() -> None:
    """RL-03: ``he`` + ``llo`` was sampled, and ``hello`` would be tokenised as ``hel`` + ``lo``."""
    tokens = ChatTokens(ByteTokenizer(), CHATML)
    prompt, reply = tokens.prompt(OPENING), text_message(Role.ASSISTANT, "hello")
    sampled = (260, 261, ord("o"), END)
    assert tokens.text(sampled) == "hello"
    assert tokens.reply("hello") != sampled
    anew = tokens.prompt([*OPENING, reply, text_message(Role.TOOL, "ok")])
    with pytest.raises(TokenMismatch, match="step 1"):
        tokens.check([step(prompt, sampled, "hello"), step(anew, tokens.reply("x"), "x")])
    with pytest.raises(TokenMismatch, match="step 0"):
        tokens.check([step(prompt, sampled, "hallo")])


def test_an_unended_turn_is_ended_in_the_next_prompt() -> None:
    tokens = ChatTokens(ByteTokenizer(), CHATML)
    prompt, reply = tokens.prompt(OPENING), text_message(Role.ASSISTANT, "x")
    after = tokens.follow(prompt, (ord("x"),), [*OPENING, reply], [text_message(Role.TOOL, "ok")])
    assert after[len(prompt) : len(prompt) + 2] == (ord("x"), END)


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{% for m in messages %}{{ m['content'] }}{% endfor %}", "no end of turn"),
        (CHATML.replace("{% for m in messages %}", "{{ messages|length }}{% for m in messages %}"), "rewrites"),
    ],
)
def test_a_template_that_cannot_keep_ids_is_refused(template: str, said: str) -> None:
    tokens = ChatTokens(ByteTokenizer(), template)
    with pytest.raises(TemplateError):
        tokens.follow((), (END,), [*OPENING, text_message(Role.ASSISTANT, said)], [text_message(Role.TOOL, "ok")])


def test_a_tokenizer_without_an_end_is_refused() -> None:
    tokenizer = ByteTokenizer()
    tokenizer.eos_token_id = None
    with pytest.raises(TemplateError, match="cannot end"):
        ChatTokens(tokenizer, CHATML)


@pytest.mark.model
def test_the_base_models_ids_are_kept(base_model_dir: Path) -> None:
    """The real tokenizer and its own template: ids of a whole conversation equal the ids kept turn by turn."""
    tokenizer = load_tokenizer(str(base_model_dir))
    tokens = ChatTokens(tokenizer, tokenizer.chat_template)
    call = call_message("c1", Action(tool="get_order", arguments={"order_id": "SO-1234"}))
    news: list[Message] = [result_message("c1", {"status": "in transit", "note": "héllo ☂"})]
    prompt = tokens.prompt(OPENING)
    sampled = tokens.reply(chat([call])[0]["content"])
    assert tokens.text(sampled) == chat([call])[0]["content"]
    assert tokens.follow(prompt, sampled, [*OPENING, call], news) == tokens.prompt([*OPENING, call, *news])
    assert prompt[0] == tokenizer.bos_token_id
    assert prompt[1] != tokenizer.bos_token_id
