"""The turns of a trace: what the customer wrote, what the agent answered, what a person answered."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from governance.records.base import from_unix_nano
from governance.records.content import AdmittedSpan
from governance.records.message import Message, Role, TextPart
from governance.records.trajectory import Actor, Turn
from ingestion import tree as trees
from ingestion.actors import actor, takeovers
from ingestion.tree import Tree, operation

_SPEAKING: Final = ("invoke_agent", "chat", "invoke_workflow")


def turns_of(tree: Tree) -> tuple[Turn, ...]:
    """The turns, customer first."""
    turns = []
    asked = _asked(tree)
    if asked is not None:
        item, said = asked
        turns.append(_turn(Actor.CUSTOMER, said, item, item.span.start_unix_nano))
    answered = _answered(tree)
    if answered is not None:
        item, said = answered
        turns.append(_turn(Actor.AGENT, said, item, item.span.end_unix_nano or item.span.start_unix_nano))
    for item in takeovers(tree):
        message = _last_text(item, Role.ASSISTANT)
        if message is not None:
            turns.append(_turn(Actor.HUMAN, message, item, item.span.end_unix_nano or item.span.start_unix_nano))
    return tuple(turns)


def _turn(actor_: Actor, message: Message, item: AdmittedSpan, moment: int) -> Turn:
    return Turn(actor=actor_, message=message, span_id=item.span.span_id, at=from_unix_nano(moment))


def _speaking(tree: Tree) -> list[AdmittedSpan]:
    """The root, then the agent's own spans in order: agents and model calls, not tools and not people."""
    spoken = [item for item in trees.top_first(tree) if actor(item, tree) is Actor.AGENT]
    return [item for item in spoken if item is tree.root or operation(item) in _SPEAKING]


def _asked(tree: Tree) -> tuple[AdmittedSpan, Message] | None:
    for item in _speaking(tree):
        message = None if item.content is None else _last(item.content.input, Role.USER)
        if message is not None:
            return item, message
    return None


def _answered(tree: Tree) -> tuple[AdmittedSpan, Message] | None:
    """The root's answer; without a root that speaks, the last answer of an agent, else of a model call."""
    if tree.root is not None:
        message = _last_text(tree.root, Role.ASSISTANT)
        said_nothing = tree.root.content is not None and trees.is_agent(tree.root) and tree.root.span.end_unix_nano
        if message is not None or (said_nothing and "tidemill.stop_reason" in tree.root.span.attributes):
            return None if message is None else (tree.root, message)
    others = sorted(_speaking(tree), key=lambda item: (trees.is_agent(item), trees.start_order(item)), reverse=True)
    for item in others:
        message = _last_text(item, Role.ASSISTANT)
        if message is not None:
            return item, message
    return None


def _last(messages: Iterable[Message], role: Role) -> Message | None:
    return next((message for message in reversed(tuple(messages)) if message.role is role), None)


def _last_text(item: AdmittedSpan, role: Role) -> Message | None:
    """The last message of that role in a span's output, when it says something and asks for no tool."""
    message = None if item.content is None else _last(item.content.output, role)
    if message is None or not all(isinstance(part, TextPart) for part in message.parts):
        return None
    return message if message.text.strip() else None
