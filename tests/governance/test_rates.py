"""Rates: reference numbers, laws that any honest interval obeys, and short simulations of what they cover."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance.rates import Trials, at_most, clopper_pearson, f_beta, normal_quantile, t_quantile, wilson

CLUSTERS = st.lists(st.integers(1, 6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), max_size=30)


def test_quantiles_are_scipys() -> None:
    from scipy.stats import norm, t

    assert normal_quantile(0.975) == pytest.approx(norm.ppf(0.975))
    assert [t_quantile(0.975, freedom) for freedom in (1, 7, 400)] == pytest.approx(t.ppf(0.975, [1, 7, 400]))
    assert t_quantile(0.975, 0) == math.inf


def trials_of(clusters: list[tuple[int, int]]) -> Trials:
    made = Trials()
    for hits, trials in clusters:
        made.add(hits, trials)
    return made


def test_wilson_gives_scipys_numbers() -> None:
    from scipy.stats import binomtest

    for successes, total in [(0, 10), (1, 10), (7, 10), (10, 10), (63, 80), (1, 1)]:
        reference = binomtest(successes, total).proportion_ci(0.95, method="wilson")
        found = wilson(successes, total)
        assert (found.low, found.high) == pytest.approx((reference.low, reference.high), abs=1e-12)
        alone = trials_of([(1, 1)] * successes + [(0, 1)] * (total - successes)).rate()
        assert alone.interval == found, "trials that are clusters of their own are independent"
    assert (wilson(0, 0).low, wilson(0, 0).high) == (0.0, 1.0)


def test_the_exact_interval_and_the_rule_of_three() -> None:
    # Published: Clopper & Pearson's interval of 2 in 10 is 2.5% to 55.6%.
    found = clopper_pearson(2, 10)
    assert (found.low, found.high) == pytest.approx((0.0252, 0.5561), abs=1e-4)
    from scipy.stats import binomtest

    for successes, total in [(0, 1), (1, 1), (0, 40), (3, 40), (40, 40)]:
        reference = binomtest(successes, total).proportion_ci(0.9, method="exact")
        found = clopper_pearson(successes, total, 0.9)
        assert (found.low, found.high) == pytest.approx((reference.low, reference.high), abs=1e-9)
    assert at_most(0, 300) == pytest.approx(3 / 300, rel=0.01)
    assert (clopper_pearson(0, 0).high, at_most(0, 0)) == (1.0, 1.0)


@given(CLUSTERS)
def test_a_rate_lies_in_its_interval_whatever_the_order(clusters: list[tuple[int, int]]) -> None:
    rate = trials_of(clusters).rate()
    again = trials_of(clusters[::-1]).rate()
    assert 0 <= rate.interval.low <= rate.interval.high <= 1
    assert again.interval.low == pytest.approx(rate.interval.low, abs=1e-12)
    if rate.value is None:
        assert (rate.interval.low, rate.interval.high, rate.enough) == (0, 1, False)
    else:
        assert rate.interval.low - 1e-12 <= rate.value <= rate.interval.high + 1e-12


@given(CLUSTERS, st.integers(1, 8))
def test_a_named_cluster_is_the_same_however_it_is_split(clusters: list[tuple[int, int]], names: int) -> None:
    split, whole = Trials(), {}
    for place, (hits, trials) in enumerate(clusters):
        split.add(hits, trials, place % names)
        before = whole.get(place % names, (0, 0))
        whole[place % names] = before[0] + hits, before[1] + trials
    assert split.rate() == trials_of(list(whole.values())).rate()


@given(CLUSTERS)
def test_clusters_never_make_anything_surer(clusters: list[tuple[int, int]]) -> None:
    rate = trials_of(clusters).rate()
    independent = wilson(rate.k, rate.n)
    assert rate.interval.high - rate.interval.low >= independent.high - independent.low - 1e-12


def test_few_trials_say_nothing() -> None:
    assert not trials_of([(1, 1)] * 8).rate().enough
    assert trials_of([(1, 1)] * 12).rate().enough
    assert not trials_of([(50, 100)]).rate().enough, "one cluster says nothing of others"


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(CLUSTERS, CLUSTERS)
def test_f2_lies_between_its_bounds_and_leans_to_recall(
    precision: list[tuple[int, int]], recall: list[tuple[int, int]]
) -> None:
    score = f_beta(2, trials_of(precision), trials_of(recall))
    p, r = trials_of(precision).rate().value, trials_of(recall).rate().value
    if p is None or r is None:
        assert score.value is None
        return
    assert score.value is not None
    assert score.interval.low - 1e-12 <= score.value <= score.interval.high + 1e-12
    assert score.value == pytest.approx(5 * p * r / (4 * p + r) if p + r else 0.0)


def simulated(seed: int, templates: int, each: int, chance: float, alike: float) -> tuple[Trials, Trials]:
    """Labels in templates: each is found with ``chance``, and a template's labels go the same way to a degree."""
    drawn = random.Random(seed)
    recall, precision = Trials(), Trials()
    for template in range(templates):
        whole = drawn.random() < chance
        hits = sum(whole if drawn.random() < alike else drawn.random() < chance for _ in range(each))
        wrong = sum(drawn.random() < 0.1 for _ in range(each))
        recall.add(hits, each, template)
        if hits + wrong:
            precision.add(hits, hits + wrong, template)
    return precision, recall


@pytest.mark.parametrize(("alike", "chance"), [(0.0, 0.9), (0.7, 0.9), (0.7, 0.6)])
def test_the_interval_covers_what_it_says_although_labels_of_a_template_are_alike(alike: float, chance: float) -> None:
    runs = [simulated(seed, 40, 8, chance, alike) for seed in range(300)]
    inside = [one.low <= chance <= one.high for one in (recall.rate().interval for _, recall in runs)]
    assert sum(inside) / len(inside) >= 0.91
    p = chance / (chance + 0.1)
    f2 = 5 * p * chance / (4 * p + chance)
    covered = [one.low <= f2 <= one.high for one in (f_beta(2, a, b).interval for a, b in runs)]
    assert sum(covered) / len(covered) >= 0.94
    naive = [wilson(rate.k, rate.n) for rate in (recall.rate() for _, recall in runs)]
    if alike:
        assert sum(one.low <= chance <= one.high for one in naive) / len(naive) < 0.85, "it would be wrong without"
