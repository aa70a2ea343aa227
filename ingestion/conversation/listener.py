"""What the spans of a trace say, one after the other, into the threads of their scopes.

1. A model's history that has nothing of its agent's question in it is the app's own prompt: what the model says and
   what tools answer belongs to the talk, who speaks as user in it is not the customer.
2. A later model call that shares nothing with its scope and was given other instructions is a helper's: it talks apart.
3. The first call of a scope in a talk that goes on, and calls at the same time, repeat what was said, even where the
   other calls of the scope are given only what is new.
4. Two spans of model calls at the same time that were given the same are one call, told by two instrumentations, unless
   they name different responses: what both say is said once.
"""

from __future__ import annotations

from typing import Final

from governance.records.content import AdmittedSpan
from governance.records.message import Role
from governance.records.trajectory import Actor
from ingestion.actors import actor, is_human
from ingestion.conversation.atoms import Atoms, History, runs
from ingestion.conversation.scopes import CHAT, Scope, Scopes, settle
from ingestion.conversation.telling import Moment, moments, speakers
from ingestion.conversation.thread import Entry, Heard, Thread
from ingestion.log_records import LOG_EVENT
from ingestion.session_events import is_prompt
from ingestion.tree import Tree

NOTHING: Final = History([], [])


class Listener:
    """Hears a trace once."""

    def __init__(self, tree: Tree, atoms: Atoms) -> None:
        """After this, the scopes hold every thread."""
        self.scopes = Scopes(tree)
        self.helpers: list[Scope] = []
        """Scopes of model calls that talk apart from their agent."""
        self._tree = tree
        self._atoms = atoms
        self._places: dict[str, tuple[Thread, int]] = {}
        self._given: dict[tuple[int, int], list[tuple[AdmittedSpan, list[int]]]] = {}
        """Model calls with what they were given, by its length and end."""
        self._twins: dict[str, set[str]] = {}
        spoken = speakers(tree)
        self._note_repeats(spoken)
        self._inner = _inner(tree, spoken)
        for moment in moments(tree, spoken):
            if moment.says:
                self._say(moment)
            else:
                self._hear(moment)

    def _note_repeats(self, spoken: list[AdmittedSpan]) -> None:
        """Scopes whose later calls are given what the assistant said."""
        seen: set[int] = set()
        for item in spoken:
            if item.content is None or not self._is_chat(item):
                continue
            scope = self.scopes.of(item)
            if id(scope) in seen and not scope.repeats:
                scope.repeats = any(message.role is Role.ASSISTANT for message in item.content.input)
            seen.add(id(scope))

    def _is_chat(self, item: AdmittedSpan) -> bool:
        told = LOG_EVENT in item.span.flags and not is_prompt(item.span.name)
        return told or self._tree.operation(item.span.span_id) == CHAT

    def _hear(self, moment: Moment) -> None:
        item, scope = moment.item, self.scopes.of(moment.item)
        history = self._atoms.history(item.content.input) if item.content else NOTHING
        pieces = history.atoms
        if not pieces:
            if scope.thread is not None:
                self._places[item.span.span_id] = scope.thread, len(scope.thread.entries)
            return
        thread = settle(scope, pieces)
        repeats, chats = not is_prompt(item.span.name), self._is_chat(item)
        if chats:
            self._told(item, history)
            thread, scope, repeats = self._called(item, scope, thread, history)
        elif not is_human(item):
            scope.states = scope.states or any(piece.role is Role.USER for piece in pieces)
        heard = Heard(
            span_id=item.span.span_id,
            at=moment.at,
            history=history,
            stated=not chats,
            repeats=repeats,
            customers=scope.customers,
        )
        self._places[item.span.span_id] = thread, thread.hear(heard)

    def _called(self, item: AdmittedSpan, scope: Scope, thread: Thread, history: History) -> tuple[Thread, Scope, bool]:
        """Where a model's call belongs, and whether it repeats what was said."""
        pieces, system = history.atoms, history.system
        strange = bool(thread.entries) and not thread.continues(pieces)
        if strange and scope.chats and system is not None and scope.systems and system not in scope.systems:
            helper = Scope(item.span.span_id, scope, apart=True)
            self.helpers.append(helper)
            return settle(helper, pieces), helper, True
        if strange and not scope.chats and thread.states:
            scope.customers = False
        repeats = scope.repeats or not scope.chats or item.span.start_unix_nano < scope.last_end
        scope.chats += 1
        scope.last_end = max(scope.last_end, item.span.end_unix_nano)
        if system is not None:
            scope.systems.add(system)
        return thread, scope, repeats

    def _say(self, moment: Moment) -> None:
        item = moment.item
        pieces = [atom for one in item.content.output for atom in self._atoms.of(one)] if item.content else []
        if not pieces:
            return
        scope, id_ = self.scopes.of(item), item.span.span_id
        thread, start = self._places.get(id_) or (settle(scope, pieces), 0)
        inner: frozenset[str] | None = self._inner.get(id_, frozenset()) | self._twins.get(id_, set())
        if any(piece.role is Role.USER for piece in pieces):
            start, inner = 0, None  # the whole conversation
        speaker = actor(item, self._tree)
        for piece, run in zip(pieces, runs(pieces), strict=True):
            if piece.role is Role.USER and not scope.customers:
                continue
            entry = Entry(
                atom=piece,
                actor=_speaks(piece.role, speaker),
                span_id=id_,
                at=moment.at,
                group=(id_, "said", run),
                heard=False,
            )
            start = thread.say(entry, start, inner)

    def _told(self, item: AdmittedSpan, history: History) -> None:
        """Note what a model call was given, with the calls that were given the same at the same time."""
        others = self._given.setdefault((len(history.symbols), history.symbols[-1]), [])
        for one, given in others:
            if given == history.symbols and _same_call(one, item):
                self._twins.setdefault(item.span.span_id, set()).add(one.span.span_id)
                self._twins.setdefault(one.span.span_id, set()).add(item.span.span_id)
        others.append((item, history.symbols))


def _same_call(first: AdmittedSpan, second: AdmittedSpan) -> bool:
    """Whether two model calls overlap in time and name no different responses."""
    overlap = (
        first.span.start_unix_nano < second.span.end_unix_nano
        and second.span.start_unix_nano < first.span.end_unix_nano
    )
    named = {item.span.attributes.get("gen_ai.response.id") for item in (first, second)} - {None}
    return overlap and len(named) < 2


def _speaks(role: Role, speaker: Actor) -> Actor:
    if role is Role.USER:
        return Actor.CUSTOMER
    return Actor.TOOL if role is Role.TOOL else speaker


def _inner(tree: Tree, spoken: list[AdmittedSpan]) -> dict[str, frozenset[str]]:
    """For each span the speaking spans inside of it."""
    found: dict[str, set[str]] = {}
    for item in spoken:
        for above in tree.ancestors(item.span.span_id):
            found.setdefault(above.span.span_id, set()).add(item.span.span_id)
    return {span_id: frozenset(inside) for span_id, inside in found.items()}
