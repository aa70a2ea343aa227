"""How much of a dataset still shows a personal value: a leak rate from a sample that people looked at.

Theory. All rows of a dataset version have one order that nobody chooses and everybody can draw again: by the digest of
the version's name and the row's. Its first n rows are a simple random sample without replacement, and a larger sample
begins with a smaller one. Only rows that were looked at in that order count: a reviewer who picks rows cannot move the
estimate, and a gap ends the sample. A row leaks when any of its reviewers says so.

The interval is Clopper and Pearson's. It is exact for draws with replacement and too wide without, so it covers at
least what it says. Where no row leaks the bound is nearly 3 / n ("rule of three"); where every row was looked at the
rate is known. What a reviewer overlooks is in no interval.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from governance.rates import CONFIDENCE, at_most, clopper_pearson
from governance.records.base import Record
from governance.records.gate import Interval
from governance.records.row_review import RowReview


class LeakRate(Record):
    """The estimate for one dataset version."""

    root: str
    rows: int
    """How many rows it has now."""
    sample: int
    """How many of them count: the first of the order that all were looked at."""
    leaking: int
    leaks: dict[str, int]
    """Type to how many values were seen in the sample."""
    reviewers: tuple[str, ...]
    value: float | None
    interval: Interval
    at_most: float
    """One-sided bound at the same confidence."""


def in_order(root: str, rows: Iterable[str]) -> list[str]:
    """The rows of a dataset version in the order in which they are looked at."""
    return sorted(rows, key=lambda row: hashlib.sha256(f"{root}/{row}".encode()).digest())


def leak_rate(root: str, rows: Sequence[str], reviews: Iterable[RowReview], confidence: float = CONFIDENCE) -> LeakRate:
    """The leak rate of a dataset version; ``rows`` are those that are there now."""
    seen: dict[str, list[RowReview]] = {}
    for review in reviews:
        seen.setdefault(review.row, []).append(review)
    sample: list[list[RowReview]] = []
    for row in in_order(root, rows):
        if row not in seen:
            break
        sample.append(seen[row])
    leaking = sum(any(review.leaks for review in of_row) for of_row in sample)
    size, known = len(sample), bool(rows) and len(sample) == len(rows)
    value = leaking / size if size else None
    exact = Interval(low=leaking / max(size, 1), high=leaking / max(size, 1), confidence=confidence)
    return LeakRate(
        root=root,
        rows=len(rows),
        sample=size,
        leaking=leaking,
        leaks=_most(sample),
        reviewers=tuple(sorted({review.reviewer for of_row in sample for review in of_row})),
        value=value,
        interval=exact if known else clopper_pearson(leaking, size, confidence),
        at_most=exact.high if known else at_most(leaking, size, confidence),
    )


def _most(sample: Iterable[Sequence[RowReview]]) -> dict[str, int]:
    """Of each row and type the highest count that a reviewer saw, added up."""
    total: dict[str, int] = {}
    for of_row in sample:
        for kind in {kind for review in of_row for kind in review.leaks}:
            total[kind] = total.get(kind, 0) + max(review.leaks.get(kind, 0) for review in of_row)
    return dict(sorted(total.items()))
