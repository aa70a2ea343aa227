"""A conversation: one production session. The agent runs, a person takes over, the customer votes.

All of it is one trace. A person takes over where the agent did not help. The person's calls go
through the same tools and are recorded as they happen, refusals included; the answer tool is speech, not a call, so it
leaves no tool span. A person who fails too leaves an errored takeover and
no answer, and the session stands as what it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import Span

from governance.errors import TidemillError
from governance.ports.clock import Clock
from governance.ports.engine import ChatEngine
from governance.ports.people import Customer, Demonstration, Feedback, Operator
from governance.ports.tools import ToolRefusal, ToolSession
from governance.records.base import Record
from governance.records.release import ReleaseBundle
from governance.records.rollout import AgentRequest, Rollout, RolloutCall
from governance.records.world import StateChange
from serving.runtime import HarnessRuntime
from serving.spans import RunSpans
from serving.telemetry import SessionTracing

Export = Callable[[Sequence[ReadableSpan]], None]


class SessionRecord(Record):
    """What a session came to."""

    rollout: Rollout
    helped_by_agent: bool
    demonstration: Demonstration | None = None
    """None where nobody took over, or the person could not do it either."""
    feedback: Feedback
    trace_id: str | None


class Conversation:
    """Plays sessions of one agent; one object per session, since ids and times belong to a session."""

    def __init__(
        self, runtime: HarnessRuntime, tracing: SessionTracing, clock: Clock, export: Export | None = None
    ) -> None:
        """``export`` gets the session's spans when it is over; without it they stay in ``tracing``."""
        self._runtime, self._tracing, self._clock, self._export = runtime, tracing, clock, export

    async def hold(
        self,
        bundle: ReleaseBundle,
        request: AgentRequest,
        tools: ToolSession,
        engine: ChatEngine,
        *,
        customer: Customer,
        operator: Operator,
        takeover_tools: ToolSession | None = None,
    ) -> SessionRecord:
        """One session; ``takeover_tools`` is where a person works, the agent's own session unless given.

        Raises:
            ExportError: when the telemetry could not be delivered.

        """
        spans = RunSpans(self._tracing.tracer, self._clock)
        rollout = await self._runtime.play(bundle, request, tools, engine, spans)
        helped = customer.helped(request, rollout, tools)
        shown = None
        if not helped:
            shown = self._take_over(bundle, request, takeover_tools or tools, operator, spans)
        feedback = customer.feedback(request, helped_by_agent=helped)
        if feedback.score is not None:
            spans.feedback(feedback.score, feedback.comment)
        spans.close(rollout)
        if self._export is not None:
            self._export(self._tracing.take())
        return SessionRecord(
            rollout=rollout,
            helped_by_agent=helped,
            demonstration=shown,
            feedback=feedback,
            trace_id=spans.trace_id,
        )

    def _take_over(
        self, bundle: ReleaseBundle, request: AgentRequest, tools: ToolSession, operator: Operator, spans: RunSpans
    ) -> Demonstration | None:
        span = spans.human(request.session_id)
        try:
            shown = operator.take_over(request, _Recorded(tools, spans, span, bundle.harness.answer_tool))
        except TidemillError as error:
            kind = error.error_type if isinstance(error, ToolRefusal) else type(error).__name__
            spans.failed(span, kind, str(error))
            return None
        spans.human_done(span, shown.answer)
        return shown


class _Recorded(ToolSession):
    """A tool session that leaves a span for each call of a person."""

    def __init__(self, tools: ToolSession, spans: RunSpans, parent: Span, answer_tool: str) -> None:
        self._tools, self._spans, self._parent, self._answer_tool = tools, spans, parent, answer_tool
        self._count = 0

    def call(self, name: str, arguments: dict[str, Any]) -> Any:
        """Execute one call inside its span."""
        if name == self._answer_tool:
            return self._tools.call(name, arguments)
        self._count += 1
        span = self._spans.tool(name, f"human_{self._count}", arguments, self._parent)
        try:
            result = self._tools.call(name, arguments)
        except ToolRefusal as refusal:
            self._spans.failed(span, refusal.error_type, str(refusal))
            raise
        self._spans.tool_done(span, RolloutCall(name=name, arguments=arguments, result=result))
        return result

    def changes(self) -> tuple[StateChange, ...]:
        """What the underlying session changed."""
        return self._tools.changes()
