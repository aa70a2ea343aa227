"""Long lists in portions that fit one statement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def chunks(values: Sequence[T], size: int) -> Iterator[list[T]]:
    """``values`` in lists of at most ``size``, in order."""
    for start in range(0, len(values), size):
        yield list(values[start : start + size])
