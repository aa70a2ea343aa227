"""Tiny token-classification models, made when a test runs: the label of a token follows from its embedding alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unicodedata import normalize

LABELS = ("O", "B-PER", "I-PER", "B-LOC", "B-EMAIL", "I-ADDRESS", "B-ORG", "B-PASSPORT")
WORDS: Mapping[str, Mapping[str, float]] = {
    "zorblax": {"B-PER": 1}, "quimby": {"I-PER": 1}, "##worth": {"O": 0.6, "I-PER": 0.5}, "vexin": {"B-PER": 1},
    "faint": {"B-PER": 0.3, "I-PER": 0.3, "O": 0.32},
    "wibble": {"B-EMAIL": 1}, "quay": {"I-ADDRESS": 1}, "seven": {"I-ADDRESS": 1}, "acmo": {"B-ORG": 1},
    "마루": {"B-PER": 1}, "##는": {"O": 1}, "jose": {"B-PER": 1}, "m12345678": {"B-PASSPORT": 1},
    "the": {"O": 1}, "order": {"O": 1}, "of": {"O": 1}, "x": {"O": 1}, "##y": {"O": 1}, ",": {"O": 1}, ".": {"O": 1},
    "9": {"O": 1}, "for": {"O": 1}, "lost": {"O": 1}, "mumble": {"B-PER": 0.43, "O": 0.42},
}  # fmt: skip
"""Word or part of one to what the model says of it; every other token is nothing."""
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def make(folder: Path, *, limit: int = 32, blind: int = 0, labels: tuple[str, ...] = LABELS) -> Path:
    """A model in ``folder`` that reads ``limit`` tokens at once and sees nothing in the first ``blind`` of them."""
    import torch
    from transformers import BertConfig, BertForTokenClassification

    vocabulary = [*SPECIAL, *(normalize("NFD", word) for word in WORDS)]  # as the normaliser writes them
    _tokenizer(vocabulary, limit).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=len(LABELS), num_hidden_layers=0, num_attention_heads=1,
        intermediate_size=1, max_position_embeddings=limit, id2label=dict(enumerate(labels)),
        label2id={label: place for place, label in enumerate(labels)},
    )  # fmt: skip
    model = BertForTokenClassification(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        embeddings = model.bert.embeddings
        embeddings.LayerNorm.weight.fill_(1.0)
        for place, said in enumerate([*[{"O": 1}] * len(SPECIAL), *WORDS.values()]):
            for label, weight in said.items():
                embeddings.word_embeddings.weight[place, LABELS.index(label)] = weight
        embeddings.position_embeddings.weight[1 : blind + 1, 0] = 50.0
        model.classifier.weight.copy_(4 * torch.eye(len(LABELS)))
    model.save_pretrained(folder)
    return folder


def _tokenizer(vocabulary: list[str], limit: int) -> Any:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.WordPiece({token: place for place, token in enumerate(vocabulary)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=True, clean_text=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made, model_max_length=limit, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
        sep_token="[SEP]",
    )  # fmt: skip


def change_config(folder: Path, **values: object) -> None:
    """Other values in the model's configuration."""
    file = folder / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **values}))
