"""A conversation is repeated by every model call in it, each time a little longer: what was read is not read again.

Theory. Let one text be a JSON array and another begin with all of it but its closing bracket, followed by a comma. Then
the elements of the second are the elements of the first and those behind the comma. Messages are read one by one, so
the messages of the second are those of the first, the very same objects, and those of the rest.

What is said in one span is repeated by the next one as history: a text that the same role said before is the same
object too (``said_once``), so that what follows looks at it once.

``remember`` switches this on for what one thread reads inside it. Nothing is kept longer, and reading without it gives
equal messages.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, NamedTuple

from governance.records.message import Message, Role, text_message

RECENT: Final = 8
"""Conversations at a time; agents that work side by side have one each."""
SHORTEST: Final = 200
"""Characters from which looking back pays."""
_GOES_ON: Final = re.compile(r"\s*,")
Reader = Callable[[str, Role, set[str]], tuple[Message, ...] | None]
"""The messages of the text of a JSON array; None where its elements are not messages one by one."""


class _Known(NamedTuple):
    """A text that was read."""

    body: str
    """Without the closing bracket."""
    role: Role
    messages: tuple[Message, ...]
    notes: frozenset[str]


class _Memory(NamedTuple):
    """What was read."""

    recent: deque[_Known]
    said: dict[str, Message]
    """The latest message of each text."""


_memory: ContextVar[_Memory | None] = ContextVar("memory", default=None)


@contextmanager
def remember() -> Iterator[None]:
    """Read what repeats once."""
    token = _memory.set(_Memory(deque(maxlen=RECENT), {}))
    try:
        yield
    finally:
        _memory.reset(token)


def said_once(role: Role, text: str, unsaid: Callable[[str], bool]) -> Message | None:
    """The message of one text; None where it is ``unsaid``."""
    memory = _memory.get()
    known = None if memory is None else memory.said.get(text)
    if known is not None and known.role is role:
        return known
    if unsaid(text):
        return None
    made = text_message(role, text)
    if memory is not None:
        memory.said[text] = made
    return made


def read_array(text: str, role: Role, notes: set[str], read: Reader) -> tuple[Message, ...] | None:
    """The messages of a JSON array, reading only what is new in it; None as ``read`` says it."""
    memory = _memory.get()
    if memory is None or len(text) < SHORTEST:
        return read(text, role, notes)
    recent = memory.recent
    for known in recent:
        if known.role is role and text.startswith(known.body):
            goes_on = _GOES_ON.match(text, len(known.body))
            if goes_on is not None:
                return _longer(known, text, f"[{text[goes_on.end() :]}", recent, notes, read)
    noticed: set[str] = set()
    messages = read(text, role, noticed)
    notes |= noticed
    if messages:  # an empty array is the beginning of every other one
        recent.appendleft(_Known(text.rstrip()[:-1], role, messages, frozenset(noticed)))
    return messages


def _longer(  # noqa: PLR0917 - the parts of one step
    known: _Known, text: str, rest: str, recent: deque[_Known], notes: set[str], read: Reader
) -> tuple[Message, ...] | None:
    noticed: set[str] = set()
    new = read(rest, known.role, noticed)
    if new is None:
        return read(text, known.role, notes)
    together = _Known(text.rstrip()[:-1], known.role, known.messages + new, known.notes | noticed)
    recent.remove(known)
    recent.appendleft(together)
    notes |= together.notes
    return together.messages
