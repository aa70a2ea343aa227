"""Where each leaf of a JSON text stands in the text itself, character by character.

Masking opens a text that is JSON, so its places are places in leaves, where escapes are characters. Labels of the same
text may count in the text as it is written. This maps the first to the second, through JSON inside strings, too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from json import JSONDecoder
from typing import Final, NamedTuple, Self

from governance.masking.reading import DEEPEST
from governance.masking.walker import leaves

_DECODER: Final = JSONDecoder()
_SPACE: Final = re.compile(r"[ \t\n\r]*")
_SCALAR: Final = re.compile(r"[^\s,\]}]+")
_CHARACTER: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL
)


class _Leaf(NamedTuple):
    text: str
    positions: Sequence[int]
    """Where each character begins, and where the last one ends."""


class RawPlaces:
    """The leaves of one JSON text."""

    def __init__(self, found: dict[str, _Leaf]) -> None:
        """Use ``of``."""
        self._found = found

    @classmethod
    def of(cls, text: str) -> Self | None:
        """The places of a text; None when masking takes it as it is."""
        if all(not leaf.pointer for leaf in leaves(text)):
            return None
        found: dict[str, _Leaf] = {}
        _Reader(text, range(len(text) + 1), found, 0).value(0, "")
        return cls(found)

    def raw(self, pointer: str, start: int, end: int) -> tuple[int, int] | None:
        """Where characters of a leaf stand in the text; None when the text has no such leaf."""
        leaf = self._found.get(pointer)
        if leaf is None or not 0 <= start < end < len(leaf.positions):
            return None
        return leaf.positions[start], leaf.positions[end]


class _Reader:
    """Reads JSON that is known to be valid."""

    def __init__(self, text: str, outer: Sequence[int], found: dict[str, _Leaf], depth: int) -> None:
        self._text, self._outer, self._found, self._depth = text, outer, found, depth

    def value(self, at: int, pointer: str) -> int:
        """Read the value at a place; where it ends."""
        at = self._space(at)
        if self._text[at] in "{[":
            return self._container(at, pointer)
        if self._text[at] == '"':
            return self._string(at, pointer)
        match = _SCALAR.match(self._text, at)
        end = match.end() if match else at + 1
        self._found[pointer] = _Leaf(self._text[at:end], self._outer[at : end + 1])
        return end

    def _container(self, at: int, pointer: str) -> int:
        named = self._text[at] == "{"
        at, number = self._space(at + 1), 0
        while self._text[at] not in "}]":
            token = str(number)
            if named:
                key, at = _DECODER.raw_decode(self._text, at)
                token = str(key).replace("~", "~0").replace("/", "~1")
                at = self._space(at) + 1  # behind the colon
            at = self._space(self.value(at, f"{pointer}/{token}"))
            number += 1
            if self._text[at] == ",":
                at = self._space(at + 1)
        return at + 1

    def _string(self, at: int, pointer: str) -> int:
        text, end = _DECODER.raw_decode(self._text, at)
        positions = self._positions(at + 1, end - 1)
        self._found[pointer] = _Leaf(text, positions)
        if self._depth < DEEPEST and any(leaf.pointer for leaf in leaves(text)):
            _Reader(text, positions, self._found, self._depth + 1).value(0, pointer)
        return end

    def _positions(self, start: int, end: int) -> Sequence[int]:
        places = [match.start() for match in _CHARACTER.finditer(self._text, start, end)]
        return [self._outer[place] for place in [*places, end]]

    def _space(self, at: int) -> int:
        match = _SPACE.match(self._text, at)
        return match.end() if match else at
