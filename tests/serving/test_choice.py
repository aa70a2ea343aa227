"""Where an action is a choice, on bytes and on the real tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from serving.action import Action, render
from serving.choice import choices
from serving.template import load_tokenizer

TOOLS = ("replace_item", "give_credit", "escalate_case")
names = st.text(st.characters(categories=("L", "N")), min_size=1, max_size=12)


def spelled(ids: Sequence[int]) -> str:
    return bytes(ids).decode("utf-8", errors="replace")


def test_the_letter_that_tells_the_tools_apart() -> None:
    said = render(Action(tool="give_credit", arguments={"order_id": "SO-1"})).encode()
    assert choices(said, TOOLS, spelled) == (said.index(b"give"),)


def test_names_that_share_a_beginning_are_told_apart_where_they_differ() -> None:
    offered = ("get_order", "get_policy", "refund")
    said = render(Action(tool="get_policy", arguments={})).encode()
    start = said.index(b"get_")
    assert choices(said, offered, spelled) == (start, start + 4)
    whole = render(Action(tool="get", arguments={})).encode()
    assert choices(whole, ("get", "get_order"), spelled) == (whole.index(b'get"') + 3,)


def test_one_tool_is_no_choice_and_another_text_names_none() -> None:
    said = render(Action(tool="reply", arguments={"text": "Hello"})).encode()
    assert choices(said, ("reply",), spelled) == ()
    assert choices(b"Hello", TOOLS, spelled) == ()
    assert choices((), TOOLS, spelled) == ()


@given(st.lists(names, min_size=1, max_size=6, unique=True), st.data())
def test_choices_leave_exactly_the_chosen_tool(offered: list[str], data: st.DataObject) -> None:
    chosen = data.draw(st.sampled_from(offered))
    said = render(Action(tool=chosen, arguments={})).encode()
    places = choices(said, offered, spelled)
    assert bool(places) == (len(offered) > 1)
    assert list(places) == sorted(set(places))
    assert len(places) < len(offered)


def test_the_real_tokenizer_needs_one_token(base_model_dir: Path) -> None:
    tokenizer = load_tokenizer(str(base_model_dir))
    for tool in TOOLS:
        ids = tokenizer(render(Action(tool=tool, arguments={"order_id": "SO-5014"})))["input_ids"]
        (place,) = choices(ids, TOOLS, tokenizer.decode)
        assert tool.startswith(tokenizer.decode(ids[place]))
