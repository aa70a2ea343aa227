"""A checkpoint of a tenant's audit chain, and what a verification of the audit finds."""

from __future__ import annotations

from enum import StrEnum

from governance.records.base import Digest, Record, UtcTime


class Checkpoint(Record):
    """How long a tenant's chain was and where it stood. Signed, and kept outside of the database."""

    tenant_id: str
    number: int
    """1, 2, 3, ... within the tenant."""
    size: int
    """How many events the chain had."""
    root: Digest
    """The chain's link at that length."""
    previous: Digest
    """Digest of the checkpoint before this one; zeros for the first."""
    at: UtcTime
    """For people: what orders checkpoints is their number, for a clock may go backwards."""


class FaultKind(StrEnum):
    """What is wrong with an audit."""

    CHANGED = "changed"
    """An event, or its link, is not what was written."""
    MISSING = "missing"
    """Events were taken out."""
    TRUNCATED = "truncated"
    """The chain is shorter than it was."""
    REPLACED = "replaced"
    """The chain holds together and is not the one that was anchored."""
    CHECKPOINT_CHANGED = "checkpoint_changed"
    CHECKPOINT_LOST = "checkpoint_lost"


class AuditFault(Record):
    """One thing that a verification found, and where."""

    tenant_id: str
    kind: FaultKind
    position: int | None
    """Of the event in its chain, or the number of the checkpoint; None where it is about the whole."""
    detail: str
