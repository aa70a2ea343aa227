"""Rates with honest intervals: how sure a share of trials is, when trials come in clusters.

*One rate.* Wilson's score interval (1927). *Trials that come in clusters* (labels of one text, texts of one template)
are not independent: counts are divided by the design effect, the cluster-robust variance of the rate over its variance
under independence, never below 1 (Rao & Scott 1992, Biometrics 48:577), and Student's quantile with (clusters - 1)
degrees of freedom takes the place of the normal one (Cameron & Miller 2015). Where all trials of all clusters agree
nothing shows how alike a cluster's trials are: then each cluster counts once. *A rate for which somebody must answer*
(a leak rate): Clopper and Pearson's exact interval (1934), which never covers less than it says.

*F-beta.* It rises in precision and in recall, so their intervals, each at half the error (Bonferroni), bound it: the
interval covers at least what it says, whatever the two have to do with each other, and does not collapse to a point
where everything was found, as a bootstrap does. It is wider than needed.

An interval wider than ``WIDEST`` says ``enough=False``: too few to say.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Final

from governance.records.base import Record
from governance.records.gate import Interval

CONFIDENCE: Final = 0.95
WIDEST: Final = 0.3
"""Beyond this width of its interval a rate is not told apart from most others."""


class Rate(Record):
    """A share of trials with its interval."""

    k: int
    n: int
    clusters: int
    value: float | None
    """None without a trial."""
    interval: Interval
    enough: bool
    """Whether the trials are enough to say anything."""


class Score(Record):
    """A number made of rates, with its interval."""

    value: float | None
    interval: Interval
    enough: bool


class Trials:
    """Hits among trials, added up cluster by cluster in bounded memory where clusters have no name."""

    def __init__(self) -> None:
        """None yet."""
        self._named: dict[Hashable, tuple[int, int]] = {}
        self._unnamed = (0, 0, 0, 0, 0, 0)

    def add(self, hits: int, trials: int, cluster: Hashable | None = None) -> None:
        """Add trials of a cluster; without a name they are a cluster of their own."""
        if trials == 0:
            return
        if cluster is None:
            self._unnamed = _plus(self._unnamed, hits, trials)
        else:
            before = self._named.get(cluster, (0, 0))
            self._named[cluster] = before[0] + hits, before[1] + trials

    def rate(self, confidence: float = CONFIDENCE) -> Rate:
        """The share of hits."""
        sums = self._unnamed
        for hits, trials in self._named.values():
            sums = _plus(sums, hits, trials)
        clusters, hits, trials = sums[:3]
        interval = _clustered(sums, confidence)
        return Rate(
            k=hits,
            n=trials,
            clusters=clusters,
            value=hits / trials if trials else None,
            interval=interval,
            enough=_narrow(interval),
        )


def f_beta(beta: float, precision: Trials, recall: Trials, confidence: float = CONFIDENCE) -> Score:
    """F-beta of a precision and a recall; None where either has no trial."""
    exact = [one.rate().value for one in (precision, recall)]
    wide = [one.rate((1 + confidence) / 2).interval for one in (precision, recall)]
    interval = Interval(
        low=_f(beta, wide[0].low, wide[1].low), high=_f(beta, wide[0].high, wide[1].high), confidence=confidence
    )
    value = None if exact[0] is None or exact[1] is None else _f(beta, exact[0], exact[1])
    return Score(value=value, interval=interval, enough=_narrow(interval))


def wilson(successes: float, total: float, confidence: float = CONFIDENCE, z: float | None = None) -> Interval:
    """Wilson's score interval of one rate; counts may be fractions. Without trials it is everything."""
    if z is None:
        z = normal_quantile(0.5 + confidence / 2)
    if total <= 0 or not math.isfinite(z):
        return Interval(low=0.0, high=1.0, confidence=confidence)
    z2 = z * z
    rate = successes / total
    middle = (rate + z2 / (2 * total)) / (1 + z2 / total)
    half = math.sqrt(z2 * (rate * (1 - rate) / total + z2 / (4 * total * total))) / (1 + z2 / total)
    low = 0.0 if successes == 0 else max(0.0, middle - half)
    high = 1.0 if successes == total else min(1.0, middle + half)
    return Interval(low=low, high=high, confidence=confidence)


def clopper_pearson(successes: int, total: int, confidence: float = CONFIDENCE) -> Interval:
    """The exact interval of one rate; without trials it is everything."""
    from scipy.special import betaincinv

    failures, error = total - successes, (1 - confidence) / 2
    low = float(betaincinv(successes, failures + 1, error)) if successes else 0.0
    high = float(betaincinv(successes + 1, failures, 1 - error)) if failures else 1.0
    return Interval(low=low, high=high, confidence=confidence)


def at_most(successes: int, total: int, confidence: float = CONFIDENCE) -> float:
    """The one-sided exact bound of a rate; with no success nearly 3 / total ("rule of three")."""
    return clopper_pearson(successes, total, 2 * confidence - 1).high


def normal_quantile(probability: float) -> float:
    """The standard normal's quantile."""
    from scipy.special import ndtri

    return float(ndtri(probability))


def t_quantile(probability: float, freedom: int) -> float:
    """Student's quantile; infinite without a degree of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, probability)) if freedom >= 1 else math.inf


_Sums = tuple[int, int, int, int, int, int]
"""Clusters, hits, trials, and over clusters the sums of hits², hits x trials, trials²."""


def _plus(sums: _Sums, hits: int, trials: int) -> _Sums:
    clusters, k, n, kk, kn, nn = sums
    return clusters + 1, k + hits, n + trials, kk + hits * hits, kn + hits * trials, nn + trials * trials


def _clustered(sums: _Sums, confidence: float) -> Interval:
    clusters, hits, trials = sums[:3]
    if clusters == trials:  # each trial is a cluster of its own: independent
        return wilson(hits, trials, confidence)
    effect = _design_effect(sums)
    return wilson(hits / effect, trials / effect, confidence, t_quantile(0.5 + confidence / 2, clusters - 1))


def _design_effect(sums: _Sums) -> float:
    clusters, hits, trials, kk, kn, nn = sums
    if clusters <= 1:
        return 1.0  # nothing can be said: the quantile is infinite
    if hits in {0, trials}:
        return trials / clusters
    rate = hits / trials
    independent = hits * (1 - rate) * trials / (trials - 1)
    robust = (kk - 2 * rate * kn + rate * rate * nn) * clusters / (clusters - 1)
    return max(1.0, robust / independent)


def _f(beta: float, precision: float, recall: float) -> float:
    below = beta * beta * precision + recall
    return (1 + beta * beta) * precision * recall / below if below else 0.0


def _narrow(interval: Interval) -> bool:
    return interval.high - interval.low <= WIDEST
