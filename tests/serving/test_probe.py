"""The probe's judgement, for adapters served rightly, wrongly, and too weak to tell."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serving.errors import ProbeFailed
from serving.probe import ProbeSheet, judge, run

IDS = tuple(range(9))
BASE = (-2.0, -1.0, -3.0, -0.5, -4.0, -1.5, -2.5, -0.2)
SHIFT = (0.6, -0.9, 0.4, 0.3, -1.2, 0.8, -0.5, 0.1)


def sheet(scale: float = 1.0, base: tuple[float, ...] = BASE) -> ProbeSheet:
    adapter = tuple(b + scale * d for b, d in zip(base, SHIFT, strict=True))
    return ProbeSheet.read({"version": 1, "prompts": [{"token_ids": IDS, "adapter": adapter, "base": base}]})


def served(share: float, noise: float = 0.0) -> list[list[float]]:
    """The base moved by a share of the trained change, with noise to and fro."""
    signs = (1, -1, 1, -1, 1, -1, 1, -1)
    return [[b + share * d + noise * s for b, d, s in zip(BASE, SHIFT, signs, strict=True)]]


@pytest.mark.parametrize(
    ("share", "noise", "passed"),
    [
        (1.0, 0.0, True),
        (1.0, 0.03, True),
        (0.0, 0.0, False),
        (0.25, 0.0, False),
        (0.5, 0.0, False),
        (2.0, 0.0, False),
        (4.0, 0.0, False),
        (-1.0, 0.0, False),
        (1.0, 0.5, False),
    ],
)
def test_only_the_trained_adapter_passes(share: float, noise: float, *, passed: bool) -> None:
    """SRV-04: a quarter of the scale is what rank-stabilised LoRA served as plain comes to."""
    result = judge(sheet(), "adapter-x", served(share, noise))
    assert result.passed is passed, result
    assert result.tokens == len(IDS) - 1


def test_an_effect_below_the_noise_proves_nothing() -> None:
    """Served as the base though an adapter was trained, and the adapter hardly differs: no pass."""
    assert not judge(sheet(0.01), "adapter-x", served(0.0)).passed


def test_scores_that_are_no_numbers_do_not_pass() -> None:
    assert not judge(sheet(), "adapter-x", [[float("nan")] * 8]).passed


@given(st.floats(0.0, 0.02), st.floats(0.9, 1.1))
def test_small_errors_of_serving_pass(noise: float, share: float) -> None:
    assert judge(sheet(), "adapter-x", served(share, noise)).passed


def test_the_served_name_is_what_is_scored() -> None:
    asked = []

    def score(name: str, ids: Any) -> list[float]:
        asked.append((name, tuple(ids)))
        return served(1.0)[0]

    assert run(sheet(), "adapter-x", score).passed
    assert asked == [("adapter-x", IDS)]


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"version": 1, "prompts": []},
        {"version": 2, "prompts": [{"token_ids": [1, 2], "adapter": [-1.0], "base": [-1.0]}]},
        {"version": 1, "prompts": [{"token_ids": [1], "adapter": [], "base": []}]},
        {"version": 1, "prompts": [{"token_ids": [1, 2, 3], "adapter": [-1.0], "base": [-1.0, -1.0]}]},
        {"version": 1, "prompts": [{"token_ids": [1, 2, 3], "adapter": [-1.0, -1.0], "base": [-1.0]}]},
    ],
)
def test_a_sheet_that_does_not_fit_is_refused(value: Any) -> None:
    with pytest.raises(ProbeFailed, match=r"probe\.json"):
        ProbeSheet.read(value)
