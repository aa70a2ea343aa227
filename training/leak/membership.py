"""Whether the people an adapter learned from can be told from others by what it finds likely.

Theory. The attack scores a row by how much likelier the adapter makes its learned tokens than the base does, per token:
the reference takes away what is likely of anybody (Carlini et al. 2022, with the base as the one reference model). The
unit is the person, since one person's rows are alike: a person's score is the mean over their rows, and who stands on
both sides is left out. The AUC is the chance that a member scores above somebody else; its interval is DeLong's,
with the bound of Hanley and McNeil's variance at the edge, where DeLong's collapses.

Others come from the same scope but from later days, so that what changes in time widens the difference: an attack that
succeeds may owe it to the calendar, and one that fails owes nothing to it.

Source: Carlini et al., Membership Inference Attacks From First Principles (IEEE S&P 2022); DeLong et al. 1988
(Biometrics 44:837); Hanley & McNeil 1982 (Radiology 143:29).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from governance.rates import normal_quantile
from governance.records.dataset import DatasetRow
from governance.records.gate import Interval
from governance.records.leak import MembershipReport
from training.errors import LeakTestRefused

CONFIDENCE = 0.95
FEWEST = 10
"""People on each side, at least."""

RowScore = Callable[[DatasetRow], float]


def measure(
    adapter: str, members: Iterable[DatasetRow], others: Iterable[DatasetRow], score: RowScore, at: datetime
) -> MembershipReport:
    """Score the people of both sides and compare.

    Raises:
        LeakTestRefused: when a side has too few people to say anything.

    """
    inside, outside = _by_person(members), _by_person(others)
    both = inside.keys() & outside.keys()
    sides = [
        [sum(map(score, rows)) / len(rows) for person, rows in sorted(side.items()) if person not in both]
        for side in (inside, outside)
    ]
    if min(map(len, sides)) < FEWEST:
        raise LeakTestRefused(
            f"membership of {adapter[:12]}: {len(sides[0])} people learned from and {len(sides[1])} others; "
            f"{FEWEST} of each are needed"
        )
    auc, interval = area(sides[0], sides[1])
    return MembershipReport(
        adapter=adapter, members=len(sides[0]), others=len(sides[1]), auc=auc, interval=interval, at=at
    )


def row_score(row: DatasetRow, adapter: Sequence[float], base: Sequence[float]) -> float:
    """How much likelier the adapter makes a learned token of the row than the base does, on average."""
    gains = [mine - its for mine, its, learned in zip(adapter, base, row.completion_mask[1:], strict=True) if learned]
    return sum(gains) / len(gains)


def area(members: Sequence[float], others: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, Interval]:
    """The AUC with its interval; a tie is half a win."""
    import numpy as np

    first, second = np.asarray(members), np.asarray(others)
    wins = (first[:, None] > second[None, :]) + 0.5 * (first[:, None] == second[None, :])
    auc = float(wins.mean())
    delong = wins.mean(axis=1).var(ddof=1) / len(first) + wins.mean(axis=0).var(ddof=1) / len(second)
    half = normal_quantile(0.5 + confidence / 2) * math.sqrt(max(float(delong), _hanley(auc, len(first), len(second))))
    return auc, Interval(low=max(0.0, auc - half), high=min(1.0, auc + half), confidence=confidence)


def _hanley(auc: float, members: int, others: int) -> float:
    """The variance under exponential scores, at an area drawn in from the edge by half a person of the smaller side."""
    edge = 1 / (2 * min(members, others))
    inner = min(max(auc, edge), 1 - edge)
    one, two = inner / (2 - inner), 2 * inner * inner / (1 + inner)
    spread = inner * (1 - inner) + (members - 1) * (one - inner * inner) + (others - 1) * (two - inner * inner)
    return spread / (members * others)


def _by_person(rows: Iterable[DatasetRow]) -> dict[tuple[str, str], list[DatasetRow]]:
    found: dict[tuple[str, str], list[DatasetRow]] = defaultdict(list)
    for row in rows:
        found[row.tenant_id, row.subject].append(row)
    return found
