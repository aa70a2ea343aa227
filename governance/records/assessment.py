"""An assessment of training: a document that says why a purpose may be served with some categories of data, until when.

Append-only: an assessment is ended by one that ``supersedes`` it. It counts while somebody's approval of it stands
(``governance.records.approval``).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from pydantic import model_validator

from governance.records.base import Record, UtcTime
from governance.records.rights import Purpose


class DataCategory(StrEnum):
    """What kind of data a training row holds."""

    COMMUNICATION = "communication"
    """What people and agents said to each other: every row."""
    STAFF = "staff"
    """What a person of the company did or said: takeovers."""
    SPECIAL_CATEGORY = "special_category"
    """GDPR Art. 9."""
    MINOR = "minor"
    """Of somebody who is not of age."""


CATEGORY_IRI: dict[DataCategory, str] = {
    DataCategory.COMMUNICATION: "https://w3id.org/dpv/pd#Communication",
    DataCategory.STAFF: "https://w3id.org/dpv#Employee",
    DataCategory.SPECIAL_CATEGORY: "https://w3id.org/dpv#SpecialCategoryPersonalData",
    DataCategory.MINOR: "https://w3id.org/dpv#Child",
}


class Assessment(Record):
    """One assessment of a tenant."""

    id: str
    tenant_id: str
    purpose: Purpose
    categories: tuple[DataCategory, ...]
    document: str
    """The document by its number; never personal data."""
    author: str
    """Who wrote it: a principal's name or another handle."""
    valid_from: UtcTime
    valid_to: UtcTime
    recorded_at: UtcTime
    supersedes: str | None = None
    actor: str

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if not self.categories:
            raise ValueError("an assessment names at least one category of data")
        if self.supersedes is None and self.valid_to <= self.valid_from:
            raise ValueError("an assessment ends after it begins")
        return self
