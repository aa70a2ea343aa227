"""The policy of training rights, named by its digest.

It says which facts deny a use, in which order; what becomes of weights; and what must be assessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from functools import cached_property

from governance.records.base import Record
from governance.records.rights import Purpose, Reason

FactValue = bool | str


class RightsRule(Record):
    """Denies a use whose facts all have one of the values."""

    reason: Reason
    purposes: tuple[Purpose, ...] | None = None
    """None: every purpose but ``comply``."""
    when: Mapping[str, tuple[FactValue, ...]]
    """Name of a fact of the signature to the values that match; ``none`` is the fact that is not there."""


class InService(StrEnum):
    """What becomes of a champion that learned from rows whose right ended since."""

    UNTIL_DEADLINE = "until_deadline"
    """It serves until the deadline; by then it must be rebuilt."""
    AT_ONCE = "at_once"
    """It leaves service when that is found."""


class WhenOver(StrEnum):
    """How a champion leaves service."""

    ROLL_BACK = "roll_back"
    """The newest earlier release that may serve takes its place."""
    SUSPEND = "suspend"
    """Nothing answers until another release is promoted."""


class RebuildTerms(Record):
    """What becomes of weights that learned from rows whose right ended since."""

    goes_on: tuple[Reason, ...] = ()
    """Reasons with which a candidate goes on through gate and promotion, to be rebuilt; any other one stops it."""
    days: int = 30
    """From the loss to the deadline."""
    in_service: InService = InService.UNTIL_DEADLINE
    when_over: WhenOver = WhenOver.ROLL_BACK

    @property
    def term(self) -> timedelta:
        """From the loss to the deadline."""
        return timedelta(days=self.days)


class AssessmentTerms(Record):
    """Whether training needs an approved assessment."""

    required: bool = True
    tenants: Mapping[str, bool] = {}
    """Tenants for which it is otherwise."""

    def required_of(self, tenant_id: str) -> bool:
        """Whether rows of the tenant may be trained on only under one."""
        return self.tenants.get(tenant_id, self.required)


class RightsPolicy(Record):
    """Rules, tried in order: the first that matches denies, and what none denies is allowed."""

    name: str
    rules: tuple[RightsRule, ...]
    rebuild: RebuildTerms = RebuildTerms()
    assessment: AssessmentTerms = AssessmentTerms()

    @cached_property
    def version(self) -> str:
        """The policy's name: every verdict carries it. What it is called is no part of it."""
        return self.model_copy(update={"name": ""}).digest()
