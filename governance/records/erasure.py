"""Erasure: what was found of a person, and the state that each artifact ended in."""

from __future__ import annotations

from enum import StrEnum

from governance.records.base import Record, UtcTime
from governance.records.lineage import Node


class ArtifactState(StrEnum):
    """Never one green "erased"."""

    DELETED = "deleted"
    REBUILT_WITHOUT = "rebuilt_without"
    PENDING_REBUILD = "pending_rebuild"
    RETIRED = "retired"
    NEVER_TRAINED = "never_trained"
    HELD = "held"
    SUPPRESSED_ONLY = "suppressed_only"


class ErasedArtifact(Record):
    """One thing made from the subject's data, and what became of it."""

    node: Node
    state: ArtifactState
    detail: str = ""


class ErasureReport(Record):
    """What an erasure did. A subject of whom nothing is held gets an empty report that says so."""

    request_id: str
    tenant_id: str
    subject: str
    artifacts: tuple[ErasedArtifact, ...]
    tainted_releases: tuple[str, ...]
    """Digests of releases whose adapter or context was made in part from the subject's data."""
    remaining: int
    """Rows and files that a rescan still finds, besides the suppression entry and this report."""
    at: UtcTime
