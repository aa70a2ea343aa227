"""An outline: what a run was, without a word of what was said in it."""

from __future__ import annotations

from typing import Self

from governance.records.base import Record, UtcTime
from governance.records.trajectory import Actor, Trajectory
from governance.records.usage import Usage


class RunOutline(Record):
    """One run, by its figures."""

    id: str
    tenant_id: str
    agent_name: str
    started_at: UtcTime
    ended_at: UtcTime
    usage: Usage
    actors: tuple[Actor, ...]
    """Who spoke or called a tool in this run, each once."""
    incomplete: tuple[str, ...]

    @classmethod
    def of(cls, run: Trajectory) -> Self:
        """The outline of a run."""
        acted = {turn.actor for turn in run.turns if not turn.earlier} | {call.actor for call in run.calls}
        return cls(
            id=run.id,
            tenant_id=run.tenant_id,
            agent_name=run.agent_name,
            started_at=run.started_at,
            ended_at=run.ended_at,
            usage=run.usage,
            actors=tuple(sorted(acted)),
            incomplete=run.incomplete,
        )
