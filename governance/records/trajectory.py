"""One agent run, normalised: turns, tool calls with results, usage, outcome.

A trajectory speaks no dialect. It is what routing, tasks and datasets read; every value in it is masked.
``outcome`` is never rounded up: without evidence it is ``unknown``.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from governance.records.base import Record, UtcTime
from governance.records.error_kind import ErrorKind
from governance.records.message import Message
from governance.records.span import SpanId, TraceId
from governance.records.usage import Usage

UNKNOWN_SUBJECT = "unknown"
"""The subject of a record that no configured attribute identifies. It denies every purpose but ``comply``."""


class Actor(StrEnum):
    """Who acted."""

    CUSTOMER = "customer"
    AGENT = "agent"
    HUMAN = "human"
    TOOL = "tool"
    """A tool that answers; only turns have it. Who made the call is the call's actor."""

    __hash__ = str.__hash__  # as ``Role``


class Outcome(StrEnum):
    """How a run ended, as far as evidence says."""

    SUCCESS = "success"
    FAILURE = "failure"
    UNKNOWN = "unknown"


class ToolInvocation(Record):
    """One executed tool call."""

    span_id: SpanId
    call_id: str
    name: str
    arguments: Any
    result: Any = None
    error: str | None = None
    """The tool's error text, masked; None when it succeeded."""
    error_type: str | None = None
    """``error.type`` as the tool stated it: ``schema``, ``ValidationError``, ``429``, ..."""
    error_kind: ErrorKind | None = None
    """What kind of failure it is; None when it succeeded."""
    actor: Actor
    started_at: UtcTime


class Turn(Record):
    """One message of the conversation with who spoke it and which span carried it."""

    actor: Actor
    message: Message
    span_id: SpanId
    at: UtcTime
    earlier: bool = False
    """Said before this run began: it stands in the history that the run was given."""


class Subagent(Record):
    """What was said between an agent and another one that it asked: no part of the talk with the customer."""

    span_id: SpanId
    """The span under which it was said: the agent's, the tool's that ran it, or its first model call's."""
    name: str
    turns: tuple[Turn, ...]


class Trajectory(Record):
    """One agent run."""

    tenant_id: str
    trace_id: TraceId
    session_id: str
    subject: str
    """Keyed hash of the person, or ``unknown``."""
    agent_name: str
    release: str | None = None
    """Digest of the release that answered, from ``tidemill.release``."""
    model: str | None = None
    """``gen_ai.response.model`` or ``.request.model`` of the deepest chat span."""
    topic: str | None = None
    """The request's topic as the app stated it (``tidemill.request.topic``)."""
    world_digest: str | None = None
    """Digest of the world at the start of the run (``tidemill.world.digest``)."""
    started_at: UtcTime
    ended_at: UtcTime
    turns: tuple[Turn, ...]
    """The talk with the customer, whole and in order: each message once, however many spans repeat it."""
    subagents: tuple[Subagent, ...] = ()
    calls: tuple[ToolInvocation, ...]
    """The executed calls of the run, those of sub-agents too, each once."""
    usage: Usage = Usage()
    outcome: Outcome = Outcome.UNKNOWN
    incomplete: tuple[str, ...] = ()
    """Reasons why this run is not whole (``missing_root``, ``dropped_attributes``, ``truncated``); never trained on."""
    epoch: str = ""
    """The epoch of the surrogate key under which its spans were masked."""

    @property
    def id(self) -> str:
        """A trajectory is one trace of one tenant."""
        return f"{self.tenant_id}/{self.trace_id}"
