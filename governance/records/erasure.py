"""Erasure: what was found of a person, the state that each artifact ended in, and the certificate that says so."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Literal, Self

from pydantic import Field, model_validator

from governance.records.base import Record, UtcTime, canonical_json
from governance.records.lineage import Node
from governance.records.signature import Signature


class ArtifactState(StrEnum):
    """Never one green "erased"."""

    DELETED = "deleted"
    REBUILT_WITHOUT = "rebuilt_without"
    PENDING_REBUILD = "pending_rebuild"
    RETIRED = "retired"
    NEVER_TRAINED = "never_trained"
    HELD = "held"
    SUPPRESSED_ONLY = "suppressed_only"
    """Nothing of it was held; it only may not come in any more."""
    VENDOR_ASSERTED = "vendor_asserted"
    """Somebody else says that it is gone."""
    UNKNOWN = "unknown"
    """Somebody else has it, and has not said that it is gone."""


class ErasedArtifact(Record):
    """One thing made from the subject's data, and what became of it."""

    node: Node
    state: ArtifactState
    detail: str = ""


class SearchedPlace(Record):
    """What is held in one place before and after: by its keys, and by a search of every byte, containers opened."""

    place: str
    held_before: int
    found_before: int
    held_after: int
    found_after: int
    staying: int = 0
    """Pieces that name the person and stay: the suppression, requests, certificates."""
    unopened: tuple[str, ...] = ()
    """Containers that could not be opened, and so not searched inside."""


class OutlastingPlace(Record):
    """A place that an erasure does not reach, with the date at which it dies."""

    place: str
    until: UtcTime


class ErasureRecipient(Record):
    """Somebody who was given rows of the person's before they were erased (GDPR Art. 19: they have to be told)."""

    recipient: str
    dataset: str
    rows: int
    at: UtcTime


class ErasurePolicy(Record):
    """What an erasure needs, and what serves meanwhile."""

    term_days: int = Field(default=30, ge=1, le=90)
    """From the request to the certificate (GDPR Art. 12(3): a month)."""
    serving: Literal["roll_back", "suspend", "keep"] = "roll_back"
    """What becomes of a champion that was made in part from the person's data."""
    keep_days: int = Field(default=7, ge=0)
    """With ``keep``: how long after the request it serves at most."""
    backup_days: int = Field(default=30, ge=0)
    """How long backups, and a write-ahead log that is archived, are kept."""

    @model_validator(mode="after")
    def _inside_the_term(self) -> Self:
        if self.keep_days > self.term_days:
            raise ValueError(f"a tainted release may serve {self.keep_days} days, beyond the term of {self.term_days}")
        return self

    @property
    def term(self) -> timedelta:
        """From the request to the certificate."""
        return timedelta(days=self.term_days)


class ErasureReport(Record):
    """What an erasure did: its certificate, once it is signed.

    A subject of whom nothing is held gets an empty report that says so.
    """

    request_id: str
    tenant_id: str
    subject: str
    artifacts: tuple[ErasedArtifact, ...]
    tainted_releases: tuple[str, ...]
    """Digests of releases whose adapter or context was made in part from the subject's data."""
    remaining: int
    """What a rescan still finds, by keys and by search, besides the suppression entry and this report."""
    at: UtcTime
    requested_at: UtcTime | None = None
    due_at: UtcTime | None = None
    approved_by: str | None = None
    weights: ArtifactState = ArtifactState.UNKNOWN
    """The state of the weights as a whole: ``never_trained``, ``pending_rebuild`` or ``rebuilt_without``."""
    serves_until: UtcTime | None = None
    """Until when a tainted champion may go on, where the policy lets it."""
    looked_for: dict[str, int] = {}
    """How many of each kind the search looked for: the hash, surrogates, texts."""
    searched: tuple[SearchedPlace, ...] = ()
    outlasting: tuple[OutlastingPlace, ...] = ()
    recipients: tuple[ErasureRecipient, ...] = ()
    """Who has rows of theirs; whether they were told and what they said stands in the audit."""
    signature: Signature | None = None

    @property
    def signed_bytes(self) -> bytes:
        """What the signature is over: everything but itself."""
        return canonical_json(self.model_dump(mode="json", exclude={"signature"}))
