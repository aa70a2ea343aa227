"""A tokenizer of bytes with four special tokens, with the part of the Hugging Face interface that serving uses."""

from __future__ import annotations

import re
from typing import Any

from transformers.utils.chat_template_utils import render_jinja_template

SPECIALS = {"<s>": 256, "<|im_start|>": 257, "<|im_end|>": 258, "<|pad|>": 259}
PAIRS = {b"he": 260, b"ll": 261, b"hel": 262}
"""Merges, so that one text has several tokenisations."""
SPLIT = re.compile("(" + "|".join(map(re.escape, SPECIALS)) + ")")
TEXTS = {number: text.encode() for text, number in SPECIALS.items()} | {number: text for text, number in PAIRS.items()}

CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' }}"
    "{% if m['role'] == 'assistant' %}{% generation %}{{ m['content'] + '<|im_end|>' }}{% endgeneration %}"
    "{% else %}{{ m['content'] + '<|im_end|>' }}{% endif %}{{ '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


class ByteTokenizer:
    """Ids 0 to 255 are bytes; longest merge first."""

    eos_token = "<|im_end|>"
    eos_token_id: int | None = SPECIALS["<|im_end|>"]
    bos_token_id: int | None = SPECIALS["<s>"]

    def __init__(self, *, adds_bos: bool = False) -> None:
        self.adds_bos = adds_bos

    def __call__(self, text: str, *, add_special_tokens: bool = True) -> dict[str, list[int]]:
        ids = [self.bos_token_id] if self.adds_bos and add_special_tokens else []
        for piece in SPLIT.split(text):
            ids += [SPECIALS[piece]] if piece in SPECIALS else self._bytes(piece.encode())
        return {"input_ids": [number for number in ids if number is not None]}

    def _bytes(self, data: bytes) -> list[int]:
        ids, place = [], 0
        while place < len(data):
            merge = next((m for m in (b"hel", b"he", b"ll") if data.startswith(m, place)), None)
            ids.append(data[place] if merge is None else PAIRS[merge])
            place += 1 if merge is None else len(merge)
        return ids

    def decode(self, ids: list[int], **_: Any) -> str:
        return b"".join(TEXTS.get(number) or bytes([number]) for number in ids).decode("utf-8", "replace")

    def apply_chat_template(
        self, messages: list[dict[str, str]], *, chat_template: str, tokenize: bool, add_generation_prompt: bool
    ) -> str:
        assert not tokenize
        rendered, _ = render_jinja_template(
            conversations=[messages], chat_template=chat_template, add_generation_prompt=add_generation_prompt
        )
        return str(rendered[0])
