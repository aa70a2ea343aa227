"""Retention: which class a stored thing belongs to, and how long the class lives."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum

from pydantic import Field

from governance.records.base import Record
from governance.records.rights import Purpose


class RetentionClass(StrEnum):
    """Each table declares one."""

    SPOOL = "spool"
    """Raw encrypted segments, hours."""
    CONTENT = "content"
    """Masked messages and what quotes them."""
    DERIVED = "derived"
    """Tasks, datasets, patterns, gate reports: lives with the release that cites it."""
    ARTIFACT = "artifact"
    """Adapters, worlds, releases."""
    EVIDENCE = "evidence"
    """Rights records, audit, ledger, certificates: no personal data beyond keyed hashes."""


RETENTION: dict[RetentionClass, timedelta] = {
    RetentionClass.SPOOL: timedelta(days=2),
    RetentionClass.CONTENT: timedelta(days=180),
    RetentionClass.DERIVED: timedelta(days=365),
    RetentionClass.ARTIFACT: timedelta(days=365),
    RetentionClass.EVIDENCE: timedelta(days=365 * 6),
}
"""Default terms; a tenant's contract may shorten them."""


class PurposeTerm(Record):
    """How long one purpose keeps what it uses, in days; None: as long as the class."""

    content: int | None = Field(default=None, ge=0)
    derived: int | None = Field(default=None, ge=0)


class RetentionPolicy(Record):
    """One clock for each purpose and class: the object dies when the last lawful clock stops."""

    default: Mapping[Purpose, PurposeTerm] = {}
    tenant: Mapping[str, Mapping[Purpose, PurposeTerm]] = {}
    """What differs for a tenant, purpose by purpose."""
    high_risk_days: int = Field(default=184, ge=0)
    """How old the logs of a high-risk system become at least: six months, of whichever length."""

    @property
    def minimum_age(self) -> timedelta:
        """Before that, no sweep takes the logs of a high-risk system."""
        return timedelta(days=self.high_risk_days)

    def term(self, tenant_id: str, purpose: Purpose, retention_class: RetentionClass) -> timedelta:
        """How long a purpose keeps rows of a class, at most as long as the class lives."""
        stated = self.tenant.get(tenant_id, {}).get(purpose) or self.default.get(purpose) or PurposeTerm()
        days = {RetentionClass.CONTENT: stated.content, RetentionClass.DERIVED: stated.derived}.get(retention_class)
        whole = RETENTION[retention_class]
        return whole if days is None else min(whole, timedelta(days=days))
