"""A person leaves: rights asked again, erasure along the lineage, rollback, and the rebuild without them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from governance.erasure import ErasurePlan
from governance.errors import NotFound
from governance.records.base import digest_json
from governance.records.erasure import ErasureReport
from governance.records.lineage import NodeKind
from governance.records.release import ReleaseBundle
from governance.records.rights import Purpose, Suppression
from governance.store.lineage import node
from pipelines.operations import ACTOR, start_engine
from pipelines.wiring import Mill


def why_not_now(mill: Mill, bundle: ReleaseBundle) -> tuple[str, ...]:
    """Reasons why a release's data may not be used at this moment; empty when it may."""
    adapter = bundle.release.adapter
    if adapter is None:
        return ()
    made_from = mill.store.lineage.ancestors(node(NodeKind.ADAPTER, adapter.content_digest))
    reasons = []
    for root in (one.id for one in made_from if one.kind is NodeKind.DATASET):
        try:
            held = len(mill.store.datasets.manifest(root).rows)
        except NotFound:
            continue
        allowed = len(mill.store.datasets.rows(root, Purpose.TRAIN_WEIGHTS))
        if allowed < held:
            reasons.append(f"{held - allowed} of {held} rows of dataset {root[:12]} may not be trained on now")
    return tuple(reasons)


def erase_subject(mill: Mill, tenant: str, raw_id: str, tell: Callable[[str], None]) -> dict[str, Any]:
    """Erase a person by the id that the app knows. The same person again gets the same report.

    The suppression is written first: from then on nothing of them enters or is read, whatever fails later. Rights
    outrank the rollback window: a tainted champion leaves service before its adapter is removed. Where something is
    held again after a finished erasure (it was on its way), the person is erased again under a request of its own.
    """
    subject = mill.door.subject(tenant, raw_id)
    plan = mill.erasure.plan(tenant, subject)
    request_id = _request_id(mill, tenant, subject, plan)
    now = mill.clock.now()
    mill.store.rights.suppress(Suppression(tenant_id=tenant, subject=subject, since=now, request_id=request_id))
    tell(f"{plan.total} rows and files are held; {len(plan.tainted_releases)} releases were made in part from them")
    for digest in plan.tainted_releases:
        mill.store.releases.taint(digest, f"erasure {request_id}")
    rollbacks = [_leave(mill, scope, request_id, tell) for scope in sorted(plan.deployed)]
    report = mill.erasure.execute(request_id, tenant, subject)
    return {
        "request": request_id,
        "tenant": tenant,
        "subject": subject,
        "held_before": plan.held,
        "tainted_releases": list(report.tainted_releases),
        "rollbacks": rollbacks,
        "artifacts": _counted(report),
        "remaining": report.remaining,
        "message": "nothing is held of this person" if not plan.total and not report.artifacts else "erased",
        "ok": report.remaining == 0,
    }


def _request_id(mill: Mill, tenant: str, subject: str, plan: ErasurePlan) -> str:
    """The request's id: the same for the same person, until something is held of them after it was finished."""
    number = 0
    while True:
        request_id = digest_json(["erase", tenant, subject, number])[:32]
        try:
            mill.store.erasures.get(request_id)
        except NotFound:
            return request_id
        if not plan.total:
            return request_id
        number += 1


def _leave(mill: Mill, scope: str, request_id: str, tell: Callable[[str], None]) -> dict[str, Any]:
    start_engine(mill)
    done = mill.promoter.rollback(scope, f"erasure {request_id}", ACTOR)
    tell(f"{scope}: rolled back to {done.deployment.release_digest[:12]} in {done.seconds:.3f} s")
    return {"scope": scope, "release": done.deployment.release_digest, "seconds": round(done.seconds, 3)}


def _counted(report: ErasureReport) -> list[dict[str, Any]]:
    """Artifacts by kind and state."""
    counts: dict[tuple[str, str], int] = {}
    for artifact in report.artifacts:
        key = (artifact.node.kind.value, artifact.state.value)
        counts[key] = counts.get(key, 0) + 1
    return [{"kind": kind, "state": state, "count": count} for (kind, state), count in sorted(counts.items())]


def complete_rebuilds(mill: Mill, adapter_digest: str, dataset_root: str) -> list[dict[str, Any]]:
    """Mark what waited for a rebuild as rebuilt without the person; refused while they stand in the new rows."""
    rows = mill.store.datasets.rows(dataset_root, Purpose.TRAIN_WEIGHTS)
    subjects = {row.subject for row in rows}
    completed = []
    for waiting in mill.erasure.pending():
        report = mill.erasure.complete_rebuild(waiting.request_id, adapter_digest, subjects)
        completed.append({"request": report.request_id, "artifacts": _counted(report)})
    return completed
