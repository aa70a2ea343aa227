"""Finds the JSON in any text, whole or not: its strings, its personal-looking numbers, and the names of their fields.

Theory. Agents write JSON after a prefix, one value a line, in a fence, cut off at either end, with ``NaN``, with a
field twice, and as Python prints a dictionary. A parser refuses all of these. This reader never does: it looks for
where an object, a list of them or a ``"name":`` begins, takes what goes on as JSON, and where something else comes,
that is prose again and the search goes on behind it. A string that nothing ends is taken to the end of its line.

It reads forward only and looks back at nothing, so its time grows with the text and no faster. It keeps the two names
above a field, which is what ``fields`` looks at, so deep nesting costs no more than flat.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from governance.masking import fields

_NAMES_ABOVE: Final = 3
_START: Final = re.compile(
    r"\{(?=\s{0,300}(?:[bBuU]?[\"'{}]|[A-Za-z_$][\w$\-]{0,60}\s{0,4}:|:\w{1,60}\s{0,4}=>))|\[(?=\s{0,300}[{\[])"
    r"|\"(?:[^\"\\\n]|\\.){1,200}+\"(?=\s{0,20}(?::|=>))|(?<!\w)'(?:[^'\\\n]|\\.){1,80}+'(?=\s{0,20}(?::|=>))"
)
_SPACE: Final = re.compile(r"\s*+")
_STRING: Final = {
    '"': re.compile(r'"((?:[^"\\\n]|\\.)*+)(?P<end>"?)'),
    "'": re.compile(r"'((?:[^'\\\n]|\\.)*+)(?P<end>'?)"),
}
_LINES: Final = {
    '"': re.compile(r'"((?:[^"\\]|\\.){0,2000}+)(?P<end>")(?=\s{0,300}[,}\]])', re.DOTALL),
    "'": re.compile(r"'((?:[^'\\]|\\.){0,2000}+)(?P<end>')(?=\s{0,300}[,}\]])", re.DOTALL),
}
"""A string with line ends in it, which is no JSON and is written all the same."""
_NUMBER: Final = re.compile(r"-?(\d++)(\.\d++)?([eE][+\-]?\d++)?(?![\w.:\-])")
_LITERAL: Final = re.compile(r"(?:-?(?:NaN|Infinity|inf)|nan|true|false|null|True|False|None|undefined)\b")
_BARE_NAME: Final = re.compile(r"[A-Za-z_$][\w$.\-]*+(?=\s{0,20}:)|:\w++(?=\s{0,20}=>)")
_SIGN: Final = re.compile(r":|=>")
"""Between a name and its value, in JSON and Python, and in Ruby and PHP."""
_PREFIX: Final = re.compile(r"[bBuUrRfF]{1,2}(?=[\"'])")
_QUOTED: Final = r"\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'"
_WRITTEN: Final = re.compile(
    rf"[A-Za-z_$][\w$.]*+\((?P<called>(?:[^()\"'\n]|{_QUOTED}|\((?:[^()\"'\n]|{_QUOTED})*+\))*+)\)"
    r"|<(?P<angled>[^<>\n]*+)>|(?P<word>[A-Za-z_$][\w$.]*+)(?=\s*[,}\]])"
)
"""How a program writes an object: ``datetime.date(1990, 4, 5)``, ``<Status.OPEN: 1>``, ``nil``."""
_LONGEST_WRITTEN: Final = 600
_ONE_STRING: Final = re.compile(r"\s*+[bBuUrR]{0,2}([\"'])(.*)\1\s*+")
PROSE: Final = "("
"""Stands for the quote of what a program writes: it is read as prose, unless its field says more."""
_NO_NAME: Final = ("",)
_TOP: Final[tuple[str, ...]] = ()
_CLOSES: Final = {"}": "{", "]": "["}


class Token(NamedTuple):
    """A string or a number in a JSON text."""

    start: int
    end: int
    """Of what stands between the quotes."""
    quote: str
    """Empty for a number, ``PROSE`` for what stands between the brackets of an object that a program wrote."""
    path: tuple[str, ...]
    """The names above it, folded; the innermost is the last. Those of a field's name are above its object."""
    siblings: frozenset[str]
    is_name: bool = False
    """Whether it is the name of a field."""
    holder: int = 0
    """Where the object of a field's name begins."""


class Region(NamedTuple):
    """A part of a text that is JSON."""

    start: int
    end: int
    tokens: list[Token]


class _Names:
    """The names of an object's fields, by what stands before their last dot."""

    def __init__(self, beside: frozenset[str] = frozenset()) -> None:
        self._growing: dict[tuple[str, ...], set[str]] = {}
        self._known = {_TOP: beside}

    def add(self, parts: tuple[str, ...]) -> None:
        self._growing.setdefault(parts[:-1], set()).update(parts[-1:])

    def beside(self, parts: tuple[str, ...]) -> frozenset[str]:
        """The names beside one, once all are read: one set for all that stand side by side."""
        above = parts[:-1]
        if above in self._growing:
            self._known[above] = frozenset(self._growing.pop(above))
        return self._known.get(above, frozenset())


@dataclass
class _Level:
    """An object or a list that is being read."""

    kind: str
    begin: int
    path: tuple[str, ...]
    names: _Names = field(default_factory=_Names)
    parts: tuple[str, ...] = ()
    """Of the name of now."""
    label: tuple[str, ...] = ()
    """The name that the object gives to a value in it."""

    def below(self) -> tuple[str, ...]:
        return (self.path + fields.paired(self.parts, self.label))[-_NAMES_ABOVE:]


