"""Whose conversation a span belongs to: that with the customer, or one between agents.

1. A scope is the reach of an agent: its span and what hangs under it, up to the next agent. What hangs under a tool, a
   guardrail or another operation that is no talk has a scope of its own. Chains and people make none.
2. A scope without a say of its own passes on what it is asked; so does the trace's root.
3. An agent under a tool talks with the agent that called the tool. An agent under, or beside, another one goes on with
   its conversation where their histories meet, or where nobody above stated what the customer wrote; else it was asked
   something else, and talks apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from governance.records.content import AdmittedSpan
from governance.records.trajectory import Actor
from ingestion.actors import is_human
from ingestion.conversation.atoms import Atom
from ingestion.conversation.thread import Thread
from ingestion.tree import ORPHANS, Tree

AGENT: Final = "invoke_agent"
CHAT: Final = "chat"
TOOL: Final = "execute_tool"
_APART: Final = frozenset({TOOL, "evaluate", "guardrail", "retrieval", "embeddings", "rerank"})
"""Operations under which nobody talks with the customer."""


@dataclass
class Scope:
    """The reach of an agent."""

    id: str | None
    """The span under which it is; None for the trace."""
    above: Scope | None
    apart: bool = False
    """Under a tool, or another operation that is no talk."""
    thread: Thread | None = None
    customers: bool = True
    """Who speaks as user to its models is the customer."""
    systems: set[int] = field(default_factory=set)
    """Instructions that its models were given."""
    chats: int = 0
    repeats: bool = False
    """Its calls repeat what was said before."""
    states: bool = False
    """The agent's own span says what it was asked."""
    last_end: int = 0
    """When its latest call of a model ended."""


class Scopes:
    """The scopes of a trace, found as they are asked for."""

    def __init__(self, tree: Tree) -> None:
        """The trace's own scope is there from the start, and its thread is the talk with the customer."""
        self.main_thread = Thread()
        self.main = Scope(None, None, thread=self.main_thread)
        self._tree = tree
        self._root = None if tree.root is None else tree.root.span.span_id
        self._under: dict[str, Scope] = {}
        self._of: dict[str, Scope] = {}

    def of(self, item: AdmittedSpan) -> Scope:
        """The scope in which a span speaks: an agent in its own."""
        span_id = item.span.span_id
        found = self._of.get(span_id)
        if found is None:
            own = self._tree.operation(span_id) == AGENT
            found = self._of[span_id] = self.under(span_id) if own else self.around(item)
        return found

    def around(self, item: AdmittedSpan) -> Scope:
        """The scope in which a span stands."""
        place = self._tree.parent[item.span.span_id]
        return self.main if place is None or place == ORPHANS else self.under(place)

    def all(self) -> list[Scope]:
        """Every scope that was asked for, an agent's before that of the tool around it."""
        scopes = {id(scope): scope for scope in self._under.values()}
        return sorted(scopes.values(), key=lambda scope: scope.apart)

    def under(self, span_id: str) -> Scope:
        """The scope of what hangs under a span."""
        found = self._under.get(span_id)
        if found is None:
            found = self._under[span_id] = self._made(span_id)
        return found

    def _made(self, span_id: str) -> Scope:
        item = self._tree.spans[span_id]
        operation = self._tree.operation(span_id)
        around = self.around(item)
        if span_id == self._root or is_human(item):
            return around
        if operation == AGENT:
            return Scope(span_id, around)
        return Scope(span_id, around, apart=True) if operation in _APART else around


def settle(scope: Scope, pieces: list[Atom]) -> Thread:
    """The thread of a scope, decided by the first history in it."""
    if scope.thread is not None:
        return scope.thread
    above = scope.above
    if above is None or scope.apart:
        scope.thread, scope.customers = Thread(asked_by=Actor.AGENT), True
        return scope.thread
    thread = settle(above, pieces)
    if not thread.entries or thread.continues(pieces) or not (above.states or above.chats):
        scope.thread, scope.customers = thread, above.customers and not above.chats
    else:
        scope.thread = Thread(asked_by=Actor.AGENT)
    return scope.thread
