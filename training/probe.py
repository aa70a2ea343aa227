"""The probe: what a trained adapter says of fixed neutral texts, token by token, for serving to prove what it serves.

The log-probabilities are of each token given the ones before it, in fp32, under the adapter and under the base. A
served adapter must be near the first and, where the two differ, nearer to the first than to the second: weights that
were not loaded answer like the base. The texts are nobody's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def measure(model: Any, tokenizer: Any, texts: Sequence[str]) -> dict[str, Any]:
    """Probe a PEFT model with its adapter on and off."""
    import torch

    prompts = []
    model.eval()
    for text in texts:
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        with torch.no_grad():
            adapted = token_logprobs(model, ids)
            with model.disable_adapter():
                base = token_logprobs(model, ids)
        prompts.append({"token_ids": list(ids), "adapter": adapted, "base": base})
    return {"version": 1, "prompts": prompts}


def token_logprobs(model: Any, ids: Sequence[int]) -> list[float]:
    """``log p(ids[i] | ids[:i])`` for each i from 1 on, in fp32."""
    import torch

    tokens = torch.tensor([list(ids)], device=model.device)
    logits = model(input_ids=tokens).logits[0, :-1].float()
    chosen = torch.log_softmax(logits, dim=-1).gather(1, tokens[0, 1:, None])[:, 0]
    return [round(float(value), 6) for value in chosen]
