"""One turn of the loop as the store keeps it: runs, a fact, a dataset, an adapter, releases, a gate report."""

from __future__ import annotations

from typing import NamedTuple

from governance.records.gate import GateReport, GateVerdict, Interval
from governance.records.rights import Purpose
from governance.store import Store
from tests.governance.store_records import (
    T1,
    adapter,
    bundle,
    consents,
    contract,
    fact,
    grade,
    manifest,
    pattern,
    person,
    proposal,
    row,
    task,
    trajectory,
    world,
)

ANN, BEN, CAY = (person(number) for number in (0xA, 0xB, 0xC))


class Turned(NamedTuple):
    """What the turn made."""

    runs: tuple[str, ...]
    """Of Ann and Ben (learned from by weights), of Cay (a fact)."""
    dataset: str
    adapter: str
    fact: str
    release: str
    """With the adapter and the fact."""
    lean: str
    """With neither."""
    task: str
    report: str
    world: str


def turn(store: Store, tenant: str = "acme", scope: str = "shop@acme") -> Turned:
    """Fill the store with one turn."""
    store.rights.add_contract(contract(tenant))
    store.rights.add_consents([one for who in (ANN, BEN, CAY) for one in consents(who, tenant)])
    runs = [trajectory(number, subject=who, tenant=tenant) for number, who in enumerate((ANN, BEN, CAY))]
    store.trajectories.put_all(runs)
    rows = [row(run, store.rights.verdict(Purpose.TRAIN_WEIGHTS, tenant, run.subject, T1)) for run in runs[:2]]
    made = manifest(rows, scope)
    store.datasets.put(made, rows, [], {"harness": "h"})
    weights = adapter(made.root, 0xAD)
    store.adapters.put(weights, "adapters/x", {})
    stated = fact()
    store.patterns.put_all("c1", [pattern("p", [runs[2]])])
    store.proposals.put_all("c1", [proposal("p", stated)])
    ref, snapshot, index = world(BEN, tenant=tenant)
    store.worlds.put(ref, snapshot, index)
    asked = task(runs[1], ref.masked_digest)
    store.tasks.put_all("c1", [asked])
    lean, full = bundle(), bundle(weights=weights, facts=(stated,))
    digest = full.release.digest()
    store.releases.put(lean, None, "first")
    store.releases.put(full, lean.release.digest(), "better")
    store.deployments.switch(scope, 0, lean.release.digest(), "initial", "r-1")
    store.deployments.switch(scope, 1, digest, "better", "r-1")
    store.grades.put("c1", "candidate", asked.digest(), *grade(asked, digest))
    report = GateReport(
        scope=scope, champion=lean.release.digest(), candidate=digest, verdict=GateVerdict.PASS, tasks=1, errors=0,
        champion_success=0.5, candidate_success=1.0, difference=0.5, p_value=0.01, method="test", families=(),
        interval=Interval(low=0.1, high=0.9, confidence=0.95), reasons=(), at=T1,
    )  # fmt: skip
    store.gates.put("c1", report)
    return Turned(
        runs=tuple(run.id for run in runs), dataset=made.root, adapter=weights.content_digest, fact=stated.digest(),
        release=digest, lean=lean.release.digest(), task=asked.digest(), report=report.digest(),
        world=ref.masked_digest,
    )  # fmt: skip
