"""The calls that a thread's messages ask for, and the answers that its messages hold.

An answer belongs to the latest call of its id that has none, since ids may be used again, else to the first call that
has none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from governance.records.message import ToolCallPart, ToolResultPart
from ingestion.conversation.thread import Entry, Thread


@dataclass(eq=False)
class Asked:
    """One call in a message."""

    thread: Thread
    entry: Entry
    part: ToolCallPart
    answer: Entry | None = None
    executed: bool = False
    """A tool's span shows it."""

    @property
    def result(self) -> Any:
        """What the tool answered, as the messages have it."""
        part = None if self.answer is None else self.answer.atom.parts[0]
        return part.response if isinstance(part, ToolResultPart) else None


def asked_in(thread: Thread) -> tuple[list[Asked], list[Entry]]:
    """The calls of a thread in order, and the answers that belong to none."""
    calls: list[Asked] = []
    open_: list[Asked] = []
    strays: list[Entry] = []
    for entry in thread.entries:
        part = entry.atom.parts[0]
        if isinstance(part, ToolCallPart):
            calls.append(Asked(thread, entry, part))
            open_.append(calls[-1])
        elif isinstance(part, ToolResultPart):
            found = next((one for one in reversed(open_) if part.id and one.part.id == part.id), None)
            found = found or next((one for one in open_ if not (part.id and one.part.id)), None)
            if found is None:
                strays.append(entry)
                continue
            found.answer = entry
            open_.remove(found)
    return calls, strays
