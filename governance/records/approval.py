"""Approvals: a person in a fitting role says yes or no to one thing, for a time (the four-eyes rule)."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Final, Self

from pydantic import model_validator

from governance.records.base import Record, UtcTime
from governance.records.principal import Handle, Role


class ApprovedAct(StrEnum):
    """What can be approved."""

    ERASURE = "erasure"
    """A rights request's erasure plan, by the request's id."""
    PROMOTION = "promotion"
    """A release, by its digest."""
    REVIEW = "review"
    """A reviewer's decision, by the item's id, a colon and the decision."""
    DATASET = "dataset"
    """A dataset version, by its root."""
    ASSESSMENT = "assessment"
    """An assessment before training, by its id."""
    PSEUDONYMISATION = "pseudonymisation"
    """A declared processing of pseudonymised information, by the declaration's id."""


APPROVERS: Final[dict[ApprovedAct, tuple[Role, ...]]] = {
    ApprovedAct.ERASURE: (Role.REVIEWER, Role.ADMIN),
    ApprovedAct.PROMOTION: (Role.RELEASE_MANAGER, Role.ADMIN),
    ApprovedAct.REVIEW: (Role.REVIEWER, Role.ADMIN),
    ApprovedAct.DATASET: (Role.REVIEWER, Role.ADMIN),
    ApprovedAct.ASSESSMENT: (Role.REVIEWER, Role.ADMIN),
    ApprovedAct.PSEUDONYMISATION: (Role.REVIEWER, Role.ADMIN),
}
"""Which roles may approve what."""


class Decision(StrEnum):
    """What an approver said."""

    APPROVED = "approved"
    REFUSED = "refused"


class Approval(Record):
    """One decision. Append-only: of several on one thing the last one counts."""

    id: str
    tenant_id: str
    act: ApprovedAct
    target: str
    """The id or digest of exactly what was looked at."""
    builder: str
    """Who made or asked for it, as the record of it says; empty for what has none before it is carried out."""
    approver: Handle
    role: Role
    decision: Decision
    reason: str
    """A case or a document by its number; never personal data."""
    at: UtcTime
    until: UtcTime
    """The moment from which it approves nothing."""

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if self.until <= self.at:
            raise ValueError("an approval ends after it begins")
        if self.role not in APPROVERS[self.act]:
            raise ValueError(f"{self.act} is approved by {' or '.join(APPROVERS[self.act])}, not by {self.role}")
        return self

    def stands(self, now: datetime) -> bool:
        """Whether it approves at ``now``."""
        return self.decision is Decision.APPROVED and self.at <= now < self.until


class FourEyes(Record):
    """The policy: what needs an approval, and what may not be approved by who made it."""

    required: frozenset[ApprovedAct] = frozenset()
    """Acts that do not happen without one."""
    other_person: frozenset[ApprovedAct] = frozenset(ApprovedAct)
    """Acts whose approver is not their builder."""
