"""What a person should judge about masking, and what they decided. Never a value in clear.

An item points to where a value stands: types, scores and places, and the text that it stands in, sealed. The text is
opened when a reviewer looks, which the audit tells, and dies with the decision or at the item's expiry. A decision is
kept without the item: what was decided of which kind and types, and how many values masking had missed, so that the
share of missed values among reviewed texts can be told.
"""

from __future__ import annotations

from enum import StrEnum

from governance.records.base import Record, UtcTime
from governance.records.masking_policy import Outcome


class ReviewKind(StrEnum):
    """Why a person should look."""

    LOW_CONFIDENCE = "low_confidence"
    """A finding whose score lies near the threshold, on either side: one item for each value."""
    SAMPLE = "sample"
    """A text drawn by chance, with all that was found in it."""
    SPECIAL_CATEGORY = "special_category"
    """A record in quarantine that nobody may keep without a decision."""


class ReviewDecision(StrEnum):
    """What a person decides."""

    NOT_PERSONAL = "not_personal"
    """The value identifies nobody: onto the allow-list."""
    PERSONAL = "personal"
    """The value is personal: onto the deny-list, if it was left in clear; else masking was right."""
    MISSED = "missed"
    """Personal values of the text were not found: onto the deny-list."""
    COMPLETE = "complete"
    """Nothing was missed in the text."""
    RELEASE = "release"
    """The record may be kept, masked."""
    DESTROY = "destroy"
    """The record may not be kept."""


DECISIONS: dict[ReviewKind, frozenset[ReviewDecision]] = {
    ReviewKind.LOW_CONFIDENCE: frozenset({ReviewDecision.NOT_PERSONAL, ReviewDecision.PERSONAL}),
    ReviewKind.SAMPLE: frozenset({ReviewDecision.MISSED, ReviewDecision.COMPLETE}),
    ReviewKind.SPECIAL_CATEGORY: frozenset({ReviewDecision.RELEASE, ReviewDecision.DESTROY}),
}
"""What can be decided of an item of each kind."""


def target_of(id_: str, decision: ReviewDecision) -> str:
    """What is approved of a review: this decision on this item."""
    return f"{id_}:{decision.value}"


class Spot(Record):
    """Where a value was found."""

    pointer: str
    """JSON pointer of the leaf in the sealed value."""
    start: int
    end: int
    entity_type: str
    score: float
    outcome: Outcome


class ReviewItem(Record):
    """One thing to judge."""

    id: str
    tenant_id: str
    kind: ReviewKind
    subject: str
    """Whose data the text is: their erasure removes the item."""
    trace_id: str
    span_id: str
    spots: tuple[Spot, ...]
    since: UtcTime
    expires_at: UtcTime


class Reviewed(Record):
    """One decision."""

    id: str
    tenant_id: str
    kind: ReviewKind
    decision: ReviewDecision
    types: tuple[str, ...]
    """The types that were judged."""
    found: int
    """How many values masking had found."""
    missed: int = 0
    """How many personal values it had left in clear."""
    reviewer: str
    at: UtcTime
