"""The canonical form of a trajectory: the same for every framework and every tool that a run came from.

The whole talk in turns with role, content, tool calls and tool results; what agents said to each other apart from it;
the executed calls; usage, flags, signals, the release that answered, and the keyed hash of the person. Every read names
its purpose, so what may not be seen is not shown.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from governance.records.message import ToolCallPart, ToolResultPart
from governance.records.rights import Purpose

if TYPE_CHECKING:
    from governance.records.trajectory import ToolInvocation, Trajectory, Turn
    from governance.store import Store

_FIRST = datetime(1970, 1, 1, tzinfo=UTC)
_LATER = timedelta(days=1)


def show(store: Store, trajectory_id: str, purpose: Purpose, now: datetime) -> dict[str, Any]:
    """One trajectory with its signals.

    Raises:
        NotFound: when there is none of that id.
        PurposeDenied: when its person's data may not be used for the purpose.

    """
    run = store.trajectories.get(trajectory_id, purpose)
    spans = store.spans.trace(run.tenant_id, run.trace_id, purpose)
    flags = {flag for item in spans for flag in item.span.flags}
    flags |= {flag for item in spans if item.content is not None for flag in item.content.flags}
    # A signal may be about a run and come long after it.
    signals = store.signals.list(purpose, [run.tenant_id], min(run.started_at, now), now + _LATER)
    return {
        **_head(run),
        "trace_id": run.trace_id,
        "session_id": run.session_id,
        "topic": run.topic,
        "world": run.world_digest,
        "turns": [_turn(turn) for turn in run.turns],
        "subagents": [
            {"name": one.name, "span_id": one.span_id, "turns": [_turn(turn) for turn in one.turns]}
            for one in run.subagents
        ],
        "tool_calls": [_call(call) for call in run.calls],
        "usage": run.usage.plain(),
        "flags": sorted(flags),
        "signals": [
            signal.model_dump(mode="json", exclude={"tenant_id", "subject", "trajectory_id"})
            for signal in signals
            if signal.trajectory_id == run.id
        ],
    }


def listing(store: Store, tenant: str, purpose: Purpose, now: datetime, most: int) -> dict[str, Any]:
    """The newest trajectories of a tenant that the purpose may see, and how many it may not, by reason."""
    found = store.trajectories.list(purpose, [tenant], _FIRST, now + _LATER)
    rows = [
        {**_head(run), "turns": len(run.turns), "tool_calls": len(run.calls)} for run in reversed(found.rows[-most:])
    ]
    excluded = Counter(exclusion.reason for exclusion in found.excluded)
    return {"trajectories": rows, "of": len(found.rows), "not_shown": dict(sorted(excluded.items()))}


def _head(run: Trajectory) -> dict[str, Any]:
    return {
        "id": run.id,
        "agent": run.agent_name,
        "model": run.model,
        "release": run.release,
        "subject": run.subject,
        "started_at": run.started_at.isoformat(),
        "ended_at": run.ended_at.isoformat(),
        "outcome": run.outcome.value,
        "incomplete": list(run.incomplete),
    }


def _turn(turn: Turn) -> dict[str, Any]:
    parts = turn.message.parts
    calls = [
        {"id": part.id, "name": part.name, "arguments": part.arguments, "corrupt": part.corrupt}
        for part in parts
        if isinstance(part, ToolCallPart)
    ]
    results = [{"id": part.id, "response": part.response} for part in parts if isinstance(part, ToolResultPart)]
    return {
        "role": turn.message.role.value,
        "actor": turn.actor.value,
        "content": turn.message.text,
        "at": turn.at.isoformat(),
        "span_id": turn.span_id,
        **({"tool_calls": calls} if calls else {}),
        **({"tool_results": results} if results else {}),
        **({"earlier": True} if turn.earlier else {}),
    }


def _call(call: ToolInvocation) -> dict[str, Any]:
    return {
        "id": call.call_id,
        "name": call.name,
        "arguments": call.arguments,
        "result": call.result,
        "error": call.error,
        "error_type": call.error_type,
        "error_kind": None if call.error_kind is None else call.error_kind.value,
        "actor": call.actor.value,
        "at": call.started_at.isoformat(),
        "span_id": call.span_id,
    }
