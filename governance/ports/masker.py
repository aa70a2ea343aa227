"""Masking: personal values out, keyed surrogates in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from governance.records.base import Record


class Finding(Record):
    """One personal value that was replaced. Never carries the raw value."""

    pointer: str
    """JSON pointer of the leaf, empty for plain text."""
    start: int
    end: int
    entity_type: str
    score: float
    mention: str
    """Keyed identifier of the value, so that the erasure of a person named in a text finds it."""


class Masked(Record):
    """A masked JSON value and what was found."""

    value: Any
    findings: tuple[Finding, ...] = ()


class Masker(ABC):
    """Masks JSON values of one tenant, equal values to equal surrogates."""

    @abstractmethod
    def mask(self, tenant_id: str, values: Sequence[Any]) -> list[Masked]:
        """Mask each JSON value (a plain string counts as text), in order.

        Raises:
            MaskingError: when a detector fails; nothing is returned then.

        """

    @abstractmethod
    def mask_fields(self, tenant_id: str, row: Mapping[str, Any], fields: Mapping[str, str]) -> dict[str, Any]:
        """Mask the declared fields of a structured row (field to entity type), leaving the others as they are."""
