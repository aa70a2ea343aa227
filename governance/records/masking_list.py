"""Entries of a tenant's allow-list and deny-list: who put which value there, why, and until when. Never the value."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field, StringConstraints

from governance.records.base import Record, UtcTime
from governance.records.masking_policy import EntityType, ListedValue

LONGEST: Final = timedelta(days=366)
"""How long an entry may stand: somebody looks at it again once a year."""
Told = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class ListName(StrEnum):
    """Which list."""

    ALLOW = "allow"
    """Public values that stay."""
    DENY = "deny"
    """Values that are masked wherever they stand."""


class ListAct(StrEnum):
    """What somebody did to a list."""

    ADD = "add"
    REMOVE = "remove"


class ListEvent(Record):
    """One act. The lists of now are the last act of each value, while its time lasts."""

    tenant_id: str
    list_name: ListName
    act: ListAct
    entity_type: EntityType
    mention: str
    """Keyed identifier of the value."""
    words: int = Field(ge=1)
    subject: str
    """Keyed hash of the person whom the value belongs to: their erasure takes it off the list."""
    owner: Told
    """Who answers for the entry."""
    reason: Told
    actor: Told
    """Who did it."""
    at: UtcTime
    until: UtcTime
    """When the entry ends; of a removal, the time of the removal."""

    def value(self) -> ListedValue:
        """What a policy takes from it."""
        return ListedValue(
            mention=self.mention,
            entity_type=self.entity_type,
            words=self.words,
            owner=self.owner,
            reason=self.reason,
            expires_at=self.until,
        )
