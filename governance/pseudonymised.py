"""Pseudonymised processing, declared: recorded, started, ended. Rows whose basis is PIPA 28-2 rest on it.

Theory. A contract's term may name PIPA 28-2 as the basis of a purpose. It allows nothing by itself: a row may be used
while a declaration stands that names one of the law's aims, this purpose, and every category of data that the row is
known to hold. A declaration starts by a fact about everybody of the tenant (``FactKind.PSEUDONYMISED``), so it decides
verdicts like any other fact: at a time, replayable, for sets as for rows. Where the four-eyes rule asks for it, it does
not start before another person approved it. Ending it ends the fact, and the next read denies.

Sources: PIPA 28-2(1) (aims), 28-4 and its decree (records of purpose, items, use and recipients; a term), 28-7.
Objection, restriction and erasure go on counting, though 28-7 would allow less.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from governance.acting import acting, audited
from governance.approvals import Approvals
from governance.errors import NotFound, RecordError
from governance.ports.clock import Clock, IdFactory
from governance.records.approval import ApprovedAct
from governance.records.assessment import CATEGORY_IRI, DataCategory
from governance.records.pseudonymised import AIM_IRI, Aim, Declaration
from governance.records.rights import BASIS_IRI, PURPOSE_IRI, Basis, FactKind, Purpose, RightsFact
from governance.store import Store


class DeclarationDesk:
    """Records, starts and ends declarations of one store."""

    def __init__(self, store: Store, approvals: Approvals, clock: Clock, ids: IdFactory) -> None:
        """``approvals`` holds the four-eyes rule."""
        self._store, self._approvals, self._clock, self._ids = store, approvals, clock, ids

    def declare(
        self,
        tenant_id: str,
        aim: Aim,
        purpose: Purpose,
        categories: Iterable[DataCategory],
        *,
        document: str,
        until: datetime,
        since: datetime | None = None,
    ) -> Declaration:
        """Record a declaration; it starts at once where nobody has to approve it.

        ``since``: when it begins to hold, now where not given. Its author is who acts.

        Raises:
            RecordError: when it would hold from before it is recorded.

        """
        now, who = self._clock.now(), acting().principal.name
        if since is not None and since < now:
            raise RecordError("a declaration holds from now or later: what was used before had none")
        told = {
            "id": self._ids.hex(16), "tenant_id": tenant_id, "aim": aim, "purpose": purpose, "document": document,
            "categories": tuple(sorted(set(categories))), "author": who, "valid_from": since or now,
            "valid_to": until, "recorded_at": now, "actor": who,
        }  # fmt: skip
        made = Declaration.parse(told, "declaration")
        self._record(made, "pseudonymised_declared", {"document": document, "purpose": purpose.value, "aim": aim.value})
        if ApprovedAct.PSEUDONYMISATION not in self._approvals.policy.required:
            self.start(tenant_id, made.id)
        return made

    def start(self, tenant_id: str, id_: str) -> RightsFact:
        """Let a declaration count from now on, or from its beginning where that lies ahead; again changes nothing.

        Raises:
            NotFound: when no such declaration stands.
            ApprovalMissing: when it waits for another person.

        """
        found, now = self._open(tenant_id, id_), self._clock.now()
        started = self._fact(found)
        if started is not None:
            return started
        self._approvals.require(tenant_id, ApprovedAct.PSEUDONYMISATION, found.id)
        fact = RightsFact(
            id=self._ids.hex(16), tenant_id=tenant_id, kind=FactKind.PSEUDONYMISED, purpose=found.purpose,
            value=",".join(found.categories), reason=f"declaration {found.id}", valid_from=max(found.valid_from, now),
            valid_to=found.valid_to, recorded_at=now, actor=acting().principal.name,
        )  # fmt: skip
        with self._store.transaction():
            self._store.rights.add_facts([fact])
            self._log(tenant_id, "pseudonymised_started", found.id, {"until": found.valid_to.isoformat()})
        return fact

    def end(self, tenant_id: str, id_: str, *, reason: str) -> Declaration:
        """End a declaration now: nothing rests on it from now on.

        Raises:
            NotFound: when no such declaration stands.

        """
        found, now = self._open(tenant_id, id_), self._clock.now()
        changed = {"valid_to": now, "recorded_at": now, "actor": acting().principal.name}
        ended = found.model_copy(update=changed | {"id": self._ids.hex(16), "supersedes": found.id})
        fact = self._fact(found)
        with self._store.transaction():
            if fact is not None:
                over = changed | {"id": self._ids.hex(16), "supersedes": fact.id}
                over["valid_from"] = min(fact.valid_from, now)
                self._store.rights.add_facts([fact.model_copy(update=over)])
            self._record(ended, "pseudonymised_ended", {"ends": found.id, "reason": reason})
        return ended

    def listed(self, tenant_id: str) -> list[dict[str, Any]]:
        """Every declaration of a tenant with its state now, and the terms' IRIs."""
        now, recorded = self._clock.now(), self._store.pseudonymised.declared(tenant_id)
        ended = {one.supersedes for one in recorded}
        return [
            one.plain() | self._state(one, now, ended=one.id in ended) | _iris(one)
            for one in recorded
            if one.supersedes is None
        ]

    def _state(self, one: Declaration, now: datetime, *, ended: bool) -> dict[str, Any]:
        approval = self._approvals.standing(one.tenant_id, ApprovedAct.PSEUDONYMISATION, one.id)
        fact = None if ended else self._fact(one)
        state = "ended" if ended else "expired" if one.valid_to <= now else "waits to be started"
        if fact is not None and now < one.valid_to:
            state = "stands" if fact.valid_from <= now else "begins later"
        return {"state": state, "approved_by": approval.approver if approval else None}

    def _open(self, tenant_id: str, id_: str) -> Declaration:
        recorded, now = self._store.pseudonymised.declared(tenant_id), self._clock.now()
        ended = {one.supersedes for one in recorded}
        found = [one for one in recorded if one.id == id_ and one.id not in ended and now < one.valid_to]
        if not found or found[0].supersedes is not None:
            raise NotFound(f"no declaration {id_} of {tenant_id} stands; see: tidemill rights pseudonymised list")
        return found[0]

    def _fact(self, declaration: Declaration) -> RightsFact | None:
        """The fact by which it started, while it has not ended."""
        recorded = self._store.rights.facts(declaration.tenant_id)
        replaced = {one.supersedes for one in recorded}
        return next(
            (
                one
                for one in recorded
                if one.kind is FactKind.PSEUDONYMISED
                and one.reason == f"declaration {declaration.id}"
                and one.supersedes is None
                and one.id not in replaced
            ),
            None,
        )

    def _record(self, declaration: Declaration, action: str, detail: dict[str, str]) -> None:
        with self._store.transaction():
            self._store.pseudonymised.declare(declaration)
            self._log(declaration.tenant_id, action, declaration.id, detail)

    def _log(self, tenant_id: str, action: str, id_: str, detail: dict[str, str]) -> None:
        event = audited(self._ids, self._clock.now(), tenant_id, action, f"declaration:{id_}", detail)
        self._store.audit.append(event)


def _iris(one: Declaration) -> dict[str, Any]:
    return {
        "aim_iri": AIM_IRI[one.aim],
        "purpose_iri": PURPOSE_IRI[one.purpose],
        "basis_iri": BASIS_IRI[Basis.PIPA_28_2],
        "category_iris": [CATEGORY_IRI[category] for category in one.categories],
    }


def require_by_hand(kind: FactKind) -> None:
    """Refuse a fact that nobody records by hand.

    Raises:
        RecordError: for the start of a pseudonymised processing, which is declared.

    """
    if kind is FactKind.PSEUDONYMISED:
        raise RecordError("rights: pseudonymised processing is declared; see: tidemill rights pseudonymised declare")
