"""When a stored row dies: its class's term after the moment it was stored."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from governance.records.retention import RETENTION, RetentionClass


def expiry(
    retention_class: RetentionClass, at: datetime, terms: Mapping[RetentionClass, timedelta] = RETENTION
) -> datetime:
    """The moment from which a row of that class, stored at ``at``, is overdue."""
    return at + terms[retention_class]


def is_overdue(expires_at: datetime, now: datetime) -> bool:
    """Whether the sweep must remove the row."""
    return expires_at <= now
