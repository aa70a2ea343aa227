"""A cycle: one turn of the loop for a scope."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from governance.records.base import Record, UtcTime


class CycleOutcome(StrEnum):
    """How a cycle ended."""

    RUNNING = "running"
    IMPROVED = "improved"
    NO_CHANGE = "no_change"
    BLOCKED = "blocked"
    FAILED = "failed"


class Cycle(Record):
    """One turn: a window of time, a scope, an outcome with reasons."""

    id: str
    scope: str
    window_start: UtcTime
    window_end: UtcTime
    outcome: CycleOutcome = CycleOutcome.RUNNING
    reasons: tuple[str, ...] = ()


class StepResult(Record):
    """The recorded result of one step: same inputs, same output, so an interrupted cycle goes on where it stopped."""

    cycle_id: str
    step: str
    input_digest: str
    output: dict[str, Any]
    seconds: float
    at: UtcTime
