"""LoRA on vLLM's CPU backend: one multiplication for each adapter, and none for a request that names no adapter.

vLLM's PyTorch kernels (``vllm.lora.ops.torch_ops``) copy an adapter's matrix once for every token of a batch, so that a
prompt of a few hundred tokens copies gigabytes; and they read slot -1, which stands for "no adapter", as the *last*
slot, so that in a full house a request to the base is answered with somebody's adapter on top. Both go against what a
release is: it answers with its own weights, and it is served at the cost of its weights.

These kernels take the rows of each slot together (the grouped matrix product of Punica, arXiv:2310.18547, spelled with
plain products) and leave the rows of slot -1 as they are. Where the kernels of vLLM are right, the results are theirs.

Shapes: ``inputs (tokens, in)``, ``weights (slots, 1, out, in)`` or ``(slots, out, in)``, ``output (tokens, >= out)``,
``indices (tokens,)``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

REPLACED = ("bgmv_shrink", "bgmv_expand", "bgmv_expand_slice")


def install() -> None:
    """Put these kernels in the place of vLLM's, in every module that holds them by name."""
    from vllm.lora.ops import torch_ops
    from vllm.lora.ops.torch_ops import lora_ops
    from vllm.lora.punica_wrapper import punica_cpu

    for module in (lora_ops, torch_ops, punica_cpu):
        for name in REPLACED:
            if not hasattr(module, name):
                raise ImportError(f"{module.__name__} has no {name}: this vLLM is not the one that is known")
            setattr(module, name, globals()[name])


def bgmv_shrink(inputs: Any, weights: Any, output: Any, indices: Any, scaling: float = 1.0) -> None:
    """``output[t] = scaling * inputs[t] @ weights[indices[t]].T``; zero where no adapter is asked for."""
    output[:, : weights.shape[-2]] = 0
    for rows, matrix in _groups(weights, indices, output.dtype):
        output[rows, : matrix.shape[0]] = scaling * (inputs[rows].to(output.dtype) @ matrix.T)


def bgmv_expand(inputs: Any, weights: Any, output: Any, indices: Any, add_inputs: bool = True) -> None:
    """``output[t] += inputs[t] @ weights[indices[t]].T``, or ``=`` without ``add_inputs``."""
    width = min(weights.shape[-2], output.shape[1])
    bgmv_expand_slice(inputs, weights, output, indices, 0, width, add_inputs)


def bgmv_expand_slice(
    inputs: Any, weights: Any, output: Any, indices: Any, slice_offset: int, slice_size: int, add_inputs: bool = True
) -> None:
    """The same on ``slice_size`` columns from ``slice_offset`` on."""
    columns = slice(slice_offset, slice_offset + slice_size)
    if not add_inputs:
        output[:, columns] = 0
    for rows, matrix in _groups(weights, indices, output.dtype):
        output[rows, columns] += inputs[rows].to(output.dtype) @ matrix[:slice_size].T


def _groups(weights: Any, indices: Any, dtype: Any) -> Iterator[tuple[Any, Any]]:
    """The rows and the matrix of each slot that is asked for."""
    slots = indices.unique().tolist()
    for slot in slots:
        if slot >= 0:
            matrix = weights[slot].to(dtype)
            rows = slice(None, len(indices)) if len(slots) == 1 else indices == slot
            yield rows, matrix.squeeze(0) if matrix.dim() == 3 else matrix
