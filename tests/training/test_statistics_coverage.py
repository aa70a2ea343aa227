"""Coverage by simulation, against a percentile bootstrap over people: why the interval is the one it is."""

from __future__ import annotations

import pytest

from tests.training.test_statistics import simulated

CASES = [
    (people, each, won, lost, together)
    for people, each in [(20, 1), (80, 1), (120, 1), (20, 4), (30, 3), (60, 2)]
    for won, lost in [(0.02, 0.02), (0.1, 0.0), (0.03, 0.0), (0.3, 0.05), (0.15, 0.15), (0.6, 0.02)]
    for together in ([0.0] if each == 1 else [0.0, 0.7])
]


@pytest.mark.long
@pytest.mark.parametrize(("people", "each", "won", "lost", "together"), CASES)
def test_coverage(people: int, each: int, won: float, lost: float, together: float) -> None:
    ours, bootstrap = simulated(people, each, won, lost, together=together, runs=600)
    assert ours >= 0.9
    assert ours >= bootstrap - 0.03
