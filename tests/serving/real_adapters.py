"""Two random LoRA adapters of the base model, made with peft, each with its probe sheet scored in fp32."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from governance.records.base import digest_bytes
from governance.records.release import AdapterRef

LETTERS = ("My lamp is broken. Order SO-1234.", "Where is order SO-4321? It should have come on Monday.")
TARGETS = ["q_proj", "v_proj"]
SPREAD = 0.05
"""Standard deviation of the B matrices: an effect like that of a short training."""


def make(base: Path, folder: Path, seeds: dict[str, int]) -> dict[str, tuple[AdapterRef, Path, dict[str, Any]]]:
    """Name to reference, folder and sheet."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(base)
    prompts = [tokenizer(text)["input_ids"] for text in LETTERS]
    plain = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32).eval()
    before = [score(plain, ids) for ids in prompts]
    made = {}
    for name, seed in seeds.items():
        made[name] = _one(plain, folder / name, seed, prompts, before)
    return made


def _one(plain: Any, folder: Path, seed: int, prompts: list[list[int]], before: list[list[float]]) -> Any:
    import torch
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(seed)
    model = get_peft_model(plain, LoraConfig(r=8, lora_alpha=16, target_modules=TARGETS, task_type="CAUSAL_LM"))
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if "lora_B" in name:
                weights.normal_(0.0, SPREAD)
    model.eval()
    after = [score(model, ids) for ids in prompts]
    model.save_pretrained(folder)
    model.unload()
    weights = (folder / "adapter_model.safetensors").read_bytes()
    ref = AdapterRef(
        content_digest=digest_bytes(weights), rank=8, target_modules=tuple(TARGETS), dataset_digest="d" * 64
    )
    rows = zip(prompts, after, before, strict=True)
    sheet = {"version": 1, "prompts": [{"token_ids": ids, "adapter": new, "base": old} for ids, new, old in rows]}
    return ref, folder, sheet


def score(model: Any, ids: list[int]) -> list[float]:
    import torch

    with torch.no_grad():
        rows = torch.log_softmax(model(torch.tensor([ids])).logits[0].float(), dim=-1)
    return [float(rows[place, token]) for place, token in enumerate(ids[1:])]
