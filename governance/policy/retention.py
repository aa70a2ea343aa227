"""When a stored row dies: its class's term after the moment it was stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from governance.records.retention import RETENTION, RetentionClass, RetentionPolicy
from governance.records.rights import Purpose


def expiry(
    retention_class: RetentionClass, at: datetime, terms: Mapping[RetentionClass, timedelta] = RETENTION
) -> datetime:
    """The moment from which a row of that class, stored at ``at``, is overdue."""
    return at + terms[retention_class]


def is_overdue(expires_at: datetime, now: datetime) -> bool:
    """Whether the sweep must remove the row."""
    return expires_at <= now


def earlier(
    policy: RetentionPolicy, tenant_id: str, lawful: Iterable[Purpose], retention_class: RetentionClass
) -> timedelta:
    """How much earlier than by its class a row dies: when the last clock of the lawful purposes stops.

    Without a lawful purpose no clock runs any more, and the row is overdue whatever its age.
    """
    terms = [policy.term(tenant_id, purpose, retention_class) for purpose in lawful]
    return RETENTION[retention_class] - max(terms, default=timedelta(0))
