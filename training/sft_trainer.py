"""The training itself: TRL's SFTTrainer on token ids, a LoRA on the frozen base, inside the worker process.

Facts that this rests on. Rows come as ``input_ids`` and ``labels``, so TRL's own preparation is skipped: nothing is
tokenised again, nothing is cut, and no copy of the rows lands in a cache folder. ``trl.trainer.sft_trainer`` is
imported by its module, which does not import vLLM; the package's front door does. A checkpoint holds weights,
optimiser, scheduler, random state and position in the data (Transformers writes ``trainer_state.json`` last, so a
checkpoint with a readable one is whole); a killed run goes on from the last whole one, sees no example twice and ends
with the weights of the uninterrupted run. A loss that is not finite ends the run at once. fp32 on a CPU, where bf16 is
half as fast; bf16 on CUDA with the adapter in fp32.
"""

from __future__ import annotations

import json
import math
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from governance.records.dataset import DatasetRow
from training.adapters import CONFIG, PROBE, WEIGHTS, normalised_config, write_json
from training.errors import AdapterFault
from training.probe import measure
from training.sft_config import SftConfig, SftJob
from training.sft_loss import collate, weighted_loss
from training.sft_rows import prepare

Emit = Callable[[dict[str, Any]], None]


def run(job: SftJob, emit: Emit) -> dict[str, Any]:
    """Train, write ``adapter`` into the work folder, and return the metrics."""
    from transformers import AutoTokenizer, set_seed

    work, config = Path(job.work_dir), job.config
    tokenizer = AutoTokenizer.from_pretrained(job.base_dir, local_files_only=True)
    with (work / "rows.jsonl").open() as lines:
        rows = [DatasetRow.model_validate_json(line) for line in lines]
    examples, rejected = prepare(rows, config.max_length, _ends(tokenizer, job.base_dir), config.choice_share)
    emit({"event": "rows", "taken": len(examples), "rejected": [one.plain() for one in rejected]})
    set_seed(config.seed)
    trainer = _trainer(job, tokenizer, examples, emit)
    resume = last_checkpoint(work / "checkpoints")
    emit({"event": "start", "steps": _total_steps(len(examples), config), "resumed_from": _step_of(resume)})
    began = time.monotonic()
    result = trainer.train(resume_from_checkpoint=str(resume) if resume else None)
    seconds = time.monotonic() - began
    done = trainer.state.global_step - _step_of(resume)
    tokens = sum(len(example["input_ids"]) for example in examples) * config.epochs
    share = done / max(1, trainer.state.global_step)
    _save(trainer, job, tokenizer, work / "adapter")
    return {
        "steps": trainer.state.global_step,
        "resumed_from": _step_of(resume),
        "loss": round(float(result.training_loss), 6),
        "last_loss": _last_loss(trainer),
        "tokens": tokens,
        "tokens_per_second": round(tokens * share / seconds, 2) if seconds > 0 else 0.0,
        "seconds": round(seconds, 3),
        "peak_memory_mb": _peak_memory_mb(),
        "rejected": [one.plain() for one in rejected],
    }


def _ends(tokenizer: Any, base_dir: str) -> frozenset[int]:
    """The ids that end a turn: the tokenizer's, and those at which generation stops."""
    ends = {int(tokenizer.eos_token_id)}
    generation = Path(base_dir) / "generation_config.json"
    if generation.exists():
        stated = json.loads(generation.read_bytes()).get("eos_token_id")
        ends |= set(stated) if isinstance(stated, list) else {stated} if isinstance(stated, int) else set()
    return frozenset(ends)


def _total_steps(examples: int, config: SftConfig) -> int:
    return math.ceil(examples / config.batch_size) * config.epochs


