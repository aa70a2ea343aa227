"""Rows that can be learned from, and the names of those that cannot (SFT-02, SFT-04)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.training.demo_records import row
from training.errors import NoTarget
from training.sft_loss import IGNORED
from training.sft_rows import fault, prepare

END = 257


def test_labels_are_the_completion_alone() -> None:
    examples, rejected = prepare([row((1, 2, 3), (4, 5, END))], 64, {END}, 0.5)
    weights = [0.0] * 3 + [1 / 3] * 3
    assert examples == [{"input_ids": [1, 2, 3, 4, 5, END], "labels": [IGNORED] * 3 + [4, 5, END], "weights": weights}]
    assert rejected == []


def test_sft_02_a_long_prompt_is_rejected_by_name_and_a_run_without_targets_fails() -> None:
    """80 prompt tokens and 10 of an answer in 64: nothing of the target would be left."""
    long = row((1,) * 80, (2,) * 9 + (END,), name="t/long")
    examples, rejected = prepare([long, row((1, 2), (3, END))], 64, {END}, 0.5)
    assert len(examples) == 1
    assert [(one.trajectory_id, one.step) for one in rejected] == [("t/long", 0)]
    assert rejected[0].reason == "too_long:90>64:0_of_10_target_tokens_would_be_left"
    with pytest.raises(NoTarget, match="t/long step 0: too_long"):
        prepare([long], 64, {END}, 0.5)
    with pytest.raises(NoTarget, match="there were none"):
        prepare([], 64, {END}, 0.5)


def test_sft_04_the_last_trained_token_must_end_the_turn() -> None:
    assert fault(row((1, 2), (3, 4)), 64, {END}) == "no_end_of_turn:the_last_trained_token_is_4"
    masked = row((1, 2), (3, END)).model_copy(update={"completion_mask": (0, 0, 1, 0)})
    assert fault(masked, 64, {END}) == "no_end_of_turn:the_last_trained_token_is_3"


def test_a_mask_must_fit_and_leave_a_prompt_and_a_target() -> None:
    good = row((1, 2), (3, END))
    assert fault(good.model_copy(update={"completion_mask": (0, 1)}), 64, {END}) == "mask_of_2_for_4_tokens"
    assert fault(good.model_copy(update={"completion_mask": (0, 0, 0, 0)}), 64, {END}) == "no_target"
    assert fault(good.model_copy(update={"completion_mask": (1, 1, 1, 1)}), 64, {END}) == "no_prompt"
    outside = good.model_copy(update={"choices": (0,)})
    assert fault(outside, 64, {END}) == "a_choice_outside_of_what_is_learned"


@settings(deadline=None)
@given(st.permutations(range(6)))
def test_the_order_of_examples_is_the_contents(order: list[int]) -> None:
    rows = [row((1, number), (3, END), name=f"t/{number}") for number in range(6)]
    assert prepare([rows[place] for place in order], 64, {END}, 0.5) == prepare(rows, 64, {END}, 0.5)
