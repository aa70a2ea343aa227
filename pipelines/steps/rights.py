"""A person leaves: rights asked again, erasure along the lineage, rollback, and the rebuild without them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from governance.erasure_plan import ErasurePlan
from governance.errors import NotFound
from governance.records.base import digest_json
from governance.records.erasure import ErasureReport
from governance.records.manifest import UseKind, UseOutcome
from governance.records.release import ReleaseBundle
from governance.records.rights_policy import WhenOver
from governance.records.scope import Scope
from governance.rights_at_use import ReleaseRights
from pipelines.leaving import leave
from pipelines.rebuilds import champion_rights, rebuilds
from pipelines.wiring import Mill


def why_not_now(mill: Mill, bundle: ReleaseBundle) -> tuple[str, ...]:
    """Reasons why a release may not be promoted at this moment; empty when it may, for now or for good."""
    rights = mill.rights_at_use.of_candidate(bundle)
    return rights.reasons if rights.outcome is UseOutcome.STOPPED else ()


def check_service(mill: Mill, tell: Callable[[str], None]) -> dict[str, Any]:
    """Ask again for every champion; one whose deadline is over leaves service, as the policy says."""
    found = rebuilds(mill)
    left = {}
    for scope, one in found.items():
        rights = champion_rights(mill, scope)
        if rights is None:
            continue
        mill.rights_at_use.note(UseKind.SERVICE, rights)
        tell(f"{scope}: {'; '.join(rights.reasons)}")
        if one["overdue"]:
            left[scope] = _out_of_service(mill, scope, rights, tell)
    left |= kept_too_long(mill)
    rebuilt = [done for scope in mill.scopes() for done in complete_rebuilds(mill, scope)]
    return {
        "champions": len(mill.store.deployments.scopes()),
        "rebuilds": found,
        "left_service": left,
        "rebuilt": rebuilt,
    }


def kept_too_long(mill: Mill) -> dict[str, str]:
    """Suspend each champion that an erasure let go on until a date that is over; scope to what became of it."""
    now, ended = mill.clock.now(), {}
    kept = [one for one in mill.store.erasures.list() if one.serves_until is not None and one.serves_until <= now]
    for scope in mill.store.deployments.scopes():
        current = mill.store.deployments.current(scope)
        over = [one for one in kept if current is not None and current.release_digest in one.tainted_releases]
        if current is None or not over or mill.store.releases.suspended(current.release_digest) is not None:
            continue
        reason = f"erasure {over[0].request_id}: it might serve until {over[0].serves_until:%Y-%m-%d %H:%M} UTC"
        mill.store.releases.suspend(current.release_digest, reason)
        ended[scope] = "suspended"
    return ended


def _out_of_service(mill: Mill, scope: str, rights: ReleaseRights, tell: Callable[[str], None]) -> str:
    reason = f"rights ended: {'; '.join(rights.reasons)}"
    mill.store.releases.taint(rights.release, reason)
    if mill.store.policy.rebuild.when_over is WhenOver.SUSPEND:
        mill.store.releases.suspend(rights.release, reason)
        return "suspended"
    left = leave(mill, scope, rights.release, reason, tell)
    return f"suspended: {left['suspended']}" if "suspended" in left else f"rolled back to {left['release']}"


def erase_subject(mill: Mill, tenant: str, raw_id: str, tell: Callable[[str], None]) -> dict[str, Any]:
    """Erase a person by the id that the app knows. The same person again gets the same report.

    The suppression is written first: from then on nothing of them enters or is read, whatever fails later. Rights
    outrank the rollback window: a tainted release is no target of a rollback from that moment, and a tainted champion
    leaves service before its adapter is removed: it is rolled back, or as the policy says suspended, or kept until the
    date that the certificate names. Where no rollback can be done now it is suspended, and the certificate says why.
    Where something is held again after a finished erasure (it was on its way), the person is erased again under a
    request of its own.

    Raises:
        ApprovalMissing: when somebody else has to approve; the request waits, with its deadline.
        HeldError: while a legal hold covers what would go.

    """
    subject = mill.key_desk.person(tenant, raw_id)
    plan = mill.erasure.plan(tenant, subject)
    request_id = _request_id(mill, tenant, subject, plan)
    if not _finished(mill, request_id):
        mill.erasure.suppress(mill.erasure.admit(request_id, tenant, subject))
        tell(f"{plan.total} rows and files are held; {len(plan.tainted_releases)} releases were made in part from them")
        for digest in plan.tainted_releases:
            mill.store.releases.taint(digest, f"erasure {request_id}")
        if mill.erasure.policy.serving == "suspend":
            for digest in set(plan.deployed.values()):
                mill.store.releases.suspend(digest, f"erasure {request_id}")
    leaving = sorted(plan.deployed) if mill.erasure.policy.serving == "roll_back" else []
    rollbacks = [leave(mill, scope, plan.deployed[scope], f"erasure {request_id}", tell) for scope in leaving]
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
        "weights": report.weights.value,
        "due_at": None if report.due_at is None else report.due_at.isoformat(),
        "serves_until": None if report.serves_until is None else report.serves_until.isoformat(),
        "message": "nothing is held of this person" if not plan.total and not report.artifacts else "erased",
        "ok": report.remaining == 0,
    }


def _request_id(mill: Mill, tenant: str, subject: str, plan: ErasurePlan) -> str:
    """The request's id: the same for the same person, until something is held of them after it was finished."""
    number = 0
    while True:
        request_id = digest_json(["erase", tenant, subject, number])[:32]
        if not _finished(mill, request_id):
            return request_id
        following = digest_json(["erase", tenant, subject, number + 1])[:32]
        broken_off = following in {one.id for one in mill.store.requests.of(tenant, subject)}
        if not plan.total and not broken_off:
            return request_id
        number += 1


def _finished(mill: Mill, request_id: str) -> bool:
    """Whether the request has its certificate."""
    try:
        mill.store.erasures.get(request_id)
    except NotFound:
        return False
    return True


def _counted(report: ErasureReport) -> list[dict[str, Any]]:
    """Artifacts by kind and state."""
    counts: dict[tuple[str, str], int] = {}
    for artifact in report.artifacts:
        key = (artifact.node.kind.value, artifact.state.value)
        counts[key] = counts.get(key, 0) + 1
    return [{"kind": kind, "state": state, "count": count} for (kind, state), count in sorted(counts.items())]


def complete_rebuilds(mill: Mill, scope: Scope) -> list[dict[str, Any]]:
    """After a promotion: destroy weights that left service, and complete the certificates that waited for it."""
    mill.erasure.rebuilds.destroy()
    completed = mill.erasure.rebuilds.complete(scope)
    return [{"request": report.request_id, "artifacts": _counted(report)} for report in completed]
