"""The conservation ledger: what became of every received span, by reason.

Two equations, for each tenant and each day on which the spans were received:

1. received = stored + updated + duplicate + rejected + quarantined. ``received`` is what the door counted when it took
   a body; the right-hand side is what the drain did with it. The two sides are counted by different code.
2. quarantined = released + expired + waiting. What is released from quarantine later is an entry of its own: the first
   equation keeps saying ``quarantined``, and ``released`` says what became of it then, by the same fates. What is
   destroyed unread at its expiry is ``expired``. The rest is ``waiting``, and the quarantine itself must hold exactly
   that many spans (``tidemill ledger`` compares them).

Structure that is stored without its content for want of a right is counted as ``withheld``, besides.
"""

from __future__ import annotations

from enum import StrEnum

from governance.records.base import Record

Reasons = dict[str, int]
"""Reason to count; the reason is empty where there is none."""
Findings = dict[str, dict[str, int]]
"""Channel to entity type to how many personal values were replaced (``governance.found``)."""


class Fate(StrEnum):
    """What became of a received span."""

    STORED = "stored"
    UPDATED = "updated"
    DUPLICATE = "duplicate"
    REJECTED = "rejected"
    QUARANTINED = "quarantined"


class LedgerLine(Record):
    """Counts of one tenant on one day."""

    tenant_id: str
    day: str
    """The UTC day on which the spans were received."""
    received: int
    fates: dict[Fate, Reasons]
    withheld: int
    """Stored spans whose content had no right, those released from quarantine included."""
    released: dict[Fate, Reasons] = {}
    """What became of the spans that left quarantine through the door."""
    expired: Reasons = {}
    """Spans that were destroyed in quarantine, by the reason for which they were there."""
    findings: Findings = {}
    """What masking replaced in what was received on that day. Worlds, and words of feedback that
    waited for their person, are not in it."""

    @property
    def accounted(self) -> int:
        """The right-hand side of the first equation."""
        return _sum(self.fates)

    @property
    def waiting(self) -> int:
        """Spans that are in quarantine still, by the books."""
        return sum(self.fates.get(Fate.QUARANTINED, {}).values()) - _sum(self.released) - sum(self.expired.values())

    @property
    def balances(self) -> bool:
        """Whether nothing was lost and nothing doubled, by the books alone."""
        return self.received == self.accounted and self.waiting >= 0


def _sum(fates: dict[Fate, Reasons]) -> int:
    return sum(count for reasons in fates.values() for count in reasons.values())
