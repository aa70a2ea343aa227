"""What an erasure would find."""

from __future__ import annotations

from governance.records.base import Record


class ErasurePlan(Record):
    """What an erasure would find: nothing is changed by asking."""

    tenant_id: str
    subject: str
    held: dict[str, int]
    """Place to count; places that hold nothing are left out."""
    tainted_releases: tuple[str, ...]
    deployed: dict[str, str]
    """Scope to the tainted release that is champion there."""

    made: dict[str, int] = {}
    """Kind to how many things were made in whole or in part from them."""

    @property
    def total(self) -> int:
        """How many rows and files are held."""
        return sum(self.held.values())
