"""The statistics against reference numbers, laws that any honest interval obeys, and short simulations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from training.statistics import (
    Pair,
    compare_pairs,
    design_effect,
    detectable_difference,
    sign_flip_p,
    tango,
)

Z = 1.959963984540054

OUTCOMES = st.lists(
    st.tuples(st.integers(0, 12), st.booleans(), st.booleans()).map(lambda one: Pair(*one)), min_size=0, max_size=90
)


def pairs_of(won: int, lost: int, tied: int) -> list[Pair]:
    kinds = [(False, True)] * won + [(True, False)] * lost + [(True, True)] * tied
    return [Pair(number, *kind) for number, kind in enumerate(kinds)]


def swapped(pairs: list[Pair]) -> list[Pair]:
    return [Pair(one.cluster, one.candidate, one.champion) for one in pairs]


@pytest.mark.parametrize(
    ("won", "lost", "total", "low", "high"),
    [
        # Published: Tango 1998, the crossover of two contact lens solutions, 44 pairs, 1 and 0 discordant.
        (1, 0, 44, -0.0596, 0.1184),
        # Closed form without discordant pairs: +- z^2 / (n + z^2).
        (0, 0, 80, -Z * Z / (80 + Z * Z), Z * Z / (80 + Z * Z)),
    ],
)
def test_tango_gives_reference_numbers(won: int, lost: int, total: int, low: float, high: float) -> None:
    found = tango(won, lost, total, Z)
    assert found == pytest.approx((low, high), abs=2e-3)


def test_tango_bounds_solve_the_score_equation_of_the_restricted_likelihood() -> None:
    """An independent route: the nuisance parameter by maximising the likelihood instead of its closed form."""
    from scipy.optimize import minimize_scalar

    won, lost, total = 17, 6, 90
    for delta in tango(won, lost, total, Z):

        def minus_likelihood(loses: float, delta: float = delta) -> float:
            wins, ties = loses + delta, 1 - 2 * loses - delta
            if min(wins, loses, ties) <= 0:
                return math.inf
            return -(won * math.log(wins) + lost * math.log(loses) + (total - won - lost) * math.log(ties))

        least, most = max(0.0, -delta), (1 - delta) / 2
        best = minimize_scalar(
            minus_likelihood, bounds=(least + 1e-12, most - 1e-12), method="bounded", options={"xatol": 1e-12}
        ).x
        score = (won - lost - total * delta) / math.sqrt(total * (2 * best + delta - delta * delta))
        assert abs(score) == pytest.approx(Z, abs=1e-4)


@pytest.mark.parametrize(("won", "lost"), [(0, 0), (1, 0), (5, 0), (6, 0), (9, 2), (30, 20), (4, 4)])
def test_with_one_task_a_person_the_p_value_is_exact_mcnemars(won: int, lost: int) -> None:
    from scipy.stats import binomtest

    expected = binomtest(won, won + lost, 0.5).pvalue if won + lost else 1.0
    assert compare_pairs(pairs_of(won, lost, 40)).p_value == pytest.approx(expected, abs=1e-12)


@settings(deadline=None)
@given(st.lists(st.integers(-4, 4), max_size=9))
def test_the_sign_flip_test_is_the_enumeration_of_all_signs(nets: list[int]) -> None:
    import itertools

    flips = list(itertools.product((-1, 1), repeat=len(nets)))
    observed = abs(sum(nets))
    extreme = sum(abs(sum(s * n for s, n in zip(signs, nets, strict=True))) >= observed for signs in flips)
    assert sign_flip_p(nets) == pytest.approx(extreme / len(flips), abs=1e-9)


@settings(deadline=None)
@given(OUTCOMES)
def test_swapping_the_arms_mirrors_everything(pairs: list[Pair]) -> None:
    one, other = compare_pairs(pairs), compare_pairs(swapped(pairs))
    assert one.difference == -other.difference
    assert one.interval.low == pytest.approx(-other.interval.high, abs=1e-9)
    assert one.interval.high == pytest.approx(-other.interval.low, abs=1e-9)
    assert one.p_value == pytest.approx(other.p_value, abs=1e-12)
    assert (one.won, one.lost) == (other.lost, other.won)


@settings(deadline=None)
@given(OUTCOMES)
def test_the_interval_holds_the_difference_and_lies_in_range(pairs: list[Pair]) -> None:
    found = compare_pairs(pairs)
    assert -1 <= found.interval.low <= found.difference + 1e-9
    assert found.difference - 1e-9 <= found.interval.high <= 1
    assert 0 <= found.p_value <= 1
    assert found.design_effect >= 1


@settings(deadline=None)
@given(OUTCOMES)
def test_more_confidence_never_narrows(pairs: list[Pair]) -> None:
    narrow, wide = compare_pairs(pairs, 0.9).interval, compare_pairs(pairs, 0.99).interval
    assert wide.low <= narrow.low + 1e-9
    assert wide.high >= narrow.high - 1e-9


@settings(deadline=None)
@given(OUTCOMES, st.integers(2, 4))
def test_copying_each_persons_tasks_brings_no_evidence(pairs: list[Pair], copies: int) -> None:
    """Four times the same answer of the same person is not four answers."""
    once = [Pair(number, one.champion, one.candidate) for number, one in enumerate(pairs)]
    found, copied = compare_pairs(once), compare_pairs([one for one in once for _ in range(copies)])
    assert copied.interval.low <= found.interval.low + 1e-6
    assert copied.interval.high >= found.interval.high - 1e-6
    assert copied.p_value == pytest.approx(found.p_value, abs=1e-9)


def test_clusters_widen_the_interval() -> None:
    alone = [Pair(number, False, number < 30) for number in range(80)]
    grouped = [Pair(number // 8, False, number < 30) for number in range(80)]
    assert design_effect(alone) == 1.0
    assert design_effect(grouped) > 5
    narrow, wide = compare_pairs(alone).interval, compare_pairs(grouped).interval
    assert wide.low < narrow.low
    assert compare_pairs(grouped).p_value > compare_pairs(alone).p_value


def test_nothing_and_one_person_say_nothing() -> None:
    empty = compare_pairs([])
    assert (empty.interval.low, empty.interval.high, empty.p_value) == (-1.0, 1.0, 1.0)
    one = compare_pairs([Pair("a", False, True)] * 50)
    assert one.interval.low <= 0
    assert one.p_value == 1.0


def test_no_discordant_pairs_leave_an_open_interval() -> None:
    found = compare_pairs(pairs_of(0, 0, 80))
    assert found.interval.low < -0.04
    assert found.interval.high > 0.04
    assert found.p_value == 1.0


def test_the_detectable_difference_has_the_power_it_says() -> None:
    rng = np.random.default_rng(5)
    tasks, discordant = 120, 0.3
    delta = detectable_difference(tasks, discordant)
    assert 0.1 < delta < 0.2
    shown, runs = 0, 300
    for _ in range(runs):
        draw = rng.random(tasks)
        won, lost = int((draw < (discordant + delta) / 2).sum()), int((draw >= 1 - (discordant - delta) / 2).sum())
        shown += tango(won, lost, tasks, Z)[0] > 0
    assert 0.72 < shown / runs < 0.88
    assert detectable_difference(10, 0.05) == math.inf
    assert detectable_difference(240, discordant) < delta < detectable_difference(tasks, discordant, effect=2)


def simulated(people: int, each: int, won: float, lost: float, *, together: float, runs: int) -> tuple[float, float]:
    """Share of intervals that hold the truth: this method's, and a percentile bootstrap's over people."""
    rng = np.random.default_rng(17)
    ours, bootstrap, truth = 0, 0, won - lost
    for _ in range(runs):
        shared = np.repeat(rng.random((people, 1)), each, axis=1)
        draw = np.where(rng.random((people, each)) < together, shared, rng.random((people, each)))
        signs = np.where(draw < won, 1, np.where(draw < won + lost, -1, 0))
        pairs = [Pair(person, sign == -1, sign == 1) for person in range(people) for sign in signs[person]]
        interval = compare_pairs(pairs).interval
        ours += interval.low <= truth <= interval.high
        means = signs.sum(axis=1)[rng.integers(0, people, (1000, people))].mean(axis=1) / each
        low, high = np.quantile(means, (0.025, 0.975))
        bootstrap += low <= truth <= high
    return ours / runs, bootstrap / runs


@pytest.mark.parametrize(
    ("people", "each", "won", "lost", "together"),
    [(80, 1, 0.15, 0.15, 0), (80, 1, 0.03, 0.0, 0), (30, 3, 0.3, 0.05, 0.7)],
)
def test_the_interval_covers_the_truth(people: int, each: int, won: float, lost: float, together: float) -> None:
    """The short sibling of test_statistics_coverage."""
    assert simulated(people, each, won, lost, together=together, runs=150)[0] >= 0.9


@settings(max_examples=25, deadline=None)
@given(st.floats(0, 40), st.floats(0, 40), st.floats(0, 60))
def test_tango_takes_fractions(won: float, lost: float, tied: float) -> None:
    total = won + lost + tied
    low, high = tango(won, lost, total, Z)
    assert -1 <= low <= high <= 1
    assert all(map(math.isfinite, (low, high)))
