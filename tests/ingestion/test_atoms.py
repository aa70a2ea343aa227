"""The atoms of messages: a message that is gone is never taken for one that came after it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from governance.records.message import Message, Role, TextPart, ToolResultPart
from ingestion.conversation.atoms import Atoms


def answer(number: int) -> Message:
    return Message(role=Role.TOOL, parts=(ToolResultPart(id=f"call {number}", response=number),))


def test_passing_messages_are_not_taken_for_each_other() -> None:
    atoms = Atoms()
    atoms.of(answer(0))
    for number in range(1, 300):
        for _ in range(20):
            atoms.of(answer(0))  # equal to the first, so nothing but its place would be remembered
        made = [answer(number) for _ in range(20)]
        assert [atom.parts for one in made for atom in atoms.of(one)] == [one.parts for one in made]


@given(st.sampled_from(Role), st.sampled_from(["", " ", "\t\n", "a", " a b ", "\u3000", "\x1c", "0"]))
def test_one_text_is_read_as_any_message_is(role: Role, text: str) -> None:
    message = Message(role=role, parts=(TextPart(text=text),))
    atoms = Atoms()
    assert atoms.of(message) == atoms._read(message)
