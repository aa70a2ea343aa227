"""The CPU's LoRA kernels, against vLLM's own where those are right, and against the definition where they are not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serving import vllm_cpu_lora as ours

torch = pytest.importorskip("torch")
theirs = pytest.importorskip("vllm.lora.ops.torch_ops.lora_ops")

SLOTS, OUT, IN = 3, 8, 5
slots = st.lists(st.integers(-1, SLOTS - 1), min_size=1, max_size=12)
named = st.lists(st.integers(0, SLOTS - 1), min_size=1, max_size=12)


def case(indices: list[int], width: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(len(indices))
    inputs = torch.randn(len(indices), IN, generator=generator)
    weights = torch.randn(SLOTS, 1, OUT, IN, generator=generator)
    return inputs, weights, torch.randn(len(indices), width, generator=generator), torch.tensor(indices)


@settings(deadline=None)
@given(named, st.booleans())
def test_where_every_row_names_an_adapter_the_results_are_vllms(indices: list[int], add: bool) -> None:
    inputs, weights, output, chosen = case(indices, 2 * OUT)
    for mine, other, more in (
        (ours.bgmv_expand, theirs.bgmv_expand, (add,)),
        (ours.bgmv_expand_slice, theirs.bgmv_expand_slice, (OUT // 2, OUT, add)),
        (ours.bgmv_shrink, theirs.bgmv_shrink, (0.5,)),
    ):
        first, second = output.clone(), output.clone()
        mine(inputs, weights, first, chosen, *more)
        other(inputs, weights, second, chosen, *more)
        torch.testing.assert_close(first, second)


@settings(deadline=None)
@given(slots)
def test_a_row_without_an_adapter_gets_nothing_of_anybodys(indices: list[int]) -> None:
    inputs, weights, output, chosen = case(indices, OUT)
    expanded, shrunk = output.clone(), output.clone()
    ours.bgmv_expand(inputs, weights, expanded, chosen)
    ours.bgmv_shrink(inputs, weights, shrunk, chosen, 2.0)
    for row, slot in enumerate(indices):
        added = inputs[row] @ weights[slot, 0].T if slot >= 0 else torch.zeros(OUT)
        torch.testing.assert_close(expanded[row], output[row] + added)
        torch.testing.assert_close(shrunk[row], 2.0 * added)


def test_vllm_reads_no_adapter_as_the_last_one() -> None:
    """Why these kernels stand in: when this fails, vLLM no longer needs them for that."""
    inputs, weights, output, chosen = case([-1], OUT)
    got = output.clone()
    theirs.bgmv_expand(inputs, weights, got, chosen)
    torch.testing.assert_close(got, output + inputs @ weights[SLOTS - 1, 0].T)
