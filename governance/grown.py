"""Sequences that repeat and grow: what was made of the beginning is not made again.

Theory. A model call repeats its conversation, so of the sequences that come one after the other most begin with the
one before. What is made of a sequence here is made of each element by itself, so the beginning has been made already.
Elements are the same when they are identical: Python calls 1, 1.0 and True equal, and JSON does not.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, TypeVar

SHORTEST: Final = 4
"""Shorter sequences are made anew, so that they do not displace a long one."""
T = TypeVar("T")
Sequenced = tuple[Any, ...]


def begins(values: Sequenced, first: Sequenced) -> bool:
    """Whether a sequence begins with another one, the very same elements."""
    return len(first) <= len(values) and all(map(operator.is_, values, first))


class Grown(Generic[T]):
    """Remembers the last sequence and what was made of it."""

    def __init__(self, make: Callable[[Sequenced], Sequence[T]]) -> None:
        """``make`` makes one thing of each element."""
        self._make = make
        self._last: Sequenced = ()
        self._made: tuple[T, ...] = ()

    def __call__(self, values: Sequenced) -> tuple[T, ...]:
        """What is made of each element, in order."""
        if len(values) < SHORTEST:
            return tuple(self._make(values))
        known = len(self._last)
        if known and begins(values, self._last):
            made = self._made if len(values) == known else self._made + tuple(self._make(values[known:]))
        else:
            made = tuple(self._make(values))
        self._last, self._made = values, made
        return made
