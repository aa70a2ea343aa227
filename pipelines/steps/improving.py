"""The middle of a turn: patterns, one proposal per lever, a dataset, one candidate release."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from governance.masking.placeholders import templated
from governance.records.context import Context
from governance.records.harness import Harness
from governance.records.lever import ContextChange, HarnessChange, Lever, Pattern, Proposal, WeightsChange
from governance.records.release import ReleaseBundle
from governance.records.rights import Purpose
from pipelines.operations import champion
from pipelines.steps import rows_report
from pipelines.steps.gating import cutoff_of, wall_of
from pipelines.turn import Output, Turn
from pipelines.wiring import Mill
from training import dataset as datasets
from training.dataset import Candidate, DatasetPolicy, Sources
from training.errors import LeverRefused
from training.evidence import voted_down
from training.levers import apply, context, harness
from training.routing.route import route

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
        detect, template = _surrogates(mill, turn)
        made: list[Proposal] = []
        refused: list[str] = []
        for lever in (Lever.CONTEXT, Lever.HARNESS):
            for pattern in patterns_of(mill, turn, lever):
                try:
                    if lever is Lever.CONTEXT:
                        made.append(context.propose(pattern, bundle.context, now, detect, template))
                    else:
                        made.append(harness.propose(pattern, bundle.harness, now, detect))
                except LeverRefused as error:
                    refused.append(f"{pattern.key}: {error}")
        mill.store.proposals.put_all(turn.id, made)
        return {"proposals": [described(proposal) for proposal in made], "refused": refused}

    return turn.step("proposals", turn.output("patterns"), work)


def _surrogates(mill: Mill, turn: Turn) -> tuple[Callable[[str], tuple[str, ...]], Callable[[str], str]]:
    """What tells the scope's surrogates in a text, and what puts typed placeholders in their place."""
    check, tenants = mill.surrogates, turn.scope.tenants

    def detect(text: str) -> tuple[str, ...]:
        return tuple(one.entity_type for tenant in tenants for one in check.places(tenant, text))

    def template(text: str) -> str:
        for tenant in tenants:
            text = templated(text, tenant, check)
        return text

    return detect, template


def patterns_of(mill: Mill, turn: Turn, lever: Lever) -> list[Pattern]:
    """The lever's patterns with the evidence that its purpose may use."""
    return [one for one in mill.store.patterns.list(turn.id, LEVER_PURPOSE[lever]) if one.lever is lever]


def described(proposal: Proposal) -> dict[str, Any]:
    """A proposal in a report."""
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
        version = mill.store.policy.version
        built = asyncio.run(datasets.build(turn.scope, sources, replayed, dataset_policy(mill), version))
        mill.store.datasets.put(
            built.manifest, built.rows, built.exclusions, _preparation(mill, new_harness, new_context)
        )
        kept = len({row.trajectory_id for row in built.rows})
        return {
            **rows_report(len(found.rows) + len(found.excluded), kept, built.exclusions),
            "root": built.manifest.root,
            "rows": len(built.rows),
            "tokens": sum(len(row.input_ids) for row in built.rows),
        }

    return turn.step("dataset", inputs, work)


def _preparation(mill: Mill, harness: Harness, context: Context) -> dict[str, Any]:
    """What rows are made with."""
    return {
        "base": mill.base.content_digest,
        "harness": harness.digest(),
        "context": context.digest(),
        "policy": dataset_policy(mill).plain(),
    }


def _asked_for_weights(mill: Mill, turn: Turn) -> list[Pattern]:
    """The weights patterns of this cycle and of the scope's earlier ones: what was learned once is learned again."""
    cycles = [turn.id, *(one.id for one in mill.store.cycles.list(turn.scope.name) if one.id != turn.id)]
    found = [one for cycle in cycles for one in mill.store.patterns.list(cycle, Purpose.TRAIN_WEIGHTS)]
    return [one for one in found if one.lever is Lever.WEIGHTS]


def dataset_policy(mill: Mill) -> DatasetPolicy:
    """How much is rehearsed, from the settings."""
    return DatasetPolicy(rehearsal_ratio=mill.settings.rehearsal_ratio)


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
