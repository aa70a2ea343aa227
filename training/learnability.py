"""Learnability: what n runs of one task say about learning from it.

Theory. *pass@k* is the chance that at least one of k runs succeeds, *pass^k* that all of k do. Both have unbiased
estimates from n >= k runs with c successes: of all ways to choose k of the n runs, the share without a failure-only
choice, ``1 - C(n-c, k) / C(n, k)``, and the share of success-only ones, ``C(c, k) / C(n, k)``. Plugging the success
rate into ``1 - (1-p)^k`` is biased, and so is repeating the draw.

A policy-gradient method over groups of runs learns from differences within a group: a group that always succeeds or
always fails has no variance and teaches nothing. What can be learned lies in between: where a model often fails at the
first run and almost surely succeeds once in sixteen. A run without a grade is no run here.

Sources: Chen et al. 2021, arXiv 2107.03374 (pass@k); Yao et al. 2024, arXiv 2406.12045 (pass^k); Shao et al. 2024,
arXiv 2402.03300 (group-relative advantages).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from math import comb
from typing import Final

from governance.records.base import Record

FAILS_AT_ONE: Final = 0.5
"""At most so likely at the first run: below it there is something to learn."""
SUCCEEDS_AT: Final = 16
REACHABLE: Final = 0.5
"""At least so likely once in ``SUCCEEDS_AT`` runs: above it there is something to learn from."""


def pass_at(k: int, runs: int, successes: int) -> float:
    """The unbiased estimate of pass@k.

    Raises:
        ValueError: unless 0 <= successes <= runs and 1 <= k <= runs.

    """
    _check(k, runs, successes)
    return 1.0 - comb(runs - successes, k) / comb(runs, k)


def pass_all(k: int, runs: int, successes: int) -> float:
    """The unbiased estimate of pass^k.

    Raises:
        ValueError: as ``pass_at``.

    """
    _check(k, runs, successes)
    return comb(successes, k) / comb(runs, k)


def _check(k: int, runs: int, successes: int) -> None:
    if not 0 <= successes <= runs:
        raise ValueError(f"{successes} successes of {runs} runs")
    if not 1 <= k <= runs:
        raise ValueError(f"k = {k} of {runs} runs: no estimate without bias")


class Attempts(Record):
    """The graded runs of one model on one task."""

    runs: int
    successes: int

    @property
    def zero_variance(self) -> bool:
        """Whether a group of these runs teaches nothing."""
        return self.successes in {0, self.runs}

    @property
    def in_band(self) -> bool:
        """Whether the task is worth training on: it fails at one and is reached within ``SUCCEEDS_AT`` runs.

        With fewer runs than that, what was not reached is not known to be out of reach: only a success counts.
        """
        if self.runs == 0 or self.successes / self.runs > FAILS_AT_ONE:
            return False
        return pass_at(min(SUCCEEDS_AT, self.runs), self.runs, self.successes) >= REACHABLE


class Learnability(Record):
    """What the runs of one model on a set of tasks say."""

    tasks: int
    runs: int
    ungraded: int
    """Runs without a grade, left out of everything."""
    pass_at: dict[int, float]
    """k to the mean over the tasks with at least k graded runs."""
    pass_all: dict[int, float]
    tasks_at: dict[int, int]
    """k to how many tasks that is."""
    zero_variance: float
    """Share of tasks whose graded runs all ended alike."""
    in_band: tuple[str, ...]
    """The tasks that are worth training on."""


def attempts(rewards: Iterable[float | None], success: float = 1.0) -> Attempts:
    """Graded runs counted; a reward of ``success`` or more is one."""
    graded = [reward for reward in rewards if reward is not None]
    return Attempts(runs=len(graded), successes=sum(reward >= success for reward in graded))


def learnability(rewards: Mapping[str, Iterable[float | None]], success: float = 1.0) -> Learnability:
    """Of one model: task to the rewards of its runs, None for a run without a grade."""
    held = {task: list(found) for task, found in rewards.items()}
    counted = {task: attempts(found, success) for task, found in held.items()}
    graded = {task: one for task, one in counted.items() if one.runs}
    at, all_, tasks = defaultdict[int, float](float), defaultdict[int, float](float), defaultdict[int, int](int)
    for one in graded.values():
        for k in range(1, one.runs + 1):
            tasks[k] += 1
            at[k] += pass_at(k, one.runs, one.successes)
            all_[k] += pass_all(k, one.runs, one.successes)
    return Learnability(
        tasks=len(graded),
        runs=sum(one.runs for one in graded.values()),
        ungraded=sum(reward is None for found in held.values() for reward in found),
        pass_at={k: at[k] / count for k, count in tasks.items()},
        pass_all={k: all_[k] / count for k, count in tasks.items()},
        tasks_at=dict(tasks),
        zero_variance=sum(one.zero_variance for one in graded.values()) / len(graded) if graded else 0.0,
        in_band=tuple(sorted(task for task, one in graded.items() if one.in_band)),
    )
