"""Four eyes: who approved what, and whether it may go on.

Theory. An approval binds one act on one thing (by id or digest), so what was approved is exactly what happens: a plan
or a release that changes afterwards has another digest and no approval. The approver is who acts now, in a role that
may approve such an act, and where the policy says so not who built it: the record of the
thing says who that was (``governance.builders``), never who asks. Two handles of one person cannot be told apart
here: that is for whoever gives out principals. The local owner holds every role, so an installation that demands a
second person has to make principals. Of several decisions on one thing the last one counts, and it ends by itself.

Use: ``Approvals.require`` right before the act (inside its transaction, if it has one); ``decide`` where a person says
yes or no; ``standing`` to show.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from governance.acting import INSTALLATION, acting, audited
from governance.builders import builder_of
from governance.errors import ApprovalMissing, RoleDenied
from governance.ports.clock import Clock, IdFactory
from governance.records.approval import APPROVERS, Approval, ApprovedAct, Decision, FourEyes
from governance.store import Store

TERM = timedelta(days=30)
"""How long an approval stands when nothing else is said."""


class Approvals:
    """Decisions of people on acts of a store."""

    def __init__(self, store: Store, clock: Clock, ids: IdFactory, policy: FourEyes) -> None:
        """``policy`` says what needs one, and of another person."""
        self._store = store
        self._clock = clock
        self._ids = ids
        self._policy = policy

    @property
    def policy(self) -> FourEyes:
        """What needs an approval."""
        return self._policy

    def decide(
        self,
        tenant_id: str,
        act: ApprovedAct,
        target: str,
        decision: Decision,
        *,
        reason: str,
        until: datetime | None = None,
    ) -> Approval:
        """Record what who acts now decides on ``target``.

        Raises:
            NotFound: when the tenant has no such thing.
            RoleDenied: when their role may not approve such an act, or they built what they approve.

        """
        who, now = acting(), self._clock.now()
        fitting = next((role for role in APPROVERS[act] if role in who.principal.roles), None)
        if fitting is None or not who.principal.covers(tenant_id):
            raise RoleDenied(f"{act} {target} of {tenant_id} is approved by {' or '.join(APPROVERS[act])} of it")
        builder = builder_of(self._store, tenant_id, act, target)
        if decision is Decision.APPROVED and act in self._policy.other_person and who.principal.name == builder:
            raise RoleDenied(f"{act} {target}: {builder} made it, so another person has to approve it")
        made = Approval(
            id=self._ids.hex(16), tenant_id=tenant_id, act=act, target=target, builder=builder or "",
            approver=who.principal.name, role=fitting, decision=decision, reason=reason, at=now,
            until=until or now + TERM,
        )  # fmt: skip
        detail = {"builder": made.builder, "reason": reason, "until": made.until.isoformat()}
        with self._store.transaction():
            self._store.approvals.put(made)
            event = audited(self._ids, now, tenant_id, f"{act}_{decision}", f"{act}:{target}", detail)
            self._store.audit.append(event.model_copy(update={"role": fitting.value}))
        return made

    def standing(self, tenant_id: str, act: ApprovedAct, target: str) -> Approval | None:
        """The approval that stands now; None where there is none, it ended, the last word was no, or it is its own."""
        decisions = self._store.approvals.of(tenant_id, act, target)
        if not decisions or not decisions[-1].stands(self._clock.now()):
            return None
        own = act in self._policy.other_person and decisions[-1].approver == self._builder(tenant_id, act, target)
        return None if own else decisions[-1]

    def require(self, tenant_id: str, act: ApprovedAct, target: str) -> Approval | None:
        """The approval by which ``target`` may go on; None where the policy asks for none.

        Raises:
            ApprovalMissing: saying who could give it.
            NotFound: when the tenant has no such thing.

        """
        if act not in self._policy.required:
            return None
        found = self.standing(tenant_id, act, target)
        if found is None:
            builder = self._builder(tenant_id, act, target)
            other = f" who is not {builder}" if act in self._policy.other_person else ""
            raise ApprovalMissing(
                f"{act} {target} of {tenant_id} waits for the approval of a {' or '.join(APPROVERS[act])}{other}; "
                f"see: tidemill approval give"
            )
        return found

    def _builder(self, tenant_id: str, act: ApprovedAct, target: str) -> str:
        """Who built it; who carries it out now where nothing is on record before."""
        return builder_of(self._store, tenant_id, act, target) or acting().principal.name


def chain_of(tenants: Sequence[str]) -> str:
    """Whose an approval of what a scope shares is: its tenant's, or the installation's where there is more than one."""
    return tenants[0] if len(tenants) == 1 else INSTALLATION
