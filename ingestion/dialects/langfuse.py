"""Langfuse: ``langfuse.observation.*`` and ``langfuse.trace.*``.

Source: Langfuse's OpenTelemetry property mapping (``LangfuseOtelSpanAttributes``). Inputs and outputs are JSON or text;
the trace's stand on its first span and repeat what that span says. ``usage_details`` names kinds of tokens: the whole
input and output are read, their parts (cached, reasoning) are not added to them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from governance.records.content import SpanContent
from governance.records.message import Role
from governance.records.span import Span
from governance.records.usage import Usage
from ingestion.dialects.forms import richest
from ingestion.dialects.messages import read_arguments, read_result
from ingestion.dialects.payload import called_with, payload_form
from ingestion.dialects.values import EXECUTE_TOOL, NOTHING, added, amount, count, string, unquoted, usage

CONTENT_EVENTS: Final[frozenset[str]] = frozenset()
_INPUTS: Final = ("langfuse.observation.input", "langfuse.trace.input")
_OUTPUTS: Final = ("langfuse.observation.output", "langfuse.trace.output")
_OPERATIONS: Final = {
    "generation": "chat", "embedding": "embeddings", "agent": "invoke_agent", "tool": EXECUTE_TOOL,
    "chain": "invoke_workflow", "retriever": "retrieval", "evaluator": "evaluate", "guardrail": "guardrail",
}  # fmt: skip
_SPEAKING: Final = frozenset({"chat", "invoke_agent", "invoke_workflow", None})


def speaks(keys: Collection[str], events: Collection[str]) -> bool:  # noqa: ARG001  (every dialect is asked alike)
    """Whether a span with these attributes and events says anything in this dialect."""
    return any(key.startswith("langfuse.") for key in keys)


def content_keys(attributes: dict[str, Any]) -> set[str]:
    """The attributes that this dialect takes out of a span."""
    return {*_INPUTS, *_OUTPUTS} & attributes.keys()


def read(span: Span) -> SpanContent:
    """What the span says in this dialect."""
    attributes = span.attributes
    if not speaks(span.attributes, {event.name for event in span.events}):
        return NOTHING
    notes: set[str] = set()
    kind = string(attributes, "langfuse.observation.type")
    operation = None if kind is None else _OPERATIONS.get(kind.lower())
    if operation not in _SPEAKING:
        return _function(span, operation, notes)
    input_ = richest(payload_form(attributes.get(key), Role.USER) for key in _INPUTS)
    output = richest(payload_form(attributes.get(key), Role.ASSISTANT) for key in _OUTPUTS)
    return SpanContent(
        operation=operation,
        input=input_.messages,
        output=output.messages,
        usage=_usage(attributes),
        flags=tuple(sorted(notes | input_.flags | output.flags)),
    )


def _function(span: Span, operation: str | None, notes: set[str]) -> SpanContent:
    """A tool, a retrieval, ...: what it was called with and what came out."""
    attributes = span.attributes
    tool = operation == EXECUTE_TOOL
    given = called_with(attributes.get(_INPUTS[0]), notes)
    asked = read_arguments(given, notes)[0] if tool and given is not None else read_result(given, notes)
    return SpanContent(
        operation=operation,
        tool_name=(string(attributes, "gen_ai.tool.name") or span.name) if tool else None,
        tool_call_id=string(attributes, "gen_ai.tool.call.id") if tool else None,
        tool_arguments=asked,
        tool_result=read_result(attributes.get(_OUTPUTS[0]), notes),
        usage=_usage(attributes),
        flags=tuple(sorted(notes)),
    )


def _usage(attributes: dict[str, Any]) -> Usage | None:
    tokens = unquoted(attributes.get("langfuse.observation.usage_details"), set())
    held = tokens if isinstance(tokens, dict) else {}
    costs = unquoted(attributes.get("langfuse.observation.cost_details"), set())
    return usage(
        count(held, "input", "input_tokens", "prompt_tokens"),
        count(held, "output", "output_tokens", "completion_tokens"),
        cache_read=count(held, "input_cached_tokens", "input_cache_read", "cache_read_input_tokens"),
        cache_write=count(held, "input_cache_creation", "cache_creation_input_tokens"),
        reasoning=count(held, "output_reasoning_tokens", "output_reasoning", "reasoning_tokens"),
        cost=_cost(costs) if isinstance(costs, dict) else None,
    )


def _cost(costs: dict[str, Any]) -> float | None:
    """The total that is stated, else the sum of its parts."""
    total = amount(costs, "total")
    return added(*(amount(costs, key) for key in costs)) if total is None else total
