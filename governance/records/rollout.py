"""A rollout: one run of a release on one request, with the exact token ids that were sampled."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

from governance.records.base import Digest, Record, UtcTime
from governance.records.message import Message


class AgentRequest(Record):
    """One customer message to an agent."""

    tenant_id: str
    session_id: str
    user_id: str | None
    """The person as the app knows them; goes into spans as ``user.id`` and into nothing else."""
    topic: str | None
    message: str
    world_digest: str
    at: UtcTime


class StopReason(StrEnum):
    """Why a run ended."""

    ANSWERED = "answered"
    TOOL_ERRORS = "tool_errors"
    MAX_STEPS = "max_steps"
    UNPARSEABLE = "unparseable"
    ENGINE_ERROR = "engine_error"
    UNRECORDED = "unrecorded"
    """The world could not answer a call: the run says nothing of the agent."""


INVALID: Final = frozenset({StopReason.ENGINE_ERROR, StopReason.UNRECORDED})
"""How a run ends of which no score is made."""


class RolloutCall(Record):
    """One tool call of a run and what came back."""

    name: str
    arguments: Any
    result: Any = None
    error: str | None = None
    error_type: str | None = None


class RolloutStep(Record):
    """One model call: what went in, what was sampled, token by token."""

    messages: tuple[Message, ...]
    prompt_token_ids: tuple[int, ...]
    output_token_ids: tuple[int, ...]
    text: str
    finish_reason: str
    choices: tuple[int, ...] = ()
    """Positions in ``output_token_ids`` at which a token ruled out a tool that was offered."""


class Rollout(Record):
    """One run."""

    release_digest: Digest
    model: str
    """The served name that answered."""
    steps: tuple[RolloutStep, ...]
    calls: tuple[RolloutCall, ...]
    answer: str | None
    stop: StopReason
    error: str | None = None
    trace_id: str | None = None


class Grade(Record):
    """What the verifiers said of one rollout. ``reward`` is None when grading failed: an error, never a zero."""

    task_digest: Digest
    release_digest: Digest
    reward: float | None
    passed: tuple[str, ...]
    failed: tuple[str, ...]
    error: str | None = None
    surrogates: tuple[str, ...] = ()
    """The types of surrogates that the run said and nothing had given it."""
