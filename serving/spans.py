"""The spans of one agent run, in the attributes of the OTel GenAI semantic conventions.

Times come from the injected clock and parents are named, never taken from ambient state, so runs that share an event
loop cannot mix, and the same run gives the same spans. ``RunSpans`` is what the harness runtime and a conversation
write to; it knows attribute names and nothing of harness or model. Source: OpenTelemetry semantic conventions for
generative AI (``invoke_agent``, ``chat``, ``execute_tool``, ``gen_ai.evaluation.result``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer

from governance.ports.clock import Clock
from governance.ports.engine import Completion
from governance.records.base import canonical_json, to_unix_nano
from governance.records.harness import ToolSpec
from governance.records.message import Message, Role, TextPart, ToolCallPart, text_message
from governance.records.release import ReleaseBundle
from governance.records.rollout import AgentRequest, Rollout, RolloutCall

HUMAN_AGENT = "human_operator"


def _json(value: Any) -> str:
    return canonical_json(value).decode("utf-8", "replace")


def wire(message: Message, finish_reason: str | None = None) -> dict[str, Any]:
    """A message as the conventions write it: a text part's text is called ``content``."""
    parts = []
    for part in message.parts:
        plain = part.plain()
        if isinstance(part, TextPart):
            plain = {"type": "text", "content": part.text}
        elif isinstance(part, ToolCallPart):
            plain.pop("corrupt")
        parts.append(plain)
    whole: dict[str, Any] = {"role": message.role.value, "parts": parts}
    return whole if finish_reason is None else {**whole, "finish_reason": finish_reason}


def definitions(tools: Sequence[ToolSpec]) -> str:
    """``gen_ai.tool.definitions``: the offered tools with their declared schemas."""
    return _json(
        [
            {"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in tools
        ]
    )


class RunSpans:
    """Writes the spans of one run: open, then chats and tools, then close."""

    def __init__(self, tracer: Tracer, clock: Clock, provider: str = "vllm") -> None:
        """``provider`` is ``gen_ai.provider.name``."""
        self._tracer, self._clock, self._provider = tracer, clock, provider
        self._root: Span = trace.INVALID_SPAN

    @property
    def trace_id(self) -> str | None:
        """The trace's id in hex, or None where nothing is recorded."""
        context = self._root.get_span_context()
        return format(context.trace_id, "032x") if context.is_valid else None

    def trace_parent(self, span: Span) -> str | None:
        """W3C ``traceparent`` of a span."""
        context = span.get_span_context()
        if not context.is_valid:
            return None
        return f"00-{context.trace_id:032x}-{context.span_id:016x}-{int(context.trace_flags):02x}"

    def open(self, bundle: ReleaseBundle, request: AgentRequest, tools: Sequence[ToolSpec]) -> None:
        """Start the run's root span."""
        agent = bundle.harness.agent_name
        attributes: dict[str, Any] = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": agent,
            "gen_ai.conversation.id": request.session_id,
            "tidemill.release": bundle.release.digest(),
            "tidemill.world.digest": request.world_digest,
            "gen_ai.input.messages": _json([wire(text_message(Role.USER, request.message))]),
            "gen_ai.tool.definitions": definitions(tools),
        }
        if request.user_id is not None:
            attributes["user.id"] = request.user_id
        if request.topic is not None:
            attributes["tidemill.request.topic"] = request.topic
        self._root = self._start(f"invoke_agent {agent}", attributes, parent=None)

    def close(self, rollout: Rollout) -> None:
        """End the root with the run's answer."""
        self._root.set_attribute("tidemill.stop_reason", rollout.stop.value)
        if rollout.answer is not None:
            answer = wire(text_message(Role.ASSISTANT, rollout.answer), "stop")
            self._root.set_attribute("gen_ai.output.messages", _json([answer]))
        if rollout.error is not None:
            self._root.set_attribute("error.type", rollout.stop.value)
            self._root.set_status(Status(StatusCode.ERROR, rollout.error))
        self._end(self._root)

    def chat(self, model: str, messages: Sequence[Message]) -> Span:
        """Start a model call."""
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": self._provider,
            "gen_ai.request.model": model,
            "gen_ai.input.messages": _json([wire(message) for message in messages]),
        }
        return self._start(f"chat {model}", attributes, self._root, SpanKind.CLIENT)

    def chat_done(self, span: Span, completion: Completion, said: Message) -> None:
        """End a model call with what it said."""
        span.set_attributes(
            {
                "gen_ai.response.model": completion.model,
                "gen_ai.response.id": completion.response_id,
                "gen_ai.response.finish_reasons": [completion.finish_reason],
                "gen_ai.usage.input_tokens": completion.input_tokens,
                "gen_ai.usage.output_tokens": completion.output_tokens,
                "gen_ai.output.messages": _json([wire(said, completion.finish_reason)]),
            }
        )
        self._end(span)

    def failed(self, span: Span, error_type: str, text: str) -> None:
        """End a span in error."""
        span.set_attribute("error.type", error_type)
        span.set_status(Status(StatusCode.ERROR, text))
        self._end(span)

    def tool(self, name: str, call_id: str, arguments: Any, parent: Span | None = None) -> Span:
        """Start a tool call, of the agent or, under ``parent``, of a person."""
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
            "gen_ai.tool.call.id": call_id,
            "gen_ai.tool.call.arguments": _json(arguments),
        }
        return self._start(f"execute_tool {name}", attributes, parent or self._root)

    def tool_done(self, span: Span, call: RolloutCall) -> None:
        """End a tool call with its result or its refusal."""
        if call.error is not None:
            self.failed(span, call.error_type or "error", call.error)
            return
        span.set_attribute("gen_ai.tool.call.result", _json(call.result))
        self._end(span)

    def human(self, session_id: str) -> Span:
        """Start a person's takeover."""
        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": HUMAN_AGENT,
            "gen_ai.conversation.id": session_id,
            "tidemill.actor": "human",
        }
        return self._start(f"invoke_agent {HUMAN_AGENT}", attributes, self._root)

    def human_done(self, span: Span, answer: str) -> None:
        """End a takeover with what the person told the customer."""
        span.set_attribute("gen_ai.output.messages", _json([wire(text_message(Role.ASSISTANT, answer), "stop")]))
        self._end(span)

    def feedback(self, score: int, comment: str | None) -> None:
        """The customer's vote, as an event on the root."""
        attributes: dict[str, Any] = {
            "gen_ai.evaluation.name": "customer_feedback",
            "gen_ai.evaluation.score.value": score,
        }
        if comment is not None:
            attributes["gen_ai.evaluation.explanation"] = comment
        self._root.add_event("gen_ai.evaluation.result", attributes, timestamp=self._now())

    def _start(
        self, name: str, attributes: Mapping[str, Any], parent: Span | None, kind: SpanKind = SpanKind.INTERNAL
    ) -> Span:
        context = trace.set_span_in_context(trace.INVALID_SPAN if parent is None else parent)
        return self._tracer.start_span(
            name, context=context, kind=kind, attributes=dict(attributes), start_time=self._now()
        )

    def _end(self, span: Span) -> None:
        span.end(end_time=self._now())

    def _now(self) -> int:
        return to_unix_nano(self._clock.now())