class _Found(NamedTuple):
    """A token before the names beside it are known."""

    start: int
    end: int
    quote: str
    level: _Level
    parts: tuple[str, ...]
    is_name: bool


def regions(text: str, above: tuple[str, ...] = (), beside: frozenset[str] = frozenset()) -> Iterator[Region]:
    """The JSON in a text, in order; the text stands under the names ``above``, with the names ``beside``."""
    place = 0
    while (match := _START.search(text, place)) is not None:
        reader = _Reader(text, _Level("[", 0, above[:-1], _Names(beside), above[-1:]))
        begin = match.start()
        place = max(reader.read(begin), begin + 1)
        if reader.found:
            last = reader.found[-1]
            place = max(place, min(last.end + len(last.quote), len(text)))
            yield Region(begin, place, [_token(one) for one in reader.found])


def _token(one: _Found) -> Token:
    level = one.level
    path = level.path if one.is_name else (level.path + fields.paired(one.parts, level.label))[-_NAMES_ABOVE:]
    beside = level.names.beside(one.parts)
    return Token(one.start, one.end, one.quote, path, beside, one.is_name, level.begin)


class _Reader:
    """Reads one region."""

    def __init__(self, text: str, above: _Level) -> None:
        self._text = text
        self._above = above
        self._levels: list[_Level] = []
        self.found: list[_Found] = []

    def read(self, at: int) -> int:
        """Read from where JSON begins; where it is none any more."""
        if self._text[at] in "\"'":
            self._levels.append(_Level("{", at, self._above.below()))
            after = self._name(at)
        else:
            after = self._open(at)
        while after is not None and self._levels:
            at = after
            after = self._next(self._space(at))
        return at if after is None else after

    def _next(self, at: int) -> int | None:
        """Read one more value, with its name, or the end of a level; None where it is no JSON."""
        level, char = self._levels[-1], self._text[at : at + 1]
        if char in _CLOSES:
            return self._close(at)
        if char == ",":
            return at + 1
        if level.kind == "{":
            return self._name(at)
        return self._value(at)

    def _open(self, at: int) -> int:
        above = self._levels[-1] if self._levels else self._above
        listed = self._text[at] == "["
        level = _Level("[", at, above.path, above.names, above.parts) if listed else _Level("{", at, above.below())
        self._levels.append(level)
        return at + 1

    def _close(self, at: int) -> int | None:
        if self._levels[-1].kind != _CLOSES[self._text[at]]:
            return None
        self._levels.pop()
        return at + 1

    def _name(self, at: int) -> int | None:
        """Read a field's name, its colon and its value; a string without a colon is one of a set."""
        at = self._prefixed(at)
        char = self._text[at : at + 1]
        quoted = _STRING[char].match(self._text, at) if char in _STRING else None
        name = quoted or _BARE_NAME.match(self._text, at) or _NUMBER.match(self._text, at)
        if name is None:
            return None
        level, behind = self._levels[-1], self._space(name.end())
        sign = _SIGN.match(self._text, behind)
        if sign is None:
            level.parts = _NO_NAME
            return self._value(at)
        level.parts = fields.fold(quoted.group(1) if quoted else name.group().lstrip(":")) or _NO_NAME
        level.names.add(level.parts)
        if quoted:
            self.found.append(_Found(*quoted.span(1), char, level, level.parts, is_name=True))
        value = self._space(sign.end())
        return self._value(value) if value < len(self._text) else value

    def _prefixed(self, at: int) -> int:
        """Behind the letters that Python writes before a string."""
        match = _PREFIX.match(self._text, at)
        return match.end() if match else at

    def _value(self, at: int) -> int | None:
        at = self._prefixed(at)
        char = self._text[at : at + 1]
        if char in {"{", "["}:
            return self._open(at)
        if char in _STRING:
            return self._string(at, char)
        if number := _NUMBER.match(self._text, at):
            whole = number.span() if number.group(3) else number.span(1)
            self._add(*whole, "")
            return number.end()
        literal = _LITERAL.match(self._text, at)
        return literal.end() if literal else self._written(at)

    def _written(self, at: int) -> int | None:
        """Read an object as a program writes it; a string that is all of it is the value."""
        match = _WRITTEN.match(self._text, at, at + _LONGEST_WRITTEN)
        if match is None:
            return None
        kind = str(match.lastgroup)
        only = _ONE_STRING.fullmatch(match.group(kind)) if kind == "called" else None
        start, end = match.span(kind)
        if only is not None and only.group(1) not in only.group(2):
            self._add(start + only.start(2), start + only.end(2), only.group(1))
        elif start < end:
            self._add(start, end, PROSE)
        return match.end()

    def _string(self, at: int, quote: str) -> int:
        match = _STRING[quote].match(self._text, at)
        if match is not None and not match.group("end"):
            match = _LINES[quote].match(self._text, at) or match
        if match is None:  # the character before says there is one
            return at + 1
        self._add(*match.span(1), quote)
        return match.end()

    def _add(self, start: int, end: int, quote: str) -> None:
        level = self._levels[-1]
        if quote and not level.label and level.kind == "{" and fields.holds_label(level.parts):
            level.label = fields.label(self._text[start:end])
        self.found.append(_Found(start, end, quote, level, level.parts, is_name=False))

    def _space(self, at: int) -> int:
        match = _SPACE.match(self._text, at)
        return match.end() if match else at
