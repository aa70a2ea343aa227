"""Whoever writes a file or a table can find a person in it, remove them, and show everything for a search."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from governance.records.erasure import ErasedArtifact
from governance.records.lineage import Node
from governance.rescan.needles import Needles


class Content(NamedTuple):
    """One thing that is held, for a search."""

    where: str
    data: bytes | Path
    """The bytes, or the file that holds them; containers are opened by whoever searches."""


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

    @abstractmethod
    def contents(self) -> Iterator[Content]:
        """Everything that is held here, whoever's it is; what is sealed comes opened."""

    def drop(self, made: Collection[Node]) -> tuple[ErasedArtifact, ...]:  # noqa: ARG002 - most places hold none
        """Remove what lineage names as made from the person, whoever else it was made from; idempotent."""
        return ()

    def purge(self, needles: Needles) -> tuple[ErasedArtifact, ...]:  # noqa: ARG002 - most places know whose a thing is
        """Remove what still holds any of these words, where nothing else tells whose it is; idempotent."""
        return ()

    def scrub(self) -> None:
        """Leave no bytes of what was deleted in freed space and logs of the place itself."""
        return
