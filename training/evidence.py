"""What a run's record shows: who did what, how it ended, and which evidence says so.

Theory. A run counts as failed when its outcome says so and a person took over; that person's calls and words are then
the demonstration. A run counts as right when its outcome is success, no person acted and nobody voted it down; its own
calls are then the demonstration. Anything else is unknown and demonstrates nothing. A refused call is not part of a
demonstration, and neither is the answer tool: what is said to the customer is the answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from governance.records.base import Record
from governance.records.signal import Signal, SignalKind
from governance.records.trajectory import Actor, Outcome, ToolInvocation, Trajectory
from training.values import leaves

ORIGIN_TAKEOVER: Final = "takeover"
ORIGIN_SUCCESS: Final = "success"


class Demonstrated(Record):
    """What a run shows about how its request is served."""

    origin: str
    calls: tuple[ToolInvocation, ...]
    answer: str


def spoken(trajectory: Trajectory, actor: Actor) -> str | None:
    """The actor's last words in this run, or None."""
    said = [turn.message.text for turn in trajectory.turns if turn.actor is actor and not turn.earlier]
    return next((words for words in reversed(said) if words.strip()), None)


def calls_of(trajectory: Trajectory, actor: Actor, answer_tool: str | None) -> tuple[ToolInvocation, ...]:
    """The actor's calls in time order, without the answer tool."""
    ordered = sorted(trajectory.calls, key=lambda call: (call.started_at, call.span_id))
    return tuple(call for call in ordered if call.actor is actor and call.name != answer_tool)


def answer_of(trajectory: Trajectory, actor: Actor, answer_tool: str | None) -> str | None:
    """What the actor told the customer, whether as a turn or by the answer tool."""
    said = spoken(trajectory, actor)
    if said is not None:
        return said
    for call in reversed(trajectory.calls):
        if call.actor is actor and call.name == answer_tool and call.error is None:
            return " ".join(leaves(call.arguments)) or None
    return None


def succeeded(call: ToolInvocation) -> bool:
    """Whether the tool did it."""
    return call.error is None and call.error_type is None


def taken_over(trajectory: Trajectory) -> bool:
    """Whether a person acted in the run."""
    acted = any(call.actor is Actor.HUMAN for call in trajectory.calls)
    return acted or any(turn.actor is Actor.HUMAN for turn in trajectory.turns)


def voted_down(signals: Iterable[Signal]) -> frozenset[str]:
    """Ids of the runs with negative feedback."""
    return frozenset(
        signal.trajectory_id
        for signal in signals
        if signal.kind is SignalKind.FEEDBACK and signal.value is not None and signal.value < 0
    )


def demonstrated(trajectory: Trajectory, answer_tool: str | None, downs: frozenset[str]) -> Demonstrated | str:
    """What the run demonstrates, or the reason why nothing."""
    if trajectory.incomplete:
        return "incomplete"
    human = taken_over(trajectory)
    if trajectory.outcome is Outcome.FAILURE and human:
        actor, origin = Actor.HUMAN, ORIGIN_TAKEOVER
    elif trajectory.outcome is Outcome.SUCCESS and not human:
        actor, origin = Actor.AGENT, ORIGIN_SUCCESS
        if trajectory.id in downs:
            return "contradicting_evidence"
    else:
        return "no_demonstration" if trajectory.outcome is Outcome.FAILURE else "no_evidence"
    answer = answer_of(trajectory, actor, answer_tool)
    if answer is None:
        return "no_answer"
    calls = tuple(call for call in calls_of(trajectory, actor, answer_tool) if succeeded(call))
    return Demonstrated(origin=origin, calls=calls, answer=answer)
