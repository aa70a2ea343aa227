"""The executed calls of a trace, each once, whether a tool's span shows them, messages do, or both.

1. A tool's span is a call that a message of its scope asked for (``matching``). Each call and each span is taken once.
2. What either form lacks (id, arguments, answer) comes from the other; so do the named arguments of a call whose span
   has only a bare value, as LangChain writes a single argument. An answer that only the span has becomes a turn after
   its call.
3. A span that no message asked for becomes a turn of its own, with its answer: together with others that ran after the
   same model call, or, where there is none, at the same time.
4. A call that only messages show was executed when they hold its answer and this run asked for it; one in the run's
   history was executed before.
5. Calls stand in order of time; those of one message, which may run at once, in the order in which it asks for them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Any

from governance.records.base import from_unix_nano
from governance.records.content import AdmittedSpan
from governance.records.message import Message, Role, ToolCallPart, ToolResultPart
from governance.records.trajectory import Actor, ToolInvocation
from ingestion.actors import actor
from ingestion.calls import call_id, invocation, tool_spans
from ingestion.conversation.asked import Asked, asked_in
from ingestion.conversation.atoms import Atoms
from ingestion.conversation.matching import HANDOFF, Open
from ingestion.conversation.observations import drop_observations
from ingestion.conversation.scopes import CHAT, Scope, Scopes
from ingestion.conversation.thread import Entry, Thread
from ingestion.tree import Tree


class Executed:
    """Brings the tools of a trace and what its messages say about them together."""

    def __init__(self, tree: Tree, atoms: Atoms, scopes: Scopes, threads: Iterable[Thread]) -> None:
        """After this, the threads hold every call and every answer."""
        self._tree, self._atoms, self._scopes = tree, atoms, scopes
        self._asked: dict[int, list[Asked]] = {}
        self._strays: dict[int, list[Entry]] = {}
        for thread in threads:
            self._asked[id(thread)], self._strays[id(thread)] = asked_in(thread)
        self._open = {thread_id: Open(asked) for thread_id, asked in self._asked.items()}
        self._made: dict[str, ToolInvocation] = {}
        self._models: dict[int, list[int]] | None = None
        spans = tool_spans(tree)
        pairs = [(item, self._match(item)) for item in spans]
        self.calls = self._ordered([(self._invocation(item, asked), asked) for item, asked in pairs])
        drop_observations(scopes.main_thread, self._made.values())
        for item, found in pairs:
            if found is not None:
                self._complete(item, found)
        for group in self._groups([item for item, found in pairs if found is None and item.content is not None]):
            self._unasked(group)

    def thread(self, item: AdmittedSpan) -> Thread:
        """The thread in which a tool was called."""
        scope: Scope | None = self._scopes.around(item)
        while scope is not None and scope.thread is None:
            scope = scope.above
        thread = None if scope is None else scope.thread
        return thread if thread is not None and id(thread) in self._asked else self._scopes.main_thread

    def _match(self, item: AdmittedSpan) -> Asked | None:
        made = self._made[item.span.span_id] = invocation(item, self._tree)
        return self._open[id(self.thread(item))].take(made, call_id(item))

    def _invocation(self, item: AdmittedSpan, asked: Asked | None) -> ToolInvocation:
        made = self._made[item.span.span_id]
        if asked is None:
            return made
        lacking: dict[str, Any] = {}
        bare = not isinstance(made.arguments, dict) and call_id(item) == asked.part.id
        if item.content is not None and (made.arguments is None or (bare and isinstance(asked.part.arguments, dict))):
            lacking["arguments"] = asked.part.arguments
        if made.result is None and made.error is None and item.content is not None:
            lacking["result"] = asked.result
        if made.name.startswith(HANDOFF):
            lacking["name"] = asked.part.name
        if call_id(item) is None and asked.part.id:
            lacking["call_id"] = asked.part.id
        return made.model_copy(update=lacking) if lacking else made

    def _ordered(self, shown: list[tuple[ToolInvocation, Asked | None]]) -> list[ToolInvocation]:
        """All calls by time; those that were asked for together as they were asked for, in the places they hold."""
        asked = [one for many in self._asked.values() for one in many]
        told = (one for one in asked if not one.executed and one.answer is not None and not one.entry.earlier)
        placed = [*shown, *((_of_messages(one), one) for one in told)]
        placed.sort(key=lambda pair: (pair[0].started_at, pair[0].span_id))
        order = {id(one): number for number, one in enumerate(asked)}
        places: dict[object, list[int]] = {}
        for place, (_, one) in enumerate(placed):
            if one is not None:
                places.setdefault(one.entry.group, []).append(place)
        result = [call for call, _ in placed]
        for held in places.values():
            together = sorted((placed[place] for place in held), key=lambda pair: order[id(pair[1])])
            for place, (call, _) in zip(held, together, strict=True):
                result[place] = call
        return result

    def _complete(self, item: AdmittedSpan, asked: Asked) -> None:
        """The id and the answer of a call that messages ask for, where only its span has them."""
        id_ = asked.part.id or call_id(item) or ""
        if not asked.part.id and id_:
            named = asked.part.model_copy(update={"id": id_})
            asked.entry.atom = asked.entry.atom._replace(parts=(named,), whole=None)
            answer = None if asked.answer is None else asked.answer.atom.parts[0]
            if asked.answer is not None and isinstance(answer, ToolResultPart) and not answer.id:
                parts = (answer.model_copy(update={"id": id_}),)
                asked.answer.atom = asked.answer.atom._replace(parts=parts, whole=None)
        if asked.answer is None:
            entry = self._answer(item, id_)
            if entry is not None:
                asked.thread.put_after(_last_of(asked.thread, asked.entry), entry)

    def _answer(self, item: AdmittedSpan, id_: str) -> Entry | None:
        """The turn of a tool's answer; None where its span holds none."""
        made = self._made[item.span.span_id]
        response = made.result if made.error is None else {"error": made.error}
        if item.content is None or response is None:
            return None
        message = Message(role=Role.TOOL, parts=(ToolResultPart(id=id_, response=response),))
        end = max(item.span.start_unix_nano, item.span.end_unix_nano)
        return Entry(self._atoms.of(message)[0], Actor.TOOL, item.span.span_id, end, (item.span.span_id,), heard=False)

    # Tools that no message asked for

    def _groups(self, spans: list[AdmittedSpan]) -> list[list[AdmittedSpan]]:
        """Those that were asked for together."""
        groups: list[list[AdmittedSpan]] = []
        for item in spans:
            last = groups[-1] if groups else None
            if last is not None and self._together(last, item):
                last.append(item)
            else:
                groups.append([item])
        return groups

    def _together(self, group: list[AdmittedSpan], item: AdmittedSpan) -> bool:
        who = actor(item, self._tree)
        if self.thread(group[0]) is not self.thread(item) or actor(group[0], self._tree) is not who:
            return False
        models = [self._model_calls(one) for one in (group[0], item)]
        if who is Actor.AGENT and models[1]:
            return models[0] == models[1]
        return item.span.start_unix_nano < max(one.span.end_unix_nano for one in group)

    def _model_calls(self, item: AdmittedSpan) -> int:
        """How many model calls of its scope started before a tool did."""
        if self._models is None:
            self._models = {}
            for span_id, one in self._tree.spans.items():
                if self._tree.operation(span_id) == CHAT:
                    self._models.setdefault(id(self.thread(one)), []).append(one.span.start_unix_nano)
        # A tree's spans are in order of their start.
        return bisect_right(self._models.get(id(self.thread(item)), []), item.span.start_unix_nano)

    def _unasked(self, group: list[AdmittedSpan]) -> None:
        thread = self.thread(group[0])
        start = group[0].span.start_unix_nano
        place = len(thread.entries) - 1
        while place >= 0 and thread.entries[place].at > start:
            place -= 1
        answers = []
        for item in group:
            made = self._made[item.span.span_id]
            part = ToolCallPart(id=made.call_id, name=made.name, arguments=made.arguments)
            atom = self._atoms.of(Message(role=Role.ASSISTANT, parts=(part,)))[0]
            key = (group[0].span.span_id, "asked")
            thread.put_after(place, Entry(atom, made.actor, item.span.span_id, start, key, heard=False))
            place += 1
            answer = self._answer(item, made.call_id)
            if answer is not None and not self._held(thread, answer):
                answers.append(answer)
        for answer in answers:
            thread.put_after(place, answer)
            place += 1

    def _held(self, thread: Thread, answer: Entry) -> bool:
        """Whether a message holds the answer, with a call that no message holds."""
        strays = self._strays[id(thread)]
        same = (one for one in strays if answer.atom.loose == one.atom.loose or answer.atom.symbol == one.atom.symbol)
        found = next(same, None)
        if found is not None:
            strays.remove(found)
        return found is not None


def _last_of(thread: Thread, entry: Entry) -> int:
    """The place of the last piece of a message, or of the answers that follow it."""
    place = thread.entries.index(entry)
    while place + 1 < len(thread.entries):
        after = thread.entries[place + 1]
        if after.group != entry.group and after.actor is not Actor.TOOL:
            break
        place += 1
    return place


def _of_messages(asked: Asked) -> ToolInvocation:
    return ToolInvocation(
        span_id=asked.entry.span_id,
        call_id=asked.part.id or asked.entry.span_id,
        name=asked.part.name or "unknown",
        arguments=asked.part.arguments,
        result=asked.result,
        actor=asked.entry.actor,
        started_at=from_unix_nano(asked.entry.at),
    )
