"""One conversation as it grows: what each span adds to what the spans before it said.

1. ``hear`` takes a history that a call was given. What continues the end of the thread is new (``alignment``); what
   stands before that is repeated, left out, or a summary of it, and adds nothing. A thread in which no model was called
   yet takes a talk that stands before as its beginning; texts before the question that nobody answered are the app's.
2. A history without the end of the thread is told by what it holds, and by whether the calls of its scope repeat
   histories at all. Where they do, it is laid over the thread, in order, and the rest at its end is new; a piece that
   stands in the place of another one of the same role is that one in other words. Else all of it is new.
3. ``say`` takes what came out of a span. What its inner spans said already is not said again.
4. Pieces before the last question of the first history are ``earlier``: the run was given them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from governance.records.message import Role, ToolCallPart
from governance.records.trajectory import Actor
from ingestion.conversation.alignment import Spot, spot, woven
from ingestion.conversation.atoms import Atom, History, runs

_LEAST: Final = 2
"""Letters of a question that can be told inside of another text."""


@dataclass(eq=False)
class Entry:
    """One piece of the conversation, who said it, and the span that evidences it."""

    atom: Atom
    actor: Actor
    span_id: str
    at: int
    """Unix nanoseconds."""
    group: object
    """Pieces of one group are one message."""
    heard: bool
    """Known from a history that a span was given, not from what a span said."""
    earlier: bool = False
    stated: bool = False
    """Not heard by a model: what the customer wrote, as the app has it."""


class Heard(NamedTuple):
    """A history that a span was given."""

    span_id: str
    at: int
    history: History
    stated: bool
    """Given to an agent, or told of as the customer's prompt; else given to a model."""
    repeats: bool
    """Calls of this scope repeat what was said before."""
    customers: bool
    """Who speaks as user in it is the customer; else an app or another agent."""


