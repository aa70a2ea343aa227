"""The atoms of messages: a message that is gone is never taken for one that came after it."""

from __future__ import annotations

from governance.records.message import Message, Role, ToolResultPart
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
