"""Retention: which class a stored thing belongs to, and how long the class lives."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum


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
