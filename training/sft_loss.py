"""The loss of supervised fine-tuning on actions: a choice weighs as much as everything that only carries it out.

Theory. The mean over tokens makes the judgement one token of sixty: its error vanishes in the mean while the copying
around it is learned at once, and the model then does always the same. So each row's weights sum to one, and where it
has choices (tokens that ruled out a tool, ``DatasetRow.choices``) they share ``choice_share`` of it, the other learned
tokens the rest. Rows weigh the same however long their answers are. It is a cost-sensitive cross-entropy;
docs/decisions/0004 compares it with the plain and the focal loss (Lin et al., arXiv:1708.02002).

Logits are computed at the positions that some row of the batch learns from, and at no other: the output layer of a
small model is a fifth of its work.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

IGNORED: Final = -100
"""The label of a token without loss (PyTorch's ``ignore_index``)."""


def loss_weights(mask: Sequence[int], choices: Sequence[int], choice_share: float) -> list[float]:
    """A weight for each token, summing to 1; 0 where ``mask`` is 0. Some token must be learned."""
    chosen = set(choices)
    rest = [place for place, bit in enumerate(mask) if bit and place not in chosen]
    share = choice_share if chosen and rest else float(bool(chosen))
    weights = [0.0] * len(mask)
    for places, part in ((sorted(chosen), share), (rest, 1.0 - share)):
        for place in places:
            weights[place] = part / len(places)
    return weights


def collate(examples: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A batch of tensors ``(rows, longest)``, padded on the right; padding is neither read nor learned."""
    import torch

    longest = max(len(example["input_ids"]) for example in examples)

    def padded(name: str, filler: float) -> Any:
        return torch.tensor([[*one[name], *[filler] * (longest - len(one[name]))] for one in examples])

    lengths = torch.tensor([[len(example["input_ids"])] for example in examples])
    return {
        "input_ids": padded("input_ids", 0),
        "labels": padded("labels", IGNORED),
        "weights": padded("weights", 0.0),
        "attention_mask": (torch.arange(longest)[None, :] < lengths).long(),
    }


def weighted_loss(model: Any, inputs: dict[str, Any]) -> Any:
    """The mean over rows of the weighted negative log-likelihood, a scalar."""
    import torch

    labels, weights = inputs["labels"][:, 1:], inputs["weights"][:, 1:]
    kept = (weights > 0).any(dim=0).nonzero()[:, 0]
    read = {name: value for name, value in inputs.items() if name not in {"labels", "weights"}}
    logits = model(**read, use_cache=False, logits_to_keep=kept).logits.float()
    losses = torch.nn.functional.cross_entropy(
        logits.transpose(1, 2), labels[:, kept], reduction="none", ignore_index=IGNORED
    )
    return (losses * weights[:, kept]).sum() / len(labels)
