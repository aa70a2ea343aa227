"""pass@k and pass^k against counting every choice, and on tau-bench's recorded runs."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.learnability import Attempts, learnability, pass_all, pass_at

ENDS = st.lists(st.booleans(), min_size=1, max_size=9)


@given(ENDS, st.integers(1, 9))
def test_the_estimates_count_every_choice_of_k_runs(ends: list[bool], k: int) -> None:
    if k > len(ends):
        with pytest.raises(ValueError, match="no estimate"):
            pass_at(k, len(ends), sum(ends))
        return
    chosen = list(combinations(ends, k))
    assert pass_at(k, len(ends), sum(ends)) == pytest.approx(sum(map(any, chosen)) / len(chosen))
    assert pass_all(k, len(ends), sum(ends)) == pytest.approx(sum(map(all, chosen)) / len(chosen))


@given(ENDS)
def test_more_runs_help_at_once_and_hurt_always(ends: list[bool]) -> None:
    n, c = len(ends), sum(ends)
    at, every = [pass_at(k, n, c) for k in range(1, n + 1)], [pass_all(k, n, c) for k in range(1, n + 1)]
    assert at == sorted(at)
    assert every == sorted(every, reverse=True)
    assert at[0] == pytest.approx(every[0]) == pytest.approx(c / n)


@pytest.mark.parametrize(("runs", "successes"), [(3, 4), (3, -1)])
def test_counts_that_cannot_be_are_refused(runs: int, successes: int) -> None:
    with pytest.raises(ValueError, match="successes"):
        pass_at(1, runs, successes)


@pytest.mark.parametrize(
    ("runs", "successes", "band"),
    [(16, 0, False), (16, 1, True), (16, 8, True), (16, 9, False), (4, 1, True), (0, 0, False)],
)
def test_the_band_is_where_a_model_fails_at_one_and_succeeds_at_sixteen(runs: int, successes: int, band: bool) -> None:
    assert Attempts(runs=runs, successes=successes).in_band is band


def test_a_run_without_a_grade_is_no_run() -> None:
    found = learnability({"a": [1.0, None, 0.0], "b": [None], "c": [1.0, 1.0]})
    assert (found.tasks, found.runs, found.ungraded) == (2, 4, 2)
    assert found.pass_at[1] == pytest.approx(0.75)
    assert (found.zero_variance, found.in_band) == (0.5, ("a",))


def test_recorded_runs_give_the_published_form(cases_dir: Path) -> None:
    folder = cases_dir / "trajectories" / "tau_bench" / "historical_trajectories"
    rewards: dict[str, list[float | None]] = defaultdict(list)
    for run in json.loads((folder / "gpt-4o-airline.json").read_text()):
        rewards[str(run["task_id"])].append(run["reward"])
    found = learnability(rewards)
    assert (found.tasks, found.runs, found.ungraded) == (25, 100, 0)
    assert found.pass_all[1] == pytest.approx(sum(one or 0 for many in rewards.values() for one in many) / 100)
    assert found.pass_all[4] == pytest.approx(sum(min(one or 0 for one in many) for many in rewards.values()) / 25)
    assert found.pass_at[4] >= found.pass_at[1] >= found.pass_all[4]
    print(found.pass_all, found.pass_at, found.in_band)  # noqa: T201 - the figures, for who looks
