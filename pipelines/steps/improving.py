"""The middle of a turn: patterns, one proposal per lever, a dataset, an adapter, one candidate release."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from governance.policy.rights import POLICY_VERSION
from governance.records.context import Context
from governance.records.dataset import DatasetRow
from governance.records.harness import Harness
from governance.records.lever import ContextChange, HarnessChange, Lever, Pattern, Proposal, WeightsChange
from governance.records.lineage import NodeKind
from governance.records.release import ReleaseBundle
from governance.records.rights import Purpose
from governance.store.lineage import edge, node
from pipelines.operations import champion
from pipelines.steps import rows_report
from pipelines.steps.gating import cutoff_of, wall_of
from pipelines.turn import Output, Turn
from pipelines.wiring import Mill
from training import dataset as datasets
from training import sft
from training.dataset import Candidate, DatasetPolicy, Sources
from training.errors import LeverRefused, NoTarget
from training.evidence import voted_down
from training.levers import apply, context, harness, weights
from training.routing.route import route
from training.sft_config import SftConfig

LEVER_PURPOSE = {
    Lever.CONTEXT: Purpose.IMPROVE_CONTEXT,
    Lever.HARNESS: Purpose.IMPROVE_HARNESS,
    Lever.WEIGHTS: Purpose.TRAIN_WEIGHTS,
}


def patterns(mill: Mill, turn: Turn) -> Output:
    """Route each failure before the cutoff to a pattern; what is measured on later must not shape a proposal."""
    start, end = turn.window.start, cutoff_of(mill, turn)
    found = mill.store.trajectories.list(Purpose.DEBUG, turn.scope.tenants, start, end)
    inputs = [one.digest() for one in found.rows]

    def work() -> Output:
        signals = mill.store.signals.list(Purpose.DEBUG, turn.scope.tenants, start, end)
        bundle, _ = champion(mill, turn.scope)
        routed = route(turn.scope.name, found.rows, signals, bundle.harness, bundle.context)
        mill.store.patterns.put_all(turn.id, routed)
        kept = len({one for pattern in routed for one in pattern.trajectory_ids})
        considered = len(found.rows) + len(found.excluded)
        return {
            **rows_report(considered, kept, found.excluded),
            "without_failure": len(found.rows) - kept,
            "patterns": [_told(pattern) for pattern in routed],
        }

    return turn.step("patterns", inputs, work)


def _told(pattern: Pattern) -> dict[str, Any]:
    return {
        "key": pattern.key,
        "lever": pattern.lever.value,
        "reason": pattern.reason,
        "trajectories": len(pattern.trajectory_ids),
        "subjects": pattern.subjects,
    }


def proposals(mill: Mill, turn: Turn) -> Output:
    """One change per lever, from evidence that this lever's purpose may use."""

    def work() -> Output:
        bundle, _ = champion(mill, turn.scope)
        now = mill.clock.now()
        made: list[Proposal] = []
        refused: list[str] = []
        for lever in (Lever.CONTEXT, Lever.HARNESS):
            for pattern in _patterns_of(mill, turn, lever):
                try:
                    if lever is Lever.CONTEXT:
                        made.append(context.propose(pattern, bundle.context, now))
                    else:
                        made.append(harness.propose(pattern, bundle.harness, now))
                except LeverRefused as error:
                    refused.append(f"{pattern.key}: {error}")
        mill.store.proposals.put_all(turn.id, made)
        return {"proposals": [_described(proposal) for proposal in made], "refused": refused}

    return turn.step("proposals", turn.output("patterns"), work)


def _patterns_of(mill: Mill, turn: Turn, lever: Lever) -> list[Pattern]:
    """The lever's patterns with the evidence that its purpose may use."""
    return [one for one in mill.store.patterns.list(turn.id, LEVER_PURPOSE[lever]) if one.lever is lever]


def _described(proposal: Proposal) -> dict[str, Any]:
    match proposal.change:
        case ContextChange(fact=fact):
            text = f"fact {fact.key!r} from {fact.valid_from.isoformat()}: {fact.text}"
        case HarnessChange(tool=tool):
            text = f"schema of {tool.name}: {tool.parameters}"
        case WeightsChange(dataset_digest=digest):
            text = f"an adapter from the frozen base on dataset {digest[:12]}"
    return {"lever": proposal.change.lever, "pattern": proposal.pattern_key, "text": text}


def candidate_parts(mill: Mill, turn: Turn) -> tuple[Harness, Context]:
    """Harness and context with this turn's proposals applied."""
    bundle, _ = champion(mill, turn.scope)
    made = [
        one
        for purpose in (Purpose.IMPROVE_CONTEXT, Purpose.IMPROVE_HARNESS)
        for one in mill.store.proposals.list(turn.id, purpose)
        if LEVER_PURPOSE[Lever(one.change.lever)] is purpose
    ]
    return apply(made, bundle.harness, bundle.context)


