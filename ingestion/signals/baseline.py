"""A baseline: what the same agent's earlier runs took and cost, so that a run can be told to be far from them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from statistics import median
from typing import Final, Self

from governance.records.base import Record
from governance.records.outline import RunOutline
from governance.records.trajectory import Actor

SPREAD: Final = 1.4826
"""Times the median absolute deviation: the standard deviation, where values are normally distributed."""
_MADE_UP: Final = timedelta(milliseconds=1)
"""Imported runs without times of their own are placed a few microseconds apart: no run of an agent is that short."""


_PARTS: Final = frozenset({"missing_root", "open_span"})
"""Of a run that is not whole yet, neither time nor cost is known."""


class Far(Record):
    """How far a value is from the others."""

    value: float
    median: float
    spread: float
    ratio: float
    sample: int


class Figures(Record):
    """What one run took and cost. None where it cannot be told."""

    seconds: float | None = None
    cost: float | None = None
    currency: str | None = None
    tokens: int | None = None

    @classmethod
    def of(cls, run: RunOutline) -> Self:
        """The figures of a run. One that a person finished has their time in it; a part of a cost is none."""
        took = run.ended_at - run.started_at
        whole = _PARTS.isdisjoint(run.incomplete)
        timed = whole and Actor.HUMAN not in run.actors and took >= _MADE_UP
        costed = whole and run.usage.cost is not None and not run.usage.uncosted_tokens
        return cls(
            seconds=took.total_seconds() if timed else None,
            cost=run.usage.cost if costed else None,
            currency=run.usage.currency if costed else None,
            tokens=run.usage.total_tokens or None if whole else None,
        )


class Baseline(Record):
    """The figures of earlier runs, the newest last."""

    runs: tuple[Figures, ...] = ()

    def seconds(self) -> list[float]:
        """How long they took."""
        return [one.seconds for one in self.runs if one.seconds is not None]

    def costs(self, currency: str | None) -> list[float]:
        """What they cost, in one currency."""
        return [one.cost for one in self.runs if one.cost is not None and one.currency == currency]

    def tokens(self) -> list[float]:
        """The tokens that they used."""
        return [float(one.tokens) for one in self.runs if one.tokens is not None]


def far(value: float, others: Iterable[float], *, sample: int, distance: float, ratio: float) -> Far | None:
    """How far above the others a value is, if it is an outlier among at least ``sample`` of them."""
    known = sorted(others)
    if len(known) < sample:
        return None
    middle = median(known)
    if middle <= 0 or value < ratio * middle:
        return None
    spread = SPREAD * median(abs(one - middle) for one in known)
    if value - middle <= distance * spread:
        return None
    return Far(value=value, median=middle, spread=spread, ratio=value / middle, sample=len(known))
