"""The settings of one supervised fine-tuning, and the job that the worker reads."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from governance.records.base import Digest, Record

PROBE_TEXTS: tuple[str, ...] = (
    '{"tool": "reply", "arguments": {"text": "Your order is on its way."}}',
    "<|im_start|>user\nThank you.<|im_end|>\n<|im_start|>assistant\nYou are welcome.<|im_end|>",
    "The capital of France is Paris. Water boils at one hundred degrees.",
)
"""Neutral texts, of nobody, in and beside the form of an action; a harness may bring its own."""


class SftConfig(Record):
    """What is trained and how."""

    rank: int = Field(default=8, ge=1)
    alpha: int = Field(default=16, ge=1)
    target_modules: tuple[str, ...] = ("q_proj", "k_proj", "v_proj", "o_proj")
    depth: float = Field(default=1.0, gt=0, le=1)
    """Share of the layers, counted from the top, that the adapter changes; below them nothing is kept for a backward
    pass, which is half of the work."""
    choice_share: float = Field(default=0.5, ge=0, lt=1)
    """Weight of a row's choices against the rest of what is learned from it (``training.sft_loss``)."""
    learning_rate: float = Field(default=5e-4, gt=0)
    adam_beta2: float = Field(default=0.98, gt=0, lt=1)
    """Memory of Adam's second moment: about 1 / (1 - beta2) steps, so that the large gradients of the first steps do
    not slow down a run of a few hundred."""
    epochs: int = Field(default=3, ge=1)
    batch_size: int = Field(default=4, ge=1)
    warmup_share: float = Field(default=0.05, ge=0, lt=1)
    max_length: int = Field(default=1024, ge=2)
    seed: int = 0
    checkpoint_steps: int = Field(default=20, ge=1)
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """``auto`` takes CUDA where there is one: bf16 there, fp32 on a CPU, where it is the faster of the two."""
    probe_texts: tuple[str, ...] = PROBE_TEXTS


class SftJob(Record):
    """What the worker is told. It names folders of this machine and goes into no digest."""

    key: Digest
    """Digest of rows, base and settings: the same job goes on in the same folder."""
    base_dir: str
    base_name: str
    work_dir: str
    """Holds ``rows.jsonl``, checkpoints, and the result under ``adapter``."""
    config: SftConfig
