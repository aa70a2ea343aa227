"""The conversation of a trace: every message that its spans evidence, in order, each once.

Theory. A run with twenty model calls repeats its history twenty times, and each instrumentation repeats it in another
way: whole, cut to a window, with a summary in place of what was cut, only what is new, as events, or not at all beside
the spans of the tools. The conversation is what all of them are views of.

1. Each span is told something when it starts and says something when it ends (``conversation.telling``). Messages are
   compared piece by piece, by numbers (``conversation.atoms``), so each message is looked at once.
2. Each agent has a scope, and the model calls in it go on with one thread (``conversation.scopes``). What a history
   holds after the end of the thread is new; a history without that end is laid over the thread, or, where the calls of
   the scope repeat nothing, added to it (``conversation.alignment``, ``conversation.thread``).
3. The thread of the trace is the talk with the customer: ``turns``. What agents say to agents that they call as tools,
   and what helpers are asked, are ``subagents``, each under its span. An agent that takes the talk over goes on in it.
4. Calls in messages and spans of tools are brought together (``conversation.executed``): each call once, with its
   arguments and its answer from whichever has them. An answer that an agent shows to its model as the user's words is
   the tool's (``conversation.observations``).
5. Instructions of the system are the harness's, and no turn. What a person did under their span is said by ``human``.
   What stands in the history before this run's question is ``earlier``.
6. Each answer of a tool is a turn, whatever message it came in; calls and words of one reply are one turn.

What cannot be told: a text that an app wrote as user, without anything in the trace that says what the customer wrote,
is taken as the customer's.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from governance.records.base import from_unix_nano
from governance.records.message import Message, Role
from governance.records.trajectory import Subagent, ToolInvocation, Turn
from ingestion.calls import tool_name
from ingestion.conversation.atoms import Atoms
from ingestion.conversation.executed import Executed
from ingestion.conversation.listener import Listener
from ingestion.conversation.scopes import AGENT, TOOL, Scope
from ingestion.conversation.thread import Entry, Thread
from ingestion.tree import Tree


class Conversation(NamedTuple):
    """What was said and done in a trace."""

    turns: tuple[Turn, ...]
    subagents: tuple[Subagent, ...]
    calls: tuple[ToolInvocation, ...]


def conversation(tree: Tree) -> Conversation:
    """The conversation that a trace's spans evidence."""
    atoms = Atoms()
    heard = Listener(tree, atoms)
    main = heard.scopes.main_thread
    apart = _apart([*heard.scopes.all(), *heard.helpers], main)
    executed = Executed(tree, atoms, heard.scopes, [main, *(thread for thread, _ in apart)])
    subagents = [_subagent(tree, scope, thread) for thread, scope in apart if thread.entries]
    return Conversation(
        turns=tuple(_turns(main.entries)),
        subagents=tuple(sorted(subagents, key=lambda one: (one.turns[0].at, one.span_id))),
        calls=tuple(executed.calls),
    )


def _apart(scopes: Iterable[Scope], main: Thread) -> list[tuple[Thread, Scope]]:
    """The threads beside the main one, each with the scope that names it."""
    found: dict[int, tuple[Thread, Scope]] = {}
    for scope in scopes:
        if scope.thread is not None and scope.thread is not main:
            found.setdefault(id(scope.thread), (scope.thread, scope))
    return list(found.values())


def _subagent(tree: Tree, scope: Scope, thread: Thread) -> Subagent:
    span_id = str(scope.id)
    item = tree.spans[span_id]
    operation = tree.operation(span_id)
    named = item.span.attributes.get("gen_ai.agent.name") if operation == AGENT else None
    name = tool_name(item) if operation == TOOL else named
    return Subagent(span_id=span_id, name=str(name or item.span.name), turns=tuple(_turns(thread.entries)))


def _turns(entries: list[Entry]) -> Iterable[Turn]:
    start = 0
    for place in range(1, len(entries) + 1):
        if place == len(entries) or not _one(entries[start], entries[place]):
            yield _turn(entries[start:place])
            start = place


def _one(first: Entry, second: Entry) -> bool:
    """Whether two pieces are of one message; each answer of a tool is one."""
    role = first.atom.role
    same = first.group == second.group and first.actor is second.actor and role is second.atom.role
    return same and role is not Role.TOOL and first.earlier == second.earlier


def _turn(entries: list[Entry]) -> Turn:
    first = entries[0]
    whole = first.atom.whole if len(entries) == 1 else None
    parts = tuple(part for entry in entries for part in entry.atom.parts)
    return Turn.proven(
        actor=first.actor,
        message=whole or Message.proven(role=first.atom.role, parts=parts),
        span_id=first.span_id,
        at=from_unix_nano(first.at),
        earlier=first.earlier,
    )
