"""What a reviewer saw in one row of a dataset: personal values that masking left, counted by type."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from governance.records.base import Digest, Record, UtcTime
from governance.records.masking_policy import EntityType

Reviewer = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class RowReview(Record):
    """One reviewer's word on one row; a later word of the same reviewer takes its place."""

    root: Digest
    """The dataset version: its rows decide the name."""
    row: Digest
    tenant_id: str
    reviewer: Reviewer
    leaks: dict[EntityType, Annotated[int, Field(ge=1, le=100_000)]]
    """Type to how many values; empty where the row shows none."""
    at: UtcTime
