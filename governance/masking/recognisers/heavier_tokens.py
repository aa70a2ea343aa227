"""A token-classification model of transformers.

Theory. The tokenizer's own offsets say where a token stands in the text, whatever it normalises; only fast tokenizers
know them. A text longer than the model reads at once is read in windows that share tokens: each token is judged in the
window in which more stands around it, and judged once. Windows of all texts are read in batches of like length. What
the model says of labels of one type is summed, so that the halves of a doubt (``B-PER`` or ``I-PER``) count together.

Only weights in safetensors are read, which hold no code, and a model whose folder lacks some of them is refused: what
is missing would be random numbers. It runs on the CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from governance.errors import MaskingError
from governance.masking.model_folder import ModelFolder
from governance.masking.model_labels import NOTHING, split
from governance.masking.recognisers.heavier import Tagger
from governance.masking.spans import Hit
from governance.masking.token_spans import Token, spans_of

BATCH: Final = 16
"""Windows that are read together."""
LONGEST: Final = 512
"""Tokens of a window, for models that could read more."""
SHARED: Final = 64
"""Tokens that stand in two windows; a quarter of a window that is short."""


class _Window(NamedTuple):
    """A part of one text that is read at once."""

    text: int
    ids: list[int]
    offsets: list[tuple[int, int]]
    judged: list[int]
    """Which of its tokens are judged here."""


class TokenTagger(Tagger):
    """The model and its tokenizer, loaded."""

    def __init__(self, folder: ModelFolder) -> None:
        """Read both from the folder alone."""
        import torch
        from transformers import AutoModelForTokenClassification, AutoTokenizer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()
        self._tokenizer: Any = AutoTokenizer.from_pretrained(folder.path, local_files_only=True, use_fast=True)
        if not self._tokenizer.is_fast:
            name = type(self._tokenizer).__name__
            raise MaskingError(f"{folder.path}: {name} is no fast tokenizer, and does not say where its tokens stand")
        self._model, told = AutoModelForTokenClassification.from_pretrained(
            folder.path, local_files_only=True, use_safetensors=True, dtype=torch.float32, output_loading_info=True
        )
        if told["missing_keys"]:
            raise MaskingError(f"{folder.path}: the weights lack {', '.join(sorted(told['missing_keys']))}")
        self._model.eval()
        self._tokenizer.truncation_side = "right"
        self._limit = _limit(self._tokenizer, self._model)
        self._shared = min(SHARED, self._limit // 4)
        self._types = (NOTHING, *folder.entities)
        self._labels = [split(label) for label in folder.labels]
        columns = [self._types.index(folder.types[name]) for name, _ in self._labels]
        self._sums = torch.nn.functional.one_hot(torch.tensor(columns), len(self._types)).float()

    def tag(self, texts: Sequence[str]) -> list[list[Hit]]:
        """What it sees in each text."""
        windows = self._windows(texts)
        order = sorted(range(len(windows)), key=lambda place: len(windows[place].ids))
        judged: list[list[Token]] = [[] for _ in windows]
        for first in range(0, len(order), BATCH):
            chosen = order[first : first + BATCH]
            for place, tokens in zip(chosen, self._judged([windows[place] for place in chosen]), strict=True):
                judged[place] = tokens
        tokens_of: list[list[Token]] = [[] for _ in texts]
        for window, tokens in zip(windows, judged, strict=True):
            tokens_of[window.text] += tokens
        return [spans_of(text, tokens, self._types) for text, tokens in zip(texts, tokens_of, strict=True)]

    def _windows(self, texts: Sequence[str]) -> list[_Window]:
        if not texts:
            return []
        read = self._tokenizer(
            list(texts),
            truncation=True,
            max_length=self._limit,
            stride=self._shared,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
        )
        owners = read["overflow_to_sample_mapping"]
        made = []
        for place, owner in enumerate(owners):
            own = [at for at, special in enumerate(read["special_tokens_mask"][place]) if not special]
            if place and owners[place - 1] == owner:
                own = own[self._shared // 2 :]
            if place + 1 < len(owners) and owners[place + 1] == owner:
                own = own[: len(own) - (self._shared - self._shared // 2)]
            made.append(_Window(owner, read["input_ids"][place], read["offset_mapping"][place], own))
        return made

    def _judged(self, windows: Sequence[_Window]) -> list[list[Token]]:
        """What the model says of the tokens of each window."""
        import torch

        longest = max(len(window.ids) for window in windows)
        ids = torch.full((len(windows), longest), self._tokenizer.pad_token_id or 0)
        mask = torch.zeros_like(ids)
        for row, window in enumerate(windows):
            ids[row, : len(window.ids)] = torch.tensor(window.ids)
            mask[row, : len(window.ids)] = 1
        with torch.inference_mode():
            said = self._model(input_ids=ids, attention_mask=mask).logits.softmax(-1)
        shares, best = (said @ self._sums).tolist(), said.argmax(-1).tolist()
        return [
            [Token(*window.offsets[at], shares[row][at], *self._labels[best[row][at]]) for at in window.judged]
            for row, window in enumerate(windows)
        ]


def _limit(tokenizer: Any, model: Any) -> int:
    """Tokens that the model reads at once. Some count places from behind their padding's, so have fewer."""
    limits = [LONGEST, tokenizer.model_max_length, getattr(model.config, "max_position_embeddings", None) or LONGEST]
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            limits.append(module.num_embeddings - module.padding_idx - 1)
    return int(min(limits))
