"""The conservation ledger: received = stored + updated + duplicate + rejected + quarantined, by reason."""

from __future__ import annotations

from enum import StrEnum

from governance.records.base import Record


class Fate(StrEnum):
    """What became of a received span."""

    STORED = "stored"
    UPDATED = "updated"
    DUPLICATE = "duplicate"
    REJECTED = "rejected"
    QUARANTINED = "quarantined"


class LedgerLine(Record):
    """Counts of one tenant on one day. ``withheld`` counts stored spans whose content had no right."""

    tenant_id: str
    day: str
    received: int
    fates: dict[Fate, dict[str, int]]
    """Fate to reason to count; the reason is empty where there is none."""
    withheld: int

    @property
    def accounted(self) -> int:
        """The right-hand side of the balance."""
        return sum(count for reasons in self.fates.values() for count in reasons.values())

    @property
    def balances(self) -> bool:
        """Whether nothing was lost and nothing doubled."""
        return self.received == self.accounted
