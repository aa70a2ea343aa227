"""Masking: personal values out, keyed surrogates in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from governance.errors import MaskingError
from governance.records.base import Record
from governance.records.mark import Mark
from governance.records.masking_policy import MaskingPolicy, Outcome


class Finding(Record):
    """One value that was found. Never carries the raw value."""

    pointer: str
    """JSON pointer of the leaf, empty for plain text."""
    start: int
    end: int
    entity_type: str
    score: float
    mention: str
    """Keyed identifier of the value, so that the erasure of a person named in a text finds it."""
    masked_start: int = 0
    masked_end: int = 0
    """Where the surrogate stands in the masked text: the record that idempotence and a later rescan follow."""
    words: int = 1
    """How many words the value has."""
    outcome: Outcome = Outcome.MASKED
    near: bool = False
    """Whether its score lies near the threshold of its type: a person may look at it."""


class Masked(Record):
    """A masked JSON value and what was found."""

    value: Any
    findings: tuple[Finding, ...] = ()
    """What was replaced."""
    kept: tuple[Finding, ...] = ()
    """What was found and left as it is, since the policy says so; ``masked_start`` is where it stands now."""
    quarantine: tuple[str, ...] = ()
    """Entity types for which the policy lets nobody keep the value: the record goes to quarantine."""


class Remasked(Record):
    """A value that was masked again: what was newly found, and the marks of every surrogate in it."""

    value: Any
    findings: tuple[Finding, ...] = ()
    marks: tuple[Mark, ...] = ()


class MaskingPolicies(ABC):
    """Each tenant's policy as it stands now."""

    @abstractmethod
    def policy(self, tenant_id: str) -> MaskingPolicy:
        """The policy, its expired entries left out."""


class DefaultPolicies(MaskingPolicies):
    """The built-in policy for everybody."""

    def policy(self, tenant_id: str) -> MaskingPolicy:  # noqa: ARG002 - the same for all
        """The defaults."""
        return MaskingPolicy()


class Masker(ABC):
    """Masks JSON values of one tenant, equal values to equal surrogates."""

    @abstractmethod
    def mask(self, tenant_id: str, values: Sequence[Any]) -> list[Masked]:
        """Mask each JSON value (a plain string counts as text), in order.

        Raises:
            MaskingError: when a detector fails; nothing is returned then.

        """

    def epoch(self) -> str:
        """The epoch of the surrogate key; empty for a masker without one."""
        return ""

    def mask_again(self, tenant_id: str, values: Sequence[Any], marks: Iterable[Mark]) -> list[Remasked]:
        """Mask values that were masked before, under the policy of now; what ``marks`` names stays as it is.

        Raises:
            MaskingError: when a detector fails, or the masker knows no marks.

        """
        raise MaskingError(
            f"{type(self).__name__} knows no marks, so it cannot mask {len(values)} values of {tenant_id} again "
            f"(marks given: {sum(1 for _ in marks)})"
        )

    def version(self, tenant_id: str) -> str:  # noqa: ARG002 - a masker without policies has one for all
        """The version of the policy under which the tenant's values are masked now."""
        return ""

    @abstractmethod
    def mask_fields(self, tenant_id: str, row: Mapping[str, Any], fields: Mapping[str, str]) -> dict[str, Any]:
        """Mask the declared fields of a structured row (field to entity type), leaving the others as they are."""
