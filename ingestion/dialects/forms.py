"""When a span says the same thing in several forms: one form is taken for each side, and nothing is doubled.

The rule: the form with the most message parts wins; between equals, the one that stands first in the list. Lists
are ordered from the present convention to the oldest, and structured forms stand before plain values.

What stands on both sides was said before: a graph gives back its whole state, of which only the end is its answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from governance.records.message import Message, Role

NO_FLAGS: Final[frozenset[str]] = frozenset()


class Form(NamedTuple):
    """One reading of one side of a span, with what was noticed in it."""

    messages: tuple[Message, ...]
    flags: frozenset[str]

    @property
    def parts(self) -> int:
        """How much it says."""
        return sum(len(message.parts) for message in self.messages)


def richest(forms: Iterable[Form]) -> Form:
    """The form that is taken."""
    every = list(forms)
    saying = [form for form in every if form.messages]
    if not saying:
        return Form((), NO_FLAGS.union(*(form.flags for form in every)))
    return saying[0] if len(saying) == 1 else max(saying, key=lambda form: form.parts)


def beyond(given: tuple[Message, ...], back: tuple[Message, ...]) -> tuple[Message, ...]:
    """What a function adds that gives back the conversation it was given; what it gives back, where it is another."""
    first, again = _first_said(given), _first_said(back)
    if first is None or again is None or (first is not again and (first.role is not again.role or first != again)):
        return back
    asked = tuple(message for message in given if message.role is not Role.SYSTEM)
    said = tuple(message for message in back if message.role is not Role.SYSTEM)
    return said[len(asked) :] if asked and said[: len(asked)] == asked else back


def _first_said(messages: tuple[Message, ...]) -> Message | None:
    for message in messages:
        if message.role is not Role.SYSTEM:
            return message
    return None
