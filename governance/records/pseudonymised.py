"""Pseudonymised processing (Korea's PIPA, Art. 28-2 to 28-7): what is declared, and each use that was made under it.

A declaration says for which of the law's aims, for which purpose and which categories of data, from when to when. It is
append-only: one is ended by another that ``supersedes`` it. It counts from its start (``governance.pseudonymised``).
A use says who read how many rows that rest on this basis, when and what for; it names no person.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Self

from pydantic import model_validator

from governance.records.assessment import DataCategory
from governance.records.base import Record, UtcTime
from governance.records.rights import Purpose


class Aim(StrEnum):
    """What PIPA 28-2(1) allows pseudonymised information to be processed for without consent."""

    STATISTICS = "statistics"
    SCIENTIFIC_RESEARCH = "scientific_research"
    PUBLIC_INTEREST_RECORDS = "public_interest_records"
    """Preservation of records in the public interest."""


AIM_IRI: Final[dict[Aim, str]] = {
    Aim.STATISTICS: "urn:tidemill:term:pipa:A28-2-statistics",
    Aim.SCIENTIFIC_RESEARCH: "urn:tidemill:term:pipa:A28-2-scientific-research",
    Aim.PUBLIC_INTEREST_RECORDS: "urn:tidemill:term:pipa:A28-2-public-interest-records",
}
"""The project's own: DPV has no terms for PIPA."""


class Declaration(Record):
    """One declared processing of a tenant."""

    id: str
    tenant_id: str
    aim: Aim
    purpose: Purpose
    """The purpose that serves the aim: the one that reads."""
    categories: tuple[DataCategory, ...]
    document: str
    """The plan by its number; never personal data."""
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
            raise ValueError("a declaration names at least one category of data")
        if self.purpose in {Purpose.SERVE, Purpose.COMPLY}:
            raise ValueError(f"pseudonymised processing serves no {self.purpose}")
        if self.supersedes is None and self.valid_to <= self.valid_from:
            raise ValueError("a declaration ends after it begins")
        return self


class UseOfRows(StrEnum):
    """How rows were used."""

    READ = "read"
    EXPORT = "export"
    LOOK = "look"
    """Shown to a person."""


class PseudonymisedUse(Record):
    """One use of rows that rest on pseudonymised processing. Append-only; no personal data."""

    id: str
    tenant_id: str
    kind: UseOfRows
    purpose: Purpose
    rows: int
    target: str = ""
    """The recipient of an export; the row of a look, by its digest."""
    actor: str
    role: str
    act: str
    """The command, asset or route by its name in ``governance.policy.acts``; empty where the service works itself."""
    at: UtcTime
