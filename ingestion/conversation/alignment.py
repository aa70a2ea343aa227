"""Where a history that a model call was given continues what is known of the conversation.

Both are lists of numbers (``atoms``). A history may be whole, cut at its start, cut in the middle with its first
messages kept, begin with a summary of what was cut, or repeat nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Spot(NamedTuple):
    """``given[start:end]`` is the end of what is known: before it is what was left or summarised, after it the new."""

    start: int
    end: int


def spot(known: list[int], given: list[int]) -> Spot | None:
    """Where the end of ``known`` stands in ``given``; None where it does not.

    In this order: the whole of ``known`` first in ``given``; the longest end of it first in ``given``; the longest end
    of it anywhere in ``given``, the last of equals.
    """
    if not known or not given:
        return None
    size = len(known)
    if given[:size] == known:
        return Spot(0, size)
    for start in range(max(0, size - len(given)), size):
        if known[start] == given[0] and known[start:] == given[: size - start]:
            return Spot(0, size - start)
    best: Spot | None = None
    for end in range(len(given), 0, -1):
        if given[end - 1] == known[-1]:
            length = _common_end(known, given[:end])
            if best is None or length > best.end - best.start:
                best = Spot(end - length, end)
    return best


def _common_end(first: Sequence[int], second: Sequence[int]) -> int:
    length = 0
    while length < min(len(first), len(second)) and first[-1 - length] == second[-1 - length]:
        length += 1
    return length


def woven(known: Sequence[int], given: Sequence[int]) -> list[int | None]:
    """For each of ``given`` its place in ``known``, places ascending; None where it has none."""
    places: list[int | None] = []
    present, start = set(known), 0
    for number in given:
        try:
            place = known.index(number, start) if number in present else None
        except ValueError:
            place = None
        places.append(place)
        start = start if place is None else place + 1
    return places
