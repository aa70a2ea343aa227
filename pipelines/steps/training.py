"""Training: rights and assessments asked again, then an adapter from the frozen base on what is left."""

from __future__ import annotations

from collections.abc import Sequence

from governance.records.dataset import DatasetRow
from governance.records.lever import Lever
from governance.records.rights import Purpose
from pipelines.steps.improving import described, patterns_of
from pipelines.turn import Output, Turn
from pipelines.wiring import Mill
from training import sft
from training.errors import NoTarget
from training.levers import weights
from training.sft_config import SftConfig

NOT_ASSESSED = "training did not start"


def recheck_rights(mill: Mill, turn: Turn) -> Output:
    """Judge every row of the dataset again, now."""
    report = turn.output("dataset")
    if not report["root"]:
        return {"rows": 0, "denied": 0}
    found = mill.store.datasets.judged(report["root"], Purpose.TRAIN_WEIGHTS)
    return {"rows": len(found.rows) + len(found.dropped), "denied": len(found.dropped)}


def refusals(mill: Mill, root: str) -> tuple[str, ...]:
    """Why training on a dataset may not start now; empty when it may."""
    if not root:
        return ()
    rows = mill.store.datasets.judged(root, Purpose.TRAIN_WEIGHTS).rows
    return mill.assessments.missing(Purpose.TRAIN_WEIGHTS, rows)


def adapter(mill: Mill, turn: Turn) -> Output:
    """Train from the frozen base on what is still allowed, under an approved assessment."""
    root = turn.output("dataset")["root"]
    refused = refusals(mill, root)

    def work() -> Output:
        if refused:
            return {"adapter": "", "rows": 0, "reason": f"{NOT_ASSESSED}: {'; '.join(refused)}"}
        return _trained(mill, turn, root)

    return turn.step("adapter", [root, refused] if refused else root, work)


def _trained(mill: Mill, turn: Turn, root: str) -> Output:
    rows = mill.store.datasets.rows(root, Purpose.TRAIN_WEIGHTS) if root else ()
    if not rows:
        return {"adapter": "", "rows": 0, "reason": "no pattern asks for weights" if not root else "no row is left"}
    used: list[str] = []
    try:
        trained = _train(mill, turn, root, rows, used)
    except NoTarget as error:
        return {"adapter": "", "rows": 0, "reason": str(error)}
    learned = mill.rights_at_use.trained(used[-1], trained.rows)
    mill.store.adapters.put(trained.ref, str(trained.path), trained.probe)
    asked = patterns_of(mill, turn, Lever.WEIGHTS)
    now, digest = mill.clock.now(), trained.ref.content_digest
    proposals = [weights.propose(pattern, learned, now, digest) for pattern in asked]
    mill.store.proposals.put_all(turn.id, proposals)
    return {
        "adapter": digest,
        "dataset": learned,
        "rows": len(trained.rows),
        "dropped": trained.dropped,
        "metrics": {key: value for key, value in trained.metrics.items() if isinstance(value, int | float)},
        "proposals": [described(proposal) for proposal in proposals],
    }


def _train(mill: Mill, turn: Turn, root: str, rows: Sequence[DatasetRow], used: list[str]) -> sft.TrainedAdapter:
    """Train; ``used`` gets the version that was left when training began."""

    def still_allowed(_: Sequence[DatasetRow]) -> Sequence[DatasetRow]:
        version, left = mill.rights_at_use.before_training(root, turn.id)
        used.append(version)
        return left

    return sft.train(
        rows,
        base=mill.base,
        base_dir=mill.model_dir,
        shelf=mill.shelf,
        config=sft_config(mill),
        progress=lambda event: mill.tell(f"training: {event}"),
        still_allowed=still_allowed,
    )


def sft_config(mill: Mill) -> SftConfig:
    """How adapters are trained, from the settings."""
    chosen = mill.settings
    return SftConfig(
        rank=chosen.lora_rank,
        alpha=2 * chosen.lora_rank,
        depth=chosen.lora_depth,
        choice_share=chosen.choice_share,
        epochs=chosen.epochs,
        batch_size=chosen.batch_size,
        learning_rate=chosen.learning_rate,
    )
