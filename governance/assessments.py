"""Assessments before training: recorded, approved, ended, and asked right before training starts.

Theory. Training on a person's data rests on a document that somebody wrote and somebody approved, for a purpose and for
categories of data, until a date. Which categories a dataset holds is read from its rows and from the facts about their
people and runs, not from what the document hopes. Where a tenant's rows are not covered, training does not start: a
dataset that lost a tenant's rows instead would be another one than the one that was gated before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from governance.acting import acting, audited
from governance.approvals import Approvals
from governance.errors import NotFound
from governance.policy.assessments import standing, uncovered
from governance.policy.facts import CATEGORIES, facts_at
from governance.ports.clock import Clock, IdFactory
from governance.records.approval import Approval, ApprovedAct, Decision
from governance.records.assessment import Assessment, DataCategory
from governance.records.dataset import DatasetRow
from governance.records.rights import Purpose
from governance.store import Store
from governance.store.rights_facts import Standing

TAKEOVER = "takeover"


class AssessmentDesk:
    """Records assessments and says whether training may start."""

    def __init__(self, store: Store, approvals: Approvals, clock: Clock, ids: IdFactory) -> None:
        """``approvals`` holds the four-eyes rule."""
        self._store, self._approvals, self._clock, self._ids = store, approvals, clock, ids

    def add(
        self,
        tenant_id: str,
        purpose: Purpose,
        categories: Iterable[DataCategory],
        *,
        document: str,
        until: datetime,
    ) -> Assessment:
        """Record an assessment from now on; its author is who acts, and it counts when another person approved it."""
        now, who = self._clock.now(), acting().principal.name
        made = Assessment(
            id=self._ids.hex(16), tenant_id=tenant_id, purpose=purpose, categories=tuple(sorted(set(categories))),
            document=document, author=who, valid_from=now, valid_to=until, recorded_at=now, actor=who,
        )  # fmt: skip
        self._record(made, "assessment_added", {"document": document, "purpose": purpose.value})
        return made

    def approve(self, tenant_id: str, id_: str, *, reason: str) -> Approval:
        """Approve an assessment, until its own end.

        Raises:
            NotFound: when no such assessment stands.
            RoleDenied: when who acts may not approve it.

        """
        found = self._standing(tenant_id, id_)
        return self._approvals.decide(
            tenant_id,
            ApprovedAct.ASSESSMENT,
            found.id,
            Decision.APPROVED,
            reason=reason,
            until=found.valid_to,
        )

    def end(self, tenant_id: str, id_: str, *, reason: str) -> Assessment:
        """End an assessment now.

        Raises:
            NotFound: when no such assessment stands.

        """
        found, now = self._standing(tenant_id, id_), self._clock.now()
        ended = found.model_copy(
            update={
                "id": self._ids.hex(16),
                "supersedes": found.id,
                "valid_to": now,
                "recorded_at": now,
                "actor": acting().principal.name,
            }
        )
        self._record(ended, "assessment_ended", {"ends": found.id, "reason": reason})
        return ended

    def listed(self, tenant_id: str) -> list[dict[str, Any]]:
        """Every assessment of a tenant with its state now."""
        now, recorded = self._clock.now(), self._store.assessments.of(tenant_id)
        stand = {one.id for one in standing(recorded, now)}
        ended = {one.supersedes for one in recorded}
        shown = []
        for one in recorded:
            if one.supersedes is not None:
                continue
            approval = self._approvals.standing(tenant_id, ApprovedAct.ASSESSMENT, one.id)
            state = "ended" if one.id in ended else "expired" if one.id not in stand else "approved"
            state = "waits for approval" if state == "approved" and approval is None else state
            shown.append({**one.plain(), "state": state, "approved_by": approval.approver if approval else None})
        return shown

    def missing(self, purpose: Purpose, rows: Iterable[DatasetRow]) -> tuple[str, ...]:
        """Why training on these rows may not start now, tenant by tenant; empty when it may."""
        now, found = self._clock.now(), []
        for tenant_id, categories in sorted(self.categories(rows).items()):
            if not self._store.policy.assessment.required_of(tenant_id):
                continue
            recorded = self._store.assessments.of(tenant_id)
            approved = {
                one.id for one in recorded if self._approvals.standing(tenant_id, ApprovedAct.ASSESSMENT, one.id)
            }
            why = uncovered(purpose, categories, recorded, approved, now)
            if why is not None:
                found.append(f"{tenant_id}: {why}; see: tidemill rights assessment add --tenant {tenant_id}")
        return tuple(found)

    def categories(self, rows: Iterable[DatasetRow]) -> dict[str, set[DataCategory]]:
        """Tenant to the categories of data that the rows hold, as far as is known now."""
        of: dict[str, set[DataCategory]] = defaultdict(set)
        facts: dict[str, Standing] = {}
        for row in rows:
            tenant_id = row.tenant_id
            if tenant_id not in facts:
                facts[tenant_id] = Standing(
                    facts_at(self._store.rights.facts(tenant_id), self._clock.now(), everything=True)
                )
            of[tenant_id].add(DataCategory.COMMUNICATION)
            if row.origin == TAKEOVER:
                of[tenant_id].add(DataCategory.STAFF)
            stands = {kind for kind, _ in facts[tenant_id].of((tenant_id, row.subject, row.trajectory_id))}
            of[tenant_id] |= {category for kind, category in CATEGORIES.items() if kind in stands}
        return dict(of)

    def _standing(self, tenant_id: str, id_: str) -> Assessment:
        stand = [
            one
            for one in standing(self._store.assessments.of(tenant_id), self._clock.now())
            if id_ and one.id.startswith(id_)
        ]
        if len(stand) != 1:
            raise NotFound(
                f"{len(stand)} assessments of {tenant_id} stand now whose id begins with {id_!r}; "
                "see: tidemill rights assessment list"
            )
        return stand[0]

    def _record(self, assessment: Assessment, action: str, detail: dict[str, str]) -> None:
        now = self._clock.now()
        with self._store.transaction():
            self._store.assessments.add(assessment)
            self._store.audit.append(
                audited(self._ids, now, assessment.tenant_id, action, f"assessment:{assessment.id}", detail)
            )