class Thread:
    """The pieces of one conversation, in order."""

    def __init__(self, asked_by: Actor = Actor.CUSTOMER) -> None:
        """``asked_by`` is who speaks as user."""
        self.entries: list[Entry] = []
        self.begun = False
        """Whether a model was called in it."""
        self._asked_by = asked_by
        self._symbols: list[int] = []
        self._loose: list[int] = []
        self._known: set[int] = set()
        self._templates = False
        """The app puts what the customer wrote into texts of its own."""

    @property
    def states(self) -> bool:
        """Whether an agent's own span says what was asked."""
        return any(entry.stated and entry.atom.role is Role.USER for entry in self.entries)

    def continues(self, pieces: list[Atom]) -> bool:
        """Whether a history repeats or holds something of this thread."""
        if any(piece.symbol in self._known for piece in pieces):
            return True
        return (self._templates or not self.begun) and self._question(pieces) is not None

    def hear(self, heard: Heard) -> int:
        """Add what is new in a history; where in the thread what is said next may stand already."""
        pieces, given, _ = heard.history
        first = not self.begun
        self.begun = self.begun or not heard.stated
        if not self.entries:
            self._insert(0, heard, pieces, _before_question(pieces))
            return len(self.entries)
        found = spot(self._symbols, given) or spot(self._loose, [piece.loose for piece in pieces])
        if found is not None:
            self._continue(heard, found, first=first)
            return len(self.entries)
        if (first and not heard.stated) or heard.repeats or _is_history(pieces):
            places = woven(self._symbols, given)
            if any(place is not None for place in places):
                return self._lay_over(heard, places, first=first)
        asked = self._question(pieces) if first or self._templates else None
        self._templates = asked is not None
        new = pieces if asked is None else pieces[asked + 1 :]
        self._insert(len(self.entries), heard, new, 0)
        return len(self.entries)

    def say(self, entry: Entry, start: int, inner: frozenset[str] | None) -> int:
        """Add one piece that came out of a span, unless it stands at or after ``start``; the place after it.

        It may stand there because another span heard it already, or because one of ``inner`` said it, the spans inside
        of the one that says it; None are all.
        """
        for place in range(start, len(self.entries)):
            held = self.entries[place]
            same = held.atom.symbol == entry.atom.symbol or held.atom.loose == entry.atom.loose
            if same and (held.heard or inner is None or held.span_id in inner):
                held.heard = False
                return place + 1
        self._put(len(self.entries), entry)
        return len(self.entries)

    def put_after(self, place: int, entry: Entry) -> None:
        """Add a piece after a place, as evidenced by something else than a message."""
        self._put(place + 1, entry)

    def keep(self, wanted: Callable[[Entry], bool]) -> None:
        """Leave out the pieces that are not wanted."""
        if all(map(wanted, self.entries)):
            return
        self.entries = [entry for entry in self.entries if wanted(entry)]
        self._symbols = [entry.atom.symbol for entry in self.entries]
        self._loose = [entry.atom.loose for entry in self.entries]

    def _continue(self, heard: Heard, found: Spot, *, first: bool) -> None:
        before = heard.history.atoms[: found.start]
        if first and any(piece.role is Role.ASSISTANT for piece in before):
            self._insert(len(self.entries) - (found.end - found.start), heard, before, len(before))
        self._insert(len(self.entries), heard, heard.history.atoms[found.end :], 0)

    def _lay_over(self, heard: Heard, places: list[int | None], *, first: bool) -> int:
        """Put what has no place between its neighbours; the place after the last piece that has one."""
        shift, last = 0, -1
        waiting: list[Atom] = []
        for piece, place in zip(heard.history.atoms, places, strict=True):
            if place is None:
                waiting.append(piece)
                continue
            if waiting and (last >= 0 or first):
                new = _not_instead(waiting, self.entries[last + 1 : place + shift])
                shift += self._insert(place + shift, heard, new, len(new) if last < 0 else 0)
            waiting, last = [], place + shift
        self._insert(len(self.entries), heard, _not_instead(waiting, self.entries[last + 1 :]), 0)
        return last + 1 if not waiting else len(self.entries)

    def _insert(self, place: int, heard: Heard, pieces: list[Atom], earlier: int) -> int:
        """Put pieces at a place, the first ``earlier`` of them as history; how many there were."""
        count = 0
        for number, (piece, run) in enumerate(zip(pieces, runs(pieces), strict=True)):
            if piece.role is Role.USER and not heard.customers:
                continue
            entry = Entry(
                atom=piece,
                actor=self._actor(piece.role),
                span_id=heard.span_id,
                at=heard.at,
                group=(heard.span_id, "heard", place, run),
                heard=True,
                earlier=number < earlier,
                stated=heard.stated,
            )
            self._put(place + count, entry)
            count += 1
        return count

    def _put(self, place: int, entry: Entry) -> None:
        self.entries.insert(place, entry)
        self._symbols.insert(place, entry.atom.symbol)
        self._loose.insert(place, entry.atom.loose)
        self._known.add(entry.atom.symbol)

    def _actor(self, role: Role) -> Actor:
        if role is Role.USER:
            return self._asked_by
        return Actor.TOOL if role is Role.TOOL else Actor.AGENT

    def _question(self, pieces: list[Atom]) -> int | None:
        """Which piece holds, among other words, what the customer wrote as the app states it."""
        texts = {entry.atom.text.strip() for entry in self.entries if entry.stated and entry.atom.role is Role.USER}
        wanted = [text for text in texts if len(text) >= _LEAST]
        for number, piece in enumerate(pieces):
            if piece.role is Role.USER and any(_holds(piece.text, text) for text in wanted):
                return number
        return None


def _holds(text: str, part: str) -> bool:
    """Whether a text has another one in it, as words of their own."""
    at = text.find(part)
    if at < 0 or len(text.strip()) == len(part):
        return False
    around = text[max(0, at - 1) : at], text[at + len(part) : at + len(part) + 1]
    return not any(letter.isalnum() for letter in around)


def _before_question(pieces: list[Atom]) -> int:
    """How many pieces stand before the last question; none where nobody asks."""
    asked = [number for number, piece in enumerate(pieces) if piece.role is Role.USER]
    if not asked:
        return 0
    start = asked[-1]
    while start > 0 and pieces[start - 1].role is Role.USER:
        start -= 1
    return start


def _not_instead(pieces: list[Atom], held: list[Entry]) -> list[Atom]:
    """The pieces without those that say in other words what is held in their place."""
    count = 0
    while count < min(len(pieces), len(held)) and _kind(pieces[count]) == _kind(held[count].atom):
        count += 1
    return pieces[count:]


def _is_history(pieces: list[Atom]) -> bool:
    """Whether pieces can be no news to a model: it spoke itself, or tools answer after someone asked."""
    roles = [piece.role for piece in pieces]
    asked = roles.index(Role.USER) if Role.USER in roles else len(roles)
    return Role.ASSISTANT in roles or Role.TOOL in roles[asked:]


def _kind(atom: Atom) -> tuple[Role, bool]:
    return atom.role, isinstance(atom.parts[0], ToolCallPart)
