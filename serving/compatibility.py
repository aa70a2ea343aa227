"""Whether the engine can serve an adapter as it was trained, told before any deploy step.

An engine that ignores an option serves other weights without an error (rank-stabilised scaling is the known case), so
every option that changes the mathematics and is not known to be served is refused here. The check reads the adapter's
configuration and the header of its weights; it loads nothing. The way out for what cannot be served as an adapter is to
merge it into the base, which makes another base model, another release, and so another gate report.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CONFIG = "adapter_config.json"
WEIGHTS = "adapter_model.safetensors"
MERGE = "merge it into the base instead, and gate the merged release itself"
SERVED_AS = {
    "q_proj": "qkv_proj", "k_proj": "qkv_proj", "v_proj": "qkv_proj", "o_proj": "o_proj",
    "gate_proj": "gate_up_proj", "up_proj": "gate_up_proj", "down_proj": "down_proj",
}  # fmt: skip
"""A module as an adapter names it, and the module that vLLM made of it."""
ATTENTION = ("q_proj", "k_proj", "v_proj", "o_proj")
HEADER_LIMIT = 100_000_000


@dataclass(frozen=True)
class ServingLimits:
    """What the engine was started for."""

    max_rank: int = 16
    target_modules: frozenset[str] = frozenset(ATTENTION)
    dtypes: frozenset[str] = frozenset({"F32", "F16", "BF16"})


def problems(folder: Path, limits: ServingLimits) -> tuple[str, ...]:
    """Every reason why the adapter in ``folder`` cannot be served; empty when it can."""
    try:
        config = json.loads((folder / CONFIG).read_text())
        tensors = _header(folder / WEIGHTS)
    except (OSError, ValueError, struct.error) as error:
        return (f"the adapter in {folder.name} cannot be read: {error}",)
    if not isinstance(config, dict):
        return (f"{CONFIG} is not an object",)
    return (*_config_problems(config, limits), *_tensor_problems(tensors, limits))


def _config_problems(config: dict[str, Any], limits: ServingLimits) -> list[str]:
    found = []
    if config.get("peft_type") != "LORA":
        found.append(f"peft_type is {config.get('peft_type')}; only LORA is served")
    rank = config.get("r")
    if not isinstance(rank, int) or not 0 < rank <= limits.max_rank:
        found.append(f"rank {rank} is not within 1 to {limits.max_rank}, which the engine was started for")
    targets = config.get("target_modules")
    unknown = sorted(set(targets) - limits.target_modules) if isinstance(targets, list) else [f"pattern {targets!r}"]
    if unknown:
        found.append(f"target modules {', '.join(map(str, unknown))} are not served")
    if config.get("modules_to_save"):
        names = ", ".join(map(str, config["modules_to_save"]))
        found.append(f"modules_to_save ({names}) cannot be served in an adapter: {MERGE}")
    return found + _option_problems(config)


def _option_problems(config: dict[str, Any]) -> list[str]:
    found = [
        f"{name} is not served faithfully: {MERGE}"
        for name in ("use_rslora", "use_dora", "rank_pattern", "alpha_pattern", "trainable_token_indices", "use_qalora")
        if config.get(name)
    ]
    if config.get("bias", "none") != "none" or config.get("lora_bias"):
        found.append(f"a trained bias is not served: {MERGE}")
    if config.get("fan_in_fan_out"):
        found.append("fan_in_fan_out is not served")
    return found


def _tensor_problems(tensors: dict[str, Any], limits: ServingLimits) -> list[str]:
    strangers = sorted(
        name for name in tensors if not name.endswith((".lora_A.weight", ".lora_B.weight")) and name != "__metadata__"
    )
    found = [f"weights hold {name}, which is no LoRA matrix (a resized vocabulary?): {MERGE}" for name in strangers[:3]]
    dtypes = {str(value.get("dtype")) for name, value in tensors.items() if name != "__metadata__"} - limits.dtypes
    if dtypes:
        found.append(f"weights are stored as {', '.join(sorted(dtypes))}")
    if not any(name.endswith(".lora_B.weight") for name in tensors):
        found.append("weights hold no LoRA matrix")
    return found


def _header(path: Path) -> dict[str, Any]:
    """The header of a safetensors file: its length in 8 bytes, then JSON."""
    with path.open("rb") as stream:
        (length,) = struct.unpack("<Q", stream.read(8))
        if length > HEADER_LIMIT:
            raise ValueError(f"{path.name}: a header of {length} bytes")
        header = json.loads(stream.read(length))
    return dict(header)
