"""A window: the runs that are routed together, and the champion that they ran under."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from governance.records.context import Context
from governance.records.harness import Harness
from governance.records.trajectory import Trajectory
from training.routing.thresholds import Thresholds


@dataclass(frozen=True)
class Window:
    """What every judgement of a pattern reads."""

    scope: str
    trajectories: Sequence[Trajectory]
    """In order of time."""
    harness: Harness
    context: Context
    thresholds: Thresholds
