"""What a reviewer does with facts and policies of training rights."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from governance.acting import acting
from governance.errors import NotFound, RecordError
from governance.policy.facts import facts_at
from governance.pseudonymised import require_by_hand
from governance.records.rights import FactKind, Purpose, RightsFact

if TYPE_CHECKING:
    from governance.records.rights import Verdict
    from governance.records.rights_policy import RightsPolicy
    from pipelines.ground import Ground

SHOWN: Final = 20
"""Ids named in a comparison."""
_EVER: Final = (datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC))


def record_fact(ground: Ground, tenant: str, kind: FactKind, about: dict[str, Any]) -> RightsFact:
    """Record a fact that holds from now on.

    Raises:
        NotFound: when it is about a run that is not stored.
        RecordError: when the run is another person's, or the fact is none that is recorded by hand.

    """
    require_by_hand(kind)
    _check_run(ground, tenant, about["trajectory_id"], about["subject"])
    now = ground.clock.now()
    fact = RightsFact(
        id=ground.ids.hex(16),
        tenant_id=tenant,
        kind=kind,
        valid_from=now,
        recorded_at=now,
        actor=acting().principal.name,
        **about,
    )
    ground.store.rights.add_facts([fact])
    return fact


def _check_run(ground: Ground, tenant: str, run: str | None, subject: str | None) -> None:
    if run is None:
        return
    whose = ground.store.trajectories.subjects([run]).get(run)
    if whose is None or whose[0] != tenant:
        raise NotFound(f"rights: no trajectory {run!r} of tenant {tenant}; see: tidemill trajectories list")
    if subject is not None and whose[1] != subject:
        raise RecordError(f"rights: the trajectory {run} is another person's")


def end_fact(ground: Ground, tenant: str, fact_id: str, *, revoke: bool) -> RightsFact:
    """End a fact that stands; ``revoke``: as if it had never held, as far as is known from now on.

    Raises:
        NotFound: when no such fact stands.

    """
    now = ground.clock.now()
    standing = {fact.id: fact for fact in facts_at(ground.store.rights.facts(tenant), now, everything=True)}
    begun = [fact for id_, fact in standing.items() if fact_id and id_.startswith(fact_id)]
    if len(begun) != 1:
        raise NotFound(
            f"rights: {len(begun)} facts of tenant {tenant} stand now whose id begins with {fact_id!r}; "
            "see: tidemill rights fact list"
        )
    [fact] = begun
    require_by_hand(fact.kind)
    ended = fact.model_copy(
        update={
            "id": ground.ids.hex(16),
            "supersedes": fact.id,
            "valid_to": fact.valid_from if revoke else now,
            "recorded_at": max(now, fact.recorded_at),  # a clock that was set back ends it all the same
            "actor": acting().principal.name,
        }
    )
    ground.store.rights.add_facts([ended])
    return ended


def compare_policies(ground: Ground, candidate: RightsPolicy, purpose: Purpose) -> dict[str, Any]:
    """What a policy would admit and drop, beside the one in force, over every stored trajectory."""
    now = ground.clock.now()
    before: dict[str, Verdict] = {}
    after: dict[str, Verdict] = {}
    for tenant in ground.store.rights.tenants():
        before |= ground.store.trajectories.verdicts(purpose, [tenant], *_EVER, as_of=now)
        after |= ground.store.trajectories.verdicts(purpose, [tenant], *_EVER, as_of=now, policy=candidate)
    admitted = sorted(id_ for id_, verdict in after.items() if verdict.allowed and not before[id_].allowed)
    dropped = sorted(id_ for id_, verdict in after.items() if not verdict.allowed and before[id_].allowed)
    return {
        "purpose": purpose.value,
        "in_force": ground.store.policy.version,
        "candidate": candidate.version,
        "trajectories": len(before),
        "allowed_now": sum(verdict.allowed for verdict in before.values()),
        "allowed_then": sum(verdict.allowed for verdict in after.values()),
        "would_admit": len(admitted),
        "would_drop": len(dropped),
        "dropped_by_reason": dict(sorted(Counter(after[id_].reasons[0].value for id_ in dropped).items())),
        "admitted": admitted[:SHOWN],
        "dropped": dropped[:SHOWN],
    }
