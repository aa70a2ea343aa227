"""Messages taken apart into what can be compared: a text, a call, an answer of a tool.

Instrumentations cut one conversation differently: one message with two calls or two messages with one, answers of
tools inside a user's message or apart. Atoms are the pieces on which they agree.

1. An atom's ``symbol`` is a small number that stands for who says what, without ids; equal pieces have equal symbols.
   ``loose`` stands for the id of the call instead, for pieces whose words are written in two ways; where there is no
   id it equals ``symbol``. Comparing histories is comparing lists of numbers.
2. A message is taken apart once, however many spans hold it.
3. System messages have no atoms: they are the harness's and nobody's turn.
4. Atoms of one ``run`` were said in one breath: of one message, and of neighbouring messages of the assistant unless
   both are only text.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

from governance.grown import begins
from governance.records.message import Message, Part, Role, TextPart, ToolCallPart, ToolResultPart


class Atom(NamedTuple):
    """One piece of a message."""

    symbol: int
    loose: int
    role: Role
    parts: tuple[Part, ...]
    whole: Message | None = None
    """The message, where it has no other atom."""
    first: bool = True
    """The first of its message."""
    asks: bool = False
    """Its message asks for a tool."""

    @property
    def text(self) -> str:
        """Its words; empty for calls and answers."""
        return "\n".join(part.text for part in self.parts if isinstance(part, TextPart))


class History(NamedTuple):
    """What a list of messages says, in order. Neither list is ever changed."""

    atoms: list[Atom]
    symbols: list[int]
    system: int | None = None
    """A number for the instructions in it; None where there are none."""


def runs(atoms: Iterable[Atom]) -> list[int]:
    """For each of these neighbours the number of its run."""
    found: list[int] = []
    last: Atom | None = None
    for atom in atoms:
        joined = last is not None and atom.role is last.role is Role.ASSISTANT and (atom.asks or last.asks)
        found.append((found[-1] if found else 0) + (atom.first and not joined))
        last = atom
    return found


class Atoms:
    """The atoms of a trace's messages."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._symbols: dict[Hashable, int] = {}
        self._messages: dict[int, tuple[Message, tuple[Atom, ...]]] = {}
        """By identity; each message is held here, or a later one could be made in its place and taken for it."""
        self._same: dict[Hashable, tuple[Message, tuple[Atom, ...]]] = {}
        """The latest message of one call or answer by its id: most of that id are it again."""
        self._last: tuple[tuple[Message, ...], History, tuple[str, ...]] = (), History([], []), ()
        """The latest history, what it says, and its instructions."""

    def history(self, messages: tuple[Message, ...]) -> History:
        """What the messages say. Most histories begin with the one before: of those only the end is looked at."""
        last, held, system = self._last
        size = len(last)
        if not begins(messages, last):
            size, held, system = 0, History([], []), ()
        if size == len(messages):
            return held
        new: list[Atom] = []
        for message in messages[size:]:
            if message.role is Role.SYSTEM:
                system = (*system, message.text)
            new += self.of(message)
        number = self._number(("system", system)) if system else None
        made = History(held.atoms + new, held.symbols + [atom.symbol for atom in new], number)
        self._last = messages, made, system
        return made

    def of(self, message: Message) -> tuple[Atom, ...]:
        """The atoms of one message."""
        known = self._messages.get(id(message))
        if known is None:
            known = self._messages[id(message)] = message, self._again(message)
        return known[1]

    def _again(self, message: Message) -> tuple[Atom, ...]:
        """The atoms of an equal message that was read before, else its own."""
        if len(message.parts) != 1:
            return self._read(message)
        part = message.parts[0]
        if isinstance(part, TextPart):
            return self._text(message, part.text.strip())
        key = (message.role, part.type, part.id)
        before = self._same.get(key)
        if before is not None and part == before[0].parts[0]:
            return before[1]
        atoms = self._read(message)
        self._same[key] = message, atoms
        return atoms

    def _text(self, message: Message, said: str) -> tuple[Atom, ...]:
        """The atoms of one text: what ``_read`` gives of it."""
        if not said or message.role is Role.SYSTEM:
            return ()
        symbol = self._number((message.role, said))
        return (Atom(symbol, symbol, message.role, message.parts, message),)

    def _number(self, key: Hashable) -> int:
        return self._symbols.setdefault(key, len(self._symbols))

    def _read(self, message: Message) -> tuple[Atom, ...]:
        if message.role is Role.SYSTEM:
            return ()
        groups = _groups(message)
        if len(groups) == 1:
            return (self._atom(message.role, groups[0], message),)
        asks = any(isinstance(part, ToolCallPart) for part in message.parts)
        atoms = (self._atom(message.role, group) for group in groups)
        return tuple(atom._replace(first=number == 0, asks=asks) for number, atom in enumerate(atoms))

    def _atom(self, role: Role, parts: tuple[Part, ...], message: Message | None = None) -> Atom:
        """An atom of a message, which is given where it has no other."""
        first = parts[0]
        if isinstance(first, ToolCallPart):
            symbol = self._number((role, "call", first.name, frozen(first.arguments)))
            loose = self._number(("call", first.id)) if first.id else symbol
            return Atom(symbol, loose, role, parts, message, asks=True)
        if isinstance(first, ToolResultPart):
            symbol = self._number(("result", frozen(first.response)))
            whole = message if role is Role.TOOL else None
            return Atom(symbol, self._number(("result", first.id)) if first.id else symbol, Role.TOOL, parts, whole)
        said = "\n".join(part.text for part in parts if isinstance(part, TextPart)).strip()
        symbol = self._number((role, said))
        return Atom(symbol, symbol, role, parts, message)


def _groups(message: Message) -> list[tuple[Part, ...]]:
    """Texts that stand together, and every other part by itself; a text without a letter is none."""
    groups: list[tuple[Part, ...]] = []
    texts: list[Part] = []
    for part in message.parts:
        if isinstance(part, TextPart):
            if part.text and not part.text.isspace():
                texts.append(part)
            continue
        groups += [tuple(texts)] if texts else []
        texts = []
        groups.append((part,))
    return [*groups, tuple(texts)] if texts else groups


def frozen(value: Any) -> Hashable:
    """A JSON value as something that can be compared at once."""
    if value is None or isinstance(value, str):
        return value
    return "json", json.dumps(value, sort_keys=True)
