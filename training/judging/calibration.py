"""Calibration: how far people agree with a judge, and what it may do with that.

Theory. What matters is order: of two answers to one prompt, which is better. So all pairs of answers to a prompt that
people rank are compared with the judge's ranking. A tie of the judge, or no score, is no agreement. Beside it stand:

- the *ceiling*: how often one rater agrees with the mean of the others, where an answer has several; no judge can be
  asked for more;
- the *length baseline*: the longer answer is better. A judge that is no better than that has learned to count;
- *rank correlation* within a prompt (Kendall's tau-b), averaged over prompts with three answers and more.

Pairs of one prompt are alike, so every interval is clustered by prompt (``governance.rates``,
``training.statistics``). A judge may gate while all of this holds: the calibration is of this very judge, prompt and
rubric, and has not expired; the lower end of its agreement is above chance; it beats the length baseline, by the lower
end of the paired difference; it left few answers without a score. Otherwise it may advise, and no gate counts it.

Sources: Kendall 1945 (tau-b); Dubois et al. 2024, arXiv 2404.04475 (length as a confounder of judges); Zheng et al.
2023, arXiv 2306.05685 (agreement with people).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import combinations
from statistics import fmean
from typing import Final

from governance.rates import Rate, Trials
from governance.records.base import Record, UtcTime
from governance.records.gate import Interval
from training.statistics import Pair, compare_pairs

CHANCE: Final = 0.5
MOST_UNGRADED: Final = 0.05


class RatedAnswer(Record):
    """An answer that people rated, and the judge's score of it."""

    prompt: str
    """What the answers to one request share."""
    length: int
    """Characters."""
    people: tuple[float, ...]
    """One rating of each rater."""
    judge: float | None
    """None where the judge gave none."""


class JudgeIdentity(Record):
    """What a calibration is of."""

    judge: str
    prompt_digest: str
    rubric_digest: str


class Calibration(Record):
    """What comparing a judge with people gave."""

    of: JudgeIdentity
    answers: int
    prompts: int
    ungraded: int
    agreement: Rate
    """Pairs ranked as people rank them."""
    length_baseline: Rate
    """The same of length."""
    over_length: float
    """Agreement less that of length, of the same pairs."""
    over_length_interval: Interval
    ceiling: Rate
    """Pairs that one rater ranks as the others do."""
    rank_correlation: float | None
    """None without a prompt of three answers that differ."""
    correlated_prompts: int
    made_at: UtcTime
    expires_at: UtcTime

    def why_not_gate(self, of: JudgeIdentity, now: datetime) -> tuple[str, ...]:
        """Why the judge may only advise; empty where it may gate."""
        ungraded = self.ungraded / self.answers if self.answers else 1.0
        checks = (
            (self.of == of, "the calibration is of another judge, prompt or rubric"),
            (now < self.expires_at, f"the calibration expired on {self.expires_at:%Y-%m-%d}"),
            (self.agreement.enough, f"{self.agreement.n} pairs of {self.prompts} prompts are too few to say"),
            (self.agreement.interval.low > CHANCE, "people agree with it no more than by chance"),
            (self.over_length_interval.low > 0, "it is not better than preferring the longer answer"),
            (ungraded <= MOST_UNGRADED, f"it left {ungraded:.0%} of the answers without a score"),
        )
        return tuple(reason for holds, reason in checks if not holds)


def calibrate(
    answers: Iterable[RatedAnswer], of: JudgeIdentity, made_at: datetime, expires_at: datetime
) -> Calibration:
    """Compare a judge with people."""
    by_prompt: dict[str, list[RatedAnswer]] = defaultdict(list)
    for one in answers:
        by_prompt[one.prompt].append(one)
    ranked = {prompt: list(_ranked(held)) for prompt, held in by_prompt.items()}
    judge, length, ceiling = Trials(), Trials(), Trials()
    pairs = []
    for prompt, found in ranked.items():
        for better, worse in found:
            right, longer = _above(better.judge, worse.judge), better.length > worse.length
            judge.add(right, 1, prompt)
            length.add(longer, 1, prompt)
            pairs.append(Pair(cluster=prompt, champion=longer, candidate=right))
            hits = list(_raters(better, worse))
            ceiling.add(sum(hits), len(hits), prompt)
    taus = [tau for held in by_prompt.values() if (tau := _tau(held)) is not None]
    compared = compare_pairs(pairs)
    return Calibration(
        of=of,
        answers=sum(map(len, by_prompt.values())),
        prompts=len(by_prompt),
        ungraded=sum(one.judge is None for held in by_prompt.values() for one in held),
        agreement=judge.rate(),
        length_baseline=length.rate(),
        over_length=compared.difference,
        over_length_interval=compared.interval,
        ceiling=ceiling.rate(),
        rank_correlation=fmean(taus) if taus else None,
        correlated_prompts=len(taus),
        made_at=made_at,
        expires_at=expires_at,
    )


def _ranked(held: Sequence[RatedAnswer]) -> Iterator[tuple[RatedAnswer, RatedAnswer]]:
    """The pairs that people rank, the better one first."""
    for one, other in combinations(held, 2):
        difference = fmean(one.people) - fmean(other.people)
        if difference:
            yield (one, other) if difference > 0 else (other, one)


def _above(better: float | None, worse: float | None) -> bool:
    return better is not None and worse is not None and better > worse


def _raters(better: RatedAnswer, worse: RatedAnswer) -> Iterator[bool]:
    """Of each rater of both: whether they rank the pair as the others do, where those rank it."""
    if len(better.people) != len(worse.people) or len(better.people) < 2:
        return
    for place in range(len(better.people)):
        others = [fmean(rest) for one in (better, worse) if (rest := one.people[:place] + one.people[place + 1 :])]
        if others[0] != others[1]:
            mine = better.people[place] - worse.people[place]
            yield mine != 0 and (mine > 0) == (others[0] > others[1])


def _tau(held: Sequence[RatedAnswer]) -> float | None:
    """Kendall's tau-b of one prompt's graded answers; None where one side does not rank them."""
    from scipy.stats import kendalltau

    graded = [(fmean(one.people), one.judge) for one in held if one.judge is not None]
    if len(graded) < 3:
        return None
    people, judge = zip(*graded, strict=True)
    if len(set(people)) < 2 or len(set(judge)) < 2:
        return 0.0 if len(set(people)) > 1 else None
    tau = float(kendalltau(people, judge).statistic)
    return tau if math.isfinite(tau) else None