def dataset(mill: Mill, turn: Turn) -> Output:
    """Rows for the weights lever, each with its verdict; nothing where no pattern asks for weights."""
    asked = _asked_for_weights(mill, turn)
    tenants = mill.product.tenants if len(turn.scope.tenants) > 1 else turn.scope.tenants
    since = min(cycle.window_start for cycle in mill.store.cycles.list(turn.scope.name))
    found = mill.store.trajectories.list(Purpose.TRAIN_WEIGHTS, tenants, since, turn.window.end)
    new_harness, new_context = candidate_parts(mill, turn)
    inputs = [
        [pattern.digest() for pattern in asked],
        [one.digest() for one in found.rows],
        [one.digest() for one in found.excluded],
        new_harness.digest(),
        new_context.digest(),
    ]

    def work() -> Output:
        if not asked:
            return {**rows_report(0, 0, ()), "root": "", "rows": 0}
        now = mill.clock.now()
        sources = Sources(
            patterns=asked,
            trajectories=found.rows,
            verdicts=found.verdicts,
            excluded=found.excluded,
            contracts={tenant: mill.store.rights.contract_at(tenant, now) for tenant in tenants},
            wall=wall_of(mill, turn),
            downs=voted_down(mill.store.signals.list(Purpose.TRAIN_WEIGHTS, tenants, since, turn.window.end)),
        )
        replayed = Candidate(
            base=mill.base,
            harness=new_harness,
            context=new_context,
            runner=mill.runner,
            host=mill.host(Purpose.TRAIN_WEIGHTS),
            world=mill.store.worlds.by_source,
        )
        built = asyncio.run(datasets.build(turn.scope, sources, replayed, dataset_policy(mill), POLICY_VERSION))
        mill.store.datasets.put(built.manifest, built.rows, built.exclusions)
        kept = len({row.trajectory_id for row in built.rows})
        return {
            **rows_report(len(found.rows) + len(found.excluded), kept, built.exclusions),
            "root": built.manifest.root,
            "rows": len(built.rows),
            "tokens": sum(len(row.input_ids) for row in built.rows),
        }

    return turn.step("dataset", inputs, work)


def _asked_for_weights(mill: Mill, turn: Turn) -> list[Pattern]:
    """The weights patterns of this cycle and of the scope's earlier ones: what was learned once is learned again."""
    cycles = [turn.id, *(one.id for one in mill.store.cycles.list(turn.scope.name) if one.id != turn.id)]
    found = [one for cycle in cycles for one in mill.store.patterns.list(cycle, Purpose.TRAIN_WEIGHTS)]
    return [one for one in found if one.lever is Lever.WEIGHTS]


def dataset_policy(mill: Mill) -> DatasetPolicy:
    """How much is rehearsed, from the settings."""
    return DatasetPolicy(rehearsal_ratio=mill.settings.rehearsal_ratio)


def recheck_rights(mill: Mill, turn: Turn) -> Output:
    """Judge every row of the dataset again, now."""
    report = turn.output("dataset")
    if not report["root"]:
        return {"rows": 0, "denied": 0}
    allowed = len(mill.store.datasets.rows(report["root"], Purpose.TRAIN_WEIGHTS))
    return {"rows": report["rows"], "denied": report["rows"] - allowed}


def adapter(mill: Mill, turn: Turn) -> Output:
    """Train from the frozen base on what is still allowed."""
    root = turn.output("dataset")["root"]

    def work() -> Output:
        rows = mill.store.datasets.rows(root, Purpose.TRAIN_WEIGHTS) if root else ()
        if not rows:
            return {"adapter": "", "rows": 0, "reason": "no pattern asks for weights" if not root else "no row is left"}
        try:
            trained = _train(mill, root, rows)
        except NoTarget as error:
            return {"adapter": "", "rows": 0, "reason": str(error)}
        mill.store.adapters.put(trained.ref, str(trained.path), trained.probe)
        made = node(NodeKind.ADAPTER, trained.ref.content_digest)
        mill.store.lineage.add([edge(made, node(NodeKind.DATASET, root))])
        asked = _patterns_of(mill, turn, Lever.WEIGHTS)
        now, digest = mill.clock.now(), trained.ref.content_digest
        made_proposals = [weights.propose(pattern, root, now, digest) for pattern in asked]
        mill.store.proposals.put_all(turn.id, made_proposals)
        return {
            "adapter": trained.ref.content_digest,
            "rows": len(trained.rows),
            "dropped": trained.dropped,
            "metrics": {key: value for key, value in trained.metrics.items() if isinstance(value, int | float)},
            "proposals": [_described(proposal) for proposal in made_proposals],
        }

    return turn.step("adapter", root, work)


def _train(mill: Mill, root: str, rows: Sequence[DatasetRow]) -> sft.TrainedAdapter:
    return sft.train(
        rows,
        base=mill.base,
        base_dir=mill.model_dir,
        shelf=mill.shelf,
        config=sft_config(mill),
        progress=lambda event: mill.tell(f"training: {event}"),
        still_allowed=lambda _: mill.store.datasets.rows(root, Purpose.TRAIN_WEIGHTS),
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


def candidate(mill: Mill, turn: Turn) -> Output:
    """Bundle base, adapter, harness and context into one release."""
    digest = turn.output("adapter")["adapter"]
    new_harness, new_context = candidate_parts(mill, turn)

    def work() -> Output:
        bundle, version = champion(mill, turn.scope)
        ref = mill.store.adapters.get(digest)[0] if digest else bundle.release.adapter
        made = ReleaseBundle.of(mill.base, ref, new_harness, new_context)
        changed = made.release.digest() != bundle.release.digest()
        if changed:
            mill.store.releases.put(made, bundle.release.digest(), f"cycle {turn.id}")
        return {
            "release": made.release.digest(),
            "name": made.release.name,
            "champion": bundle.release.digest(),
            "champion_version": version,
            "changed": changed,
            "adapter": ref.served_name if ref else "",
            "harness": made.release.harness_digest,
            "context": made.release.context_digest,
        }

    return turn.step("candidate", [digest, new_harness.digest(), new_context.digest()], work)
