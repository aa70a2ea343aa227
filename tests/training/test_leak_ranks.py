"""The exact tests on ranks: what they say of chance, of memory, and how often they are wrong."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from training.leak.canary import ALPHABET, SECRET_LENGTH, canaries
from training.leak.membership import area
from training.leak.ranks import apart_p, exposure, learned_p, rank


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_the_chance_of_ranks_is_counted_over_all_of_them(ranks: list[int]) -> None:
    """Beside the enumeration of every outcome."""
    outcomes = list(itertools.product(range(1, 5), repeat=len(ranks)))
    as_low = sum(sum(one) <= sum(ranks) for one in outcomes)
    assert learned_p(ranks, 4) == pytest.approx(as_low / len(outcomes))


def test_a_model_that_never_saw_the_secrets_is_accused_as_often_as_alpha_says() -> None:
    rng = random.Random(4)
    wrong = 0
    for _ in range(2000):
        scores = [[rng.gauss(0, 1) for _ in range(16)] for _ in range(8)]
        wrong += learned_p([rank(one[0], one[1:]) for one in scores], 16) < 0.05
    assert wrong / 2000 == pytest.approx(0.05, abs=0.02)


def test_exposure_is_in_bits() -> None:
    assert exposure([1, 1], 32) == 5
    assert exposure([32], 32) == 0
    assert exposure([1, 4], 16) == 3


def test_a_tie_and_a_score_that_is_no_number_count_against_the_secret() -> None:
    assert rank(1.0, [1.0, 0.5]) == 2
    assert rank(float("nan"), [0.0, 0.0]) == 3


@given(st.lists(st.integers(1, 32), min_size=1, max_size=12))
def test_an_arm_is_not_apart_from_itself_nor_where_the_control_knows_less(ranks: list[int]) -> None:
    assert apart_p(ranks, ranks) == 1
    assert apart_p([one + 1 for one in ranks], ranks) == 1


def test_a_control_that_knows_and_a_candidate_that_does_not_are_apart() -> None:
    assert apart_p([1] * 12, [16, 3, 30, 9, 22, 12, 28, 5, 19, 14, 7, 25]) < 0.001


@settings(max_examples=25)
@given(st.text(max_size=8), st.integers(1, 5), st.integers(1, 8))
def test_canaries_follow_from_their_seed_and_no_two_strings_are_equal(seed: str, count: int, others: int) -> None:
    made = canaries(seed, count, others)
    assert made == canaries(seed, count, others)
    texts = [text for one in made for text in (one.secret, *one.alternatives)]
    assert len(set(texts)) == len(texts) == count * (others + 1)
    assert all(len(text) == SECRET_LENGTH and set(text) <= set(ALPHABET) for text in texts)
    assert all(one.secret not in one.question and one.secret in one.answer(one.secret) for one in made)


def test_another_seed_plants_other_canaries() -> None:
    assert {one.secret for one in canaries("a", 50, 1)}.isdisjoint(one.secret for one in canaries("b", 50, 1))


def test_the_area_covers_chance_and_never_collapses_to_a_point() -> None:
    rng = random.Random(2)
    covered = 0
    for _ in range(400):
        _, interval = area([rng.gauss(0, 1) for _ in range(20)], [rng.gauss(0, 1) for _ in range(20)])
        covered += interval.low <= 0.5 <= interval.high
    assert covered / 400 >= 0.93
    sure, interval = area([2.0] * 12, [1.0] * 12)
    assert sure == 1
    assert interval.low < 0.95
