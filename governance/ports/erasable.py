"""Whoever writes a file or a table can find a person in it and remove them."""

from __future__ import annotations

from abc import ABC, abstractmethod

from governance.records.erasure import ErasedArtifact


class Erasable(ABC):
    """One place that holds data made from people."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What this place is called in reports."""

    @property
    @abstractmethod
    def claims(self) -> frozenset[str]:
        """Table names and data-home folders that this place answers for. A test fails for any that nobody claims."""

    @abstractmethod
    def count(self, tenant_id: str, subject: str) -> int:
        """How many rows or files made from the subject's data are held here."""

    @abstractmethod
    def erase(self, tenant_id: str, subject: str) -> tuple[ErasedArtifact, ...]:
        """Remove or retire them; idempotent."""
