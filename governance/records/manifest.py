"""A dataset version: one line a row with its right and its sources, under one Merkle root; and each use of it.

A line names its row's person and trace, so it leaves with the person; the version keeps the leaves, which are digests
over a salt of their own and say nothing without the line. So the root can be verified before and after an erasure.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from governance.records import merkle
from governance.records.base import Digest, Record, UtcTime, canonical_json
from governance.records.dataset import DatasetRow
from governance.records.rights import Verdict


class MadeFor(StrEnum):
    """Why a dataset version came about."""

    BUILD = "build"
    """Built from what may be learned from."""
    TRAINING = "training"
    """What was left of a version when training began."""
    EXPORT = "export"
    """What was left of a version when it was exported."""


class ManifestLine(Record):
    """One row of a dataset version."""

    salt: str
    """Random: whoever has no line cannot tell from a leaf whose it is."""
    row: Digest
    tenant_id: str
    subject: str
    trajectory_id: str
    step: int
    origin: str
    verdict: Verdict
    purpose_iri: str
    basis_iri: str | None
    contract: str | None
    """Id of the tenant's contract that held at the verdict's time."""

    @property
    def leaf(self) -> str:
        """The line's leaf of the Merkle tree."""
        return merkle.leaf(canonical_json(self.plain()))


class DatasetVersion(Record):
    """A dataset version without its lines: what stays when people leave."""

    root: Digest
    """The dataset's name: the digest of the sorted digests of its rows."""
    scope: str
    parent: Digest | None = None
    """The version of which this is a part."""
    made_for: MadeFor
    leaves: tuple[Digest, ...]
    """Of the lines, in the order of the rows."""
    merkle_root: Digest
    exclusions: dict[str, int]
    """Reason to count: what was considered and is not in it."""
    preparation: dict[str, Any] = {}
    """What the rows were made with: digests and settings."""
    policy_version: str
    at: UtcTime
    actor: str = ""
    """Who acted when it was made; empty where that was not recorded."""


class Dropped(Record):
    """A row of a version that may not be used any more."""

    row: Digest
    tenant_id: str | None
    """None where the row is gone with its person."""
    reason: str


class JudgedRows(Record):
    """The rows of a version, judged for one purpose at one moment."""

    root: Digest
    rows: tuple[DatasetRow, ...]
    verdicts: dict[str, Verdict]
    """Row digest to verdict, of the rows that are there."""
    dropped: tuple[Dropped, ...]
    lost_at: UtcTime | None
    """When the first of the dropped rows lost its right; None where none did."""
    as_of: UtcTime


class UseKind(StrEnum):
    """Where rights were asked again."""

    TRAINING = "training"
    EXPORT = "export"
    GATE = "gate"
    PROMOTION = "promotion"
    SERVICE = "service"


class UseOutcome(StrEnum):
    """What came of asking."""

    WENT_ON = "went_on"
    DROPPED = "dropped"
    """Rows dropped, and it went on with the rest."""
    STOPPED = "stopped"
    PENDING_REBUILD = "pending_rebuild"
    """It went on with weights that learned from what may not be used any more, until the deadline."""


class DatasetUse(Record):
    """A use of a dataset version, with what was found when rights were asked again. Append-only."""

    id: str
    kind: UseKind
    root: Digest
    """The version that was asked about."""
    version: Digest
    """The version that was used: the same, or what was left of it."""
    scope: str
    target: str
    """The recipient of an export; else the release or the cycle."""
    outcome: UseOutcome
    rows: int
    dropped: dict[str, int]
    """Reason to count."""
    deadline: UtcTime | None = None
    policy_version: str
    as_of: UtcTime
    actor: str


class Recipient(Record):
    """Who received rows of a person, and when."""

    recipient: str
    root: Digest
    rows: int
    at: UtcTime
