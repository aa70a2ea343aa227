"""Answers of tools that an agent shows to its model as words of the customer.

Agents that call tools by text (ReAct, smolagents) put a tool's answer into a user's message, behind a label such as
``Observation:``. Where a tool's span shows the answer, the message is that answer, and nobody's words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from governance.records.base import canonical_json
from governance.records.trajectory import Actor, ToolInvocation
from ingestion.conversation.thread import Entry, Thread

_LABEL: Final = re.compile(r"\s*[A-Za-z][\w ]{0,40}:\s*")
_LEAST: Final = 4
"""Letters of an answer that is told by its words: shorter ones are anybody's."""


def drop_observations(thread: Thread, calls: Iterable[ToolInvocation]) -> None:
    """Take out what is written as the customer's and holds nothing but a label and answers of tools."""
    answers = sorted({text for call in calls for text in _texts(call) if len(text) >= _LEAST}, key=len, reverse=True)
    if answers:
        thread.keep(lambda entry: not _shows(entry, answers))


def _texts(call: ToolInvocation) -> Iterable[str]:
    for value in (call.result, call.error):
        if isinstance(value, str):
            yield value.strip()
        elif value is not None:
            yield canonical_json(value).decode("utf-8", "replace")


def _shows(entry: Entry, answers: list[str]) -> bool:
    if entry.actor is not Actor.CUSTOMER or not entry.heard or entry.stated or entry.earlier:
        return False
    label = _LABEL.match(entry.atom.text)
    if label is None:
        return False
    rest = entry.atom.text[label.end() :]
    found = [text for text in answers if text in rest]
    for text in found:
        rest = rest.replace(text, "", 1)
    return bool(found) and not any(letter.isalnum() for letter in rest)
