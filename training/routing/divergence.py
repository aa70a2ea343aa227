"""A divergence: one failed run, what the agent did and what the person did instead."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from governance.records.base import Record
from governance.records.lever import Lever, Pattern
from governance.records.trajectory import UNKNOWN_SUBJECT, Actor, Outcome, ToolInvocation, Trajectory
from training.evidence import answer_of, calls_of, taken_over


class Divergence(Record):
    """Where agent and person parted."""

    trajectory: Trajectory
    agent_calls: tuple[ToolInvocation, ...]
    human_calls: tuple[ToolInvocation, ...]
    agent_answer: str
    human_answer: str


def divergence_of(trajectory: Trajectory, answer_tool: str) -> Divergence | None:
    """The divergence of a failed run that a person took over, else None."""
    if trajectory.outcome is not Outcome.FAILURE or trajectory.incomplete or not taken_over(trajectory):
        return None
    return Divergence(
        trajectory=trajectory,
        agent_calls=calls_of(trajectory, Actor.AGENT, answer_tool),
        human_calls=calls_of(trajectory, Actor.HUMAN, answer_tool),
        agent_answer=answer_of(trajectory, Actor.AGENT, answer_tool) or "",
        human_answer=answer_of(trajectory, Actor.HUMAN, answer_tool) or "",
    )


def people(trajectories: Iterable[Trajectory]) -> int:
    """How many known people the runs touched."""
    return len({(one.tenant_id, one.subject) for one in trajectories if one.subject != UNKNOWN_SUBJECT})


def some(values: Iterable[str], most: int = 5) -> list[str]:
    """A few values to quote, the same ones in every run."""
    return sorted(set(values))[:most]


def pattern(
    key: str, scope: str, lever: Lever, reason: str, *, runs: Sequence[Trajectory], evidence: dict[str, Any]
) -> Pattern:
    """A pattern with the counts that each one carries."""
    times = sorted(one.started_at for one in runs)
    counts = {
        "trajectories": len(runs),
        "subjects": people(runs),
        "first": times[0].isoformat(),
        "last": times[-1].isoformat(),
    }
    return Pattern(
        key=key,
        scope=scope,
        lever=lever,
        reason=reason,
        evidence={**counts, **evidence},
        trajectory_ids=tuple(sorted(one.id for one in runs)),
        subjects=people(runs),
    )
