"""The weighted loss: what each token weighs, and that it is what it says on a real model."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.training.tiny_model import save_tiny_model
from training.sft_loss import IGNORED, collate, loss_weights, weighted_loss

masks = st.lists(st.integers(0, 1), min_size=1, max_size=40).filter(any)


@given(masks, st.data())
def test_weights_sum_to_one_and_lie_where_something_is_learned(mask: list[int], data: st.DataObject) -> None:
    learned = [place for place, bit in enumerate(mask) if bit]
    choices = data.draw(st.sets(st.sampled_from(learned)))
    share = data.draw(st.floats(0.0, 0.9))
    weights = loss_weights(mask, tuple(choices), share)
    assert sum(weights) == pytest.approx(1.0)
    assert all(weight == 0.0 for weight, bit in zip(weights, mask, strict=True) if not bit)
    if choices and len(choices) < len(learned):
        assert sum(weights[place] for place in choices) == pytest.approx(share)


def test_without_choices_each_learned_token_weighs_the_same() -> None:
    assert loss_weights((0, 1, 1, 0, 1, 1), (), 0.5) == [0.0, 0.25, 0.25, 0.0, 0.25, 0.25]


def test_one_choice_weighs_as_much_as_the_rest() -> None:
    assert loss_weights((0, 1, 1, 1), (1,), 0.5) == [0.0, 0.5, 0.25, 0.25]


def test_a_batch_is_padded_on_the_right_and_padding_weighs_nothing() -> None:
    batch = collate(
        [
            {"input_ids": [1, 2, 3], "labels": [IGNORED, 2, 3], "weights": [0.0, 0.5, 0.5]},
            {"input_ids": [4, 5], "labels": [IGNORED, 5], "weights": [0.0, 1.0]},
        ]
    )
    assert batch["input_ids"].tolist() == [[1, 2, 3], [4, 5, 0]]
    assert batch["labels"].tolist() == [[IGNORED, 2, 3], [IGNORED, 5, IGNORED]]
    assert batch["weights"].tolist() == [[0.0, 0.5, 0.5], [0.0, 1.0, 0.0]]
    assert batch["attention_mask"].tolist() == [[1, 1, 1], [1, 1, 0]]


def test_the_loss_of_a_batch_is_the_mean_of_the_rows_own_losses(tmp_path: Path) -> None:
    """Against the definition, token by token, on a real Llama."""
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(save_tiny_model(tmp_path), dtype=torch.float32).eval()
    rows = [([5, 6, 7, 8, 9], (0, 0, 1, 1, 1), (2,)), ([11, 12, 13], (0, 1, 1), ())]
    examples, expected = [], 0.0
    for ids, mask, choices in rows:
        weights = loss_weights(mask, choices, 0.5)
        labels = [token if bit else IGNORED for token, bit in zip(ids, mask, strict=True)]
        examples.append({"input_ids": ids, "labels": labels, "weights": weights})
        with torch.no_grad():
            said = model(torch.tensor([ids])).logits[0].log_softmax(-1)
        terms = (weights[place] * -said[place - 1, ids[place]].item() for place in range(1, len(ids)))
        expected += sum(terms) / len(rows)
    with torch.no_grad():
        loss = weighted_loss(model, collate(examples))
    assert loss.item() == pytest.approx(expected, rel=1e-4)
