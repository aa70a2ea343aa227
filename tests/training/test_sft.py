"""Training for real: TRL on a two-layer Llama in the worker process, and on the base model where it is prepared."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from governance.records.base import digest_json
from governance.records.dataset import DatasetRow
from governance.records.release import BaseModelRef
from tests.training.demo_records import row
from tests.training.tiny_model import save_tiny_model
from training.adapters import CONFIG, SOURCES, WEIGHTS, AdapterShelf
from training.errors import NoTarget, WorkerFailed
from training.sft import TrainedAdapter, train
from training.sft_config import SftConfig
from training.sft_trainer import last_checkpoint

pytestmark = pytest.mark.timeout(1800)
TINY = SftConfig(
    rank=8, alpha=16, epochs=3, batch_size=4, checkpoint_steps=2, learning_rate=1e-2, max_length=200, device="cpu",
    seed=5, target_modules=("q_proj", "v_proj", "o_proj", "up_proj", "down_proj"),
)  # fmt: skip
BASE = BaseModelRef(name="tiny", content_digest="a" * 64)


def letters(count: int = 16) -> list[DatasetRow]:
    rng = random.Random(1)
    rows = []
    for number in range(count):
        order, (flaw, tool) = rng.randint(1000, 9999), rng.choice([("broken", "replace"), ("late", "credit")])
        prompt = (256, *f"user {order} is {flaw}".encode(), 257)
        said = json.dumps({"tool": tool, "arguments": {"id": order}}).encode()
        rows.append(row(prompt, (*said, 257), name=f"t/{number}", subject=f"s{number % 5}"))
    return rows


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("tiny"))


class Steps:
    """Remembers events; stops the training at a step."""

    def __init__(self, stop_at: int | None = None) -> None:
        self.stop_at = stop_at
        self.events: list[dict[str, Any]] = []

    def __call__(self, event: dict[str, Any]) -> None:
        self.events.append(event)
        if event["event"] == "step" and event["step"] == self.stop_at:
            raise KeyboardInterrupt

    @property
    def numbers(self) -> list[int]:
        return [event["step"] for event in self.events if event["event"] == "step"]


def shelf_in(folder: Path) -> AdapterShelf:
    return AdapterShelf(folder, lambda digest: False)


def trained(tiny: Path, folder: Path, rows: Sequence[DatasetRow], **more: Any) -> TrainedAdapter:
    config = more.pop("config", TINY)
    return train(rows, base=BASE, base_dir=tiny, shelf=shelf_in(folder), config=config, **more)


@pytest.fixture(scope="module")
def whole(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[TrainedAdapter, Steps, Path]:
    folder, steps = tmp_path_factory.mktemp("whole"), Steps()
    return trained(tiny, folder, letters(), progress=steps), steps, folder


def tensors(adapter: TrainedAdapter) -> dict[str, Any]:
    from safetensors.numpy import load_file

    return dict(load_file(adapter.path / WEIGHTS))


def test_an_adapter_named_by_its_content_with_its_rows(whole: tuple[TrainedAdapter, Steps, Path]) -> None:
    adapter, steps, folder = whole
    assert steps.numbers == list(range(1, 13))
    assert adapter.path == folder / adapter.ref.content_digest
    assert adapter.ref.dataset_digest == digest_json(sorted(one.digest() for one in letters()))
    assert adapter.metrics["last_loss"] < 0.85 * steps.events[2]["loss"]
    assert adapter.metrics["tokens_per_second"] > 0
    assert adapter.metrics["peak_memory_mb"] > 0
    config = json.loads((adapter.path / CONFIG).read_bytes())
    assert config["base_model_name_or_path"] == "tiny"
    assert str(folder) not in (adapter.path / CONFIG).read_text()
    assert config["target_modules"] == sorted(TINY.target_modules)
    assert json.loads((adapter.path / SOURCES).read_bytes()) == [["t", f"s{number}"] for number in range(5)]
    assert list((folder / "work").iterdir()) == []


def test_the_probe_tells_the_adapter_from_the_base(whole: tuple[TrainedAdapter, Steps, Path]) -> None:
    from serving.probe import ProbeSheet

    sheet = ProbeSheet.read(whole[0].probe)
    gaps = [abs(a - b) for prompt in sheet.prompts for a, b in zip(prompt.adapter, prompt.base, strict=True)]
    assert sum(gaps) / len(gaps) > 0.05
    assert all(value <= 0 for prompt in sheet.prompts for value in (*prompt.adapter, *prompt.base))


def test_the_same_job_is_not_trained_twice(tiny: Path, whole: tuple[TrainedAdapter, Steps, Path]) -> None:
    adapter, _, folder = whole
    steps = Steps()
    again = trained(tiny, folder, list(reversed(letters())), progress=steps)
    assert steps.events == []
    assert again.ref == adapter.ref


def test_orc_02_killed_and_resumed_is_the_uninterrupted_run(
    tiny: Path, tmp_path: Path, whole: tuple[TrainedAdapter, Steps, Path]
) -> None:
    """The worker is killed in its tenth step; steps, schedule, data and random state go on from the eighth."""
    first, second = Steps(stop_at=9), Steps()
    with pytest.raises(KeyboardInterrupt):
        trained(tiny, tmp_path, letters(), progress=first)
    (work,) = (tmp_path / "work").iterdir()
    newest = last_checkpoint(work / "checkpoints")
    assert newest is not None
    torn = newest.with_name("checkpoint-11")
    shutil.copytree(newest, torn)
    (torn / "trainer_state.json").write_text('{"global_step": 11, "epo')
    assert last_checkpoint(work / "checkpoints") == newest
    resumed = trained(tiny, tmp_path, letters(), progress=second)
    at = int(newest.name.removeprefix("checkpoint-"))
    assert at in {6, 8}  # the kill reaches the worker a moment after its step was heard of
    assert second.numbers == list(range(at + 1, 13))
    assert resumed.metrics["resumed_from"] == at
    losses = [event["loss"] for event in whole[1].events if event["event"] == "step"]
    assert [e["loss"] for e in second.events if e["event"] == "step"] == pytest.approx(losses[at:], abs=1e-4)
    expected = tensors(whole[0])
    for name, found in tensors(resumed).items():
        np.testing.assert_allclose(found, expected[name], atol=1e-5)


def test_rows_whose_right_ended_are_not_learned(tiny: Path, tmp_path: Path) -> None:
    left = [one for one in letters(8) if one.subject != "s0"]
    quick = TINY.model_copy(update={"epochs": 1})
    adapter = trained(
        tiny, tmp_path, letters(8), config=quick, still_allowed=lambda rows: [r for r in rows if r.subject != "s0"]
    )
    assert adapter.dropped == 2
    assert adapter.ref.dataset_digest == digest_json(sorted(one.digest() for one in left))
    assert ["t", "s0"] not in json.loads((adapter.path / SOURCES).read_bytes())
    with pytest.raises(NoTarget, match="8 were offered and none"):
        trained(tiny, tmp_path, letters(8), still_allowed=lambda rows: [])


def test_sft_02_a_run_without_targets_fails_and_names_nothing(tiny: Path, tmp_path: Path) -> None:
    with pytest.raises(NoTarget, match="t/0 step 0: too_long"):
        trained(tiny, tmp_path, letters(1), config=TINY.model_copy(update={"max_length": 8}))
    assert [one.name for one in tmp_path.iterdir()] == ["work"]


def test_an_erasure_while_it_trains_ends_the_training(tiny: Path, tmp_path: Path) -> None:
    shelf = shelf_in(tmp_path)

    def erase(event: dict[str, Any]) -> None:
        if event["event"] == "step" and event["step"] == 3:
            shelf.erase("t", "s1")

    with pytest.raises(WorkerFailed, match=r"erased|gone"):
        trained(tiny, tmp_path, letters(), progress=erase)
    assert shelf.count("t", "s1") == 0
    assert [one for one in tmp_path.iterdir() if one.name != "work"] == []


def test_a_worker_that_breaks_says_how(tmp_path: Path) -> None:
    with pytest.raises(WorkerFailed, match="status 1"):
        trained(tmp_path / "no-model-here", tmp_path, letters(2))


@pytest.mark.model
def test_the_base_model_learns_an_action_and_to_stop(base_model_dir: Path, tmp_path: Path) -> None:
    """SFT-04 on the real base: after a short training a held-out letter is answered by the action, and ends."""
    import torch
    from peft import PeftModel
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(base_model_dir, local_files_only=True)

    def ids(text: str) -> tuple[int, ...]:
        return tuple(tokenizer(text, add_special_tokens=False)["input_ids"])

    def asked(order: int) -> str:
        return f"<|im_start|>user\nRefund SO-{order}.<|im_end|>\n<|im_start|>assistant\n"

    def action(order: int) -> str:
        return json.dumps({"tool": "refund_order", "arguments": {"order_id": f"SO-{order}"}})

    numbers = range(1013, 9000, 333)
    rows = [row(ids(asked(n)), ids(action(n) + "<|im_end|>"), name=f"t/{n}") for n in numbers]
    config = SftConfig(epochs=4, batch_size=4, learning_rate=1e-3, device="cpu")
    adapter = train(
        rows, base=BaseModelRef(name="base", content_digest="c" * 64), base_dir=base_model_dir,
        shelf=shelf_in(tmp_path), config=config,
    )  # fmt: skip
    model = AutoModelForCausalLM.from_pretrained(base_model_dir, dtype=torch.float32)
    model = PeftModel.from_pretrained(model, str(adapter.path)).eval()
    prompt = torch.tensor([ids(asked(4321))])
    out = model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=48, do_sample=False)
    said = out[0, prompt.shape[1] :].tolist()
    assert tokenizer.decode(said) == action(4321) + tokenizer.eos_token
