"""Telling a tenant's surrogates in a text: for the gateway, the gate and whoever writes texts from traces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

from governance.records.base import Record


class SurrogatePlace(Record):
    """A surrogate in a text."""

    start: int
    end: int
    entity_type: str


class SurrogateCheck(ABC):
    """Finds surrogates without a table of them."""

    @abstractmethod
    def places(self, tenant_id: str, text: str) -> tuple[SurrogatePlace, ...]:
        """The surrogates in a text, in order, without overlap."""

    def unprompted(self, tenant_id: str, said: str, given: Iterable[str]) -> tuple[str, ...]:
        """The types of surrogates in ``said`` that stand in nothing that was given: what was learned and let out."""
        found = self.places(tenant_id, said)
        if not found:
            return ()
        known = "\n".join(given)
        return tuple(one.entity_type for one in found if said[one.start : one.end] not in known)
