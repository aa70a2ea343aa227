"""What a read for a purpose gives back: the rows that may be used, what was left out and why, and each verdict."""

from __future__ import annotations

from typing import NamedTuple

from governance.records.dataset import Exclusion
from governance.records.rights import Verdict
from governance.records.task import Task
from governance.records.trajectory import Trajectory


class Admissible(NamedTuple):
    """Trajectories that a purpose may use, by (started_at, id)."""

    rows: tuple[Trajectory, ...]
    excluded: tuple[Exclusion, ...]
    verdicts: dict[str, Verdict]
    """Trajectory id to the verdict on it, for the rows returned and for those left out."""


class AdmissibleTasks(NamedTuple):
    """Tasks that a purpose may use, by (at, digest)."""

    tasks: tuple[Task, ...]
    excluded: tuple[Exclusion, ...]
    """``trajectory_id`` is the task's first source."""