def _trainer(job: SftJob, tokenizer: Any, examples: list[dict[str, Any]], emit: Emit) -> Any:
    import torch
    from datasets import Dataset
    from peft import LoraConfig
    from transformers import AutoModelForCausalLM, TrainerCallback
    from trl.trainer.sft_trainer import SFTTrainer

    config = job.config
    cuda = config.device == "cuda" or (config.device == "auto" and torch.cuda.is_available())

    class Report(TrainerCallback):  # type: ignore[misc]
        """Each step's loss as an event; one that is not finite ends the run."""

        def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **rest: Any) -> None:  # noqa: ARG002
            loss = (logs or {}).get("loss")
            if loss is None:
                return
            if not math.isfinite(float(loss)):
                raise AdapterFault(f"the loss of step {state.global_step} is not finite")
            emit({"event": "step", "step": state.global_step, "steps": state.max_steps, "loss": float(loss)})

    class Weighted(SFTTrainer):  # type: ignore[misc]
        """The weighted loss; and no model card, which would name a folder of this machine."""

        def compute_loss(self, model: Any, inputs: dict[str, Any], *args: Any, **kwargs: Any) -> Any:  # noqa: ARG002
            """The loss alone: the trainer asks for no outputs, since nothing is evaluated while it trains."""
            return weighted_loss(model, inputs)

        def create_model_card(self, *args: Any, **kwargs: Any) -> None:
            """Nothing."""

    model = AutoModelForCausalLM.from_pretrained(
        job.base_dir, dtype=torch.bfloat16 if cuda else torch.float32, local_files_only=True
    )
    lora = LoraConfig(
        r=config.rank,
        lora_alpha=config.alpha,
        target_modules=list(config.target_modules),
        lora_dropout=0.0,
        layers_to_transform=_layers(int(model.config.num_hidden_layers), config.depth),
        bias="none",
        task_type="CAUSAL_LM",
    )
    trainer = Weighted(
        model=model,
        args=_arguments(job, len(examples), cuda=cuda),
        train_dataset=Dataset.from_list(examples),
        processing_class=tokenizer,
        peft_config=lora,
        callbacks=[Report()],
        data_collator=collate,
    )
    trainer.model_accepts_loss_kwargs = False
    return trainer


def _layers(count: int, depth: float) -> list[int] | None:
    """The layers that the adapter changes; None is all of them."""
    changed = max(1, round(depth * count))
    return None if changed == count else list(range(count - changed, count))


def _arguments(job: SftJob, examples: int, *, cuda: bool) -> Any:
    from trl.trainer.sft_config import SFTConfig as TrlConfig

    config = job.config
    return TrlConfig(
        output_dir=str(Path(job.work_dir) / "checkpoints"),
        use_cpu=not cuda,
        bf16=cuda,
        fp16=False,
        gradient_checkpointing=False,
        per_device_train_batch_size=config.batch_size,
        num_train_epochs=config.epochs,
        learning_rate=config.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=math.floor(config.warmup_share * _total_steps(examples, config)),
        adam_beta2=config.adam_beta2,
        weight_decay=0.0,
        max_grad_norm=1.0,
        seed=config.seed,
        data_seed=config.seed,
        max_length=None,
        packing=False,
        dataset_kwargs={"skip_prepare_dataset": True},
        remove_unused_columns=False,
        save_strategy="steps",
        save_steps=config.checkpoint_steps,
        save_total_limit=2,
        logging_strategy="steps",
        logging_steps=1,
        dataloader_num_workers=0,
        dataloader_pin_memory=False,
        disable_tqdm=True,
        report_to="none",
    )


def last_checkpoint(folder: Path) -> Path | None:
    """The latest whole checkpoint; a torn one is passed over."""
    found = []
    for one in folder.glob("checkpoint-*"):
        try:
            step = int(json.loads((one / "trainer_state.json").read_bytes())["global_step"])
        except (OSError, ValueError, KeyError):
            continue
        if (one / WEIGHTS).exists() and (one / "optimizer.pt").exists() and (one / "scheduler.pt").exists():
            found.append((step, one))
    return max(found)[1] if found else None


def _step_of(checkpoint: Path | None) -> int:
    return int(checkpoint.name.removeprefix("checkpoint-")) if checkpoint else 0


def _last_loss(trainer: Any) -> float | None:
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    return float(losses[-1]) if losses else None


def _save(trainer: Any, job: SftJob, tokenizer: Any, target: Path) -> None:
    """Weights in fp32, the configuration without paths, and the probe."""
    from safetensors.torch import load_file, save_file

    shutil.rmtree(target, ignore_errors=True)
    saved = target.with_name("saved")
    trainer.model.save_pretrained(str(saved))
    target.mkdir()
    tensors = load_file(saved / WEIGHTS)
    save_file({name: tensors[name].float().contiguous() for name in sorted(tensors)}, target / WEIGHTS)
    write_json(target / CONFIG, normalised_config(json.loads((saved / CONFIG).read_bytes()), job.base_name))
    shutil.rmtree(saved)
    write_json(target / PROBE, measure(trainer.model.float(), tokenizer, job.config.probe_texts))


def _peak_memory_mb() -> float:
    import resource
    import sys

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1024 * 1024 if sys.platform == "darwin" else 1024), 1)
