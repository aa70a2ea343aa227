"""What supervised fine-tuning costs here: tokens a second and the peak memory of the worker.

Usage: python benchmarks/sft.py --base MODEL_DIR [--rows 32] [--epochs 1] [--json]

Trains a LoRA on made-up shop rows of the length that the example's harness gives.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from governance.records.base import digest_bytes
from governance.records.dataset import DatasetRow
from governance.records.release import BaseModelRef
from governance.records.rights import Purpose, Reason, Verdict
from training.adapters import AdapterShelf
from training.sft import train
from training.sft_config import SftConfig

PROMPT = """<|im_start|>system
You are the support agent of a shop. Write one action as JSON.
Tools:
replace_item(order_id): send the item again, when it is broken, incomplete or wrong
give_credit(order_id): give a small credit, when it is late or has a small flaw
escalate_case(order_id): call the safety team, when it is dangerous
Facts:
A return is possible within 30 days.<|im_end|>
<|im_start|>user
{letter}<|im_end|>
<|im_start|>assistant
"""
FLAWS = (("broke on the first day", "replace_item"), ("came late", "give_credit"), ("caught fire", "escalate_case"))


def rows_for(tokenizer: Any, count: int) -> list[DatasetRow]:
    """Rows from a seed."""
    rng = random.Random(7)
    at = datetime(2026, 6, 1, tzinfo=UTC)
    allowed = Verdict(
        allowed=True, purpose=Purpose.TRAIN_WEIGHTS, reasons=(Reason.ALLOWED,), as_of=at, policy_version="benchmark"
    )
    rows = []
    for number in range(count):
        order, (flaw, tool) = f"SO-{rng.randint(1000, 9999)}", rng.choice(FLAWS)
        prompt = tokenizer(PROMPT.format(letter=f"My lamp {flaw}, order {order}."), add_special_tokens=False)
        action = json.dumps({"tool": tool, "arguments": {"order_id": order}}) + tokenizer.eos_token
        output = tokenizer(action, add_special_tokens=False)["input_ids"]
        rows.append(
            DatasetRow(
                tenant_id="benchmark",
                subject=f"person-{number}",
                trajectory_id=f"benchmark/{number}",
                step=0,
                input_ids=(*prompt["input_ids"], *output),
                completion_mask=(0,) * len(prompt["input_ids"]) + (1,) * len(output),
                verdict=allowed,
                origin="takeover",
            )
        )
    return rows


def measure(base_dir: Path, count: int, epochs: int) -> dict[str, Any]:
    """Train once in a temporary folder."""
    from transformers import AutoTokenizer

    rows = rows_for(AutoTokenizer.from_pretrained(base_dir, local_files_only=True), count)
    base = BaseModelRef(name="base", content_digest=digest_bytes((base_dir / "config.json").read_bytes()))
    with tempfile.TemporaryDirectory() as folder:
        shelf = AdapterShelf(Path(folder), lambda _: False)
        config = SftConfig(epochs=epochs, checkpoint_steps=10**6)
        trained = train(rows, base=base, base_dir=base_dir, shelf=shelf, config=config)
    metrics = trained.metrics
    return {
        "benchmark": "sft",
        "tokens_per_second": metrics["tokens_per_second"],
        "peak_memory_mb": metrics["peak_memory_mb"],
        "rows": count,
        "steps": metrics["steps"],
        "seconds": metrics["seconds"],
    }


def main() -> int:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", type=Path, required=True, help="folder of the base model")
    parser.add_argument("--rows", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="one JSON line instead of a sentence")
    given = parser.parse_args()
    found = measure(given.base, given.rows, given.epochs)
    line = f"{found['tokens_per_second']} tokens/s, {found['peak_memory_mb']} MB at the peak"
    print(json.dumps(found) if given.json else line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
