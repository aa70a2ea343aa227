"""Where checkpoints of the audit are kept: a place that whoever can write to the database cannot rewrite."""

from __future__ import annotations

from abc import ABC, abstractmethod


class Anchor(ABC):
    """Append-only: what was put stays as it is."""

    @abstractmethod
    def put(self, tenant_id: str, number: int, data: bytes) -> None:
        """Keep a tenant's checkpoint; the same bytes again change nothing.

        Raises:
            AnchorError: when another checkpoint stands under that number, or the place cannot be written.

        """

    @abstractmethod
    def read(self, tenant_id: str) -> dict[int, bytes]:
        """Number to checkpoint, of one tenant."""

    @abstractmethod
    def tenants(self) -> tuple[str, ...]:
        """The tenants that have a checkpoint here."""
