"""Patterns, levers and proposals: what goes wrong together, and the one place where it is put right."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field

from governance.records.base import Digest, Record, UtcTime
from governance.records.context import Fact
from governance.records.harness import ToolSpec


class Lever(StrEnum):
    """Where a fix goes, cheapest and most reversible first."""

    CONTEXT = "context"
    HARNESS = "harness"
    WEIGHTS = "weights"
    NONE = "none"
    """Hold for a person."""


class Pattern(Record):
    """Failures that belong together."""

    key: str
    """Stable name, such as ``tool_rejects_declared_argument:refund_order.order_id``."""
    scope: str
    lever: Lever
    reason: str
    """One sentence that says why this lever and none cheaper."""
    evidence: dict[str, Any]
    """Counts and quoted (masked) values that the reason rests on."""
    trajectory_ids: tuple[str, ...]
    subjects: int
    """How many different people it touched."""


class ContextChange(Record):
    """Add a fact from a time on."""

    lever: Literal["context"] = "context"
    fact: Fact


class HarnessChange(Record):
    """Replace one tool's schema."""

    lever: Literal["harness"] = "harness"
    tool: ToolSpec


class WeightsChange(Record):
    """Use an adapter trained from the frozen base on a dataset."""

    lever: Literal["weights"] = "weights"
    dataset_digest: Digest
    adapter_digest: Digest | None = None
    """None until it is trained."""


Change = Annotated[ContextChange | HarnessChange | WeightsChange, Field(discriminator="lever")]


class Proposal(Record):
    """One change to one lever, with the pattern that asks for it."""

    pattern_key: str
    scope: str
    change: Change
    reason: str
    created_at: UtcTime
