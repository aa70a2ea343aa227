"""MLflow tracing: ``mlflow.spanInputs``, ``mlflow.spanOutputs``, ``mlflow.spanType``, ``mlflow.chat.*``.

Source: MLflow ``mlflow.tracing.constant.SpanAttributeKey`` and ``mlflow.entities.SpanType``. Every value is JSON text,
a text too (``"CHAT_MODEL"`` with its quotes). ``mlflow.chat.messages`` of older versions holds the request and the
reply in one list.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from governance.records.content import SpanContent
from governance.records.message import Role
from governance.records.span import Span
from governance.records.usage import Usage
from ingestion.dialects.forms import Form, richest
from ingestion.dialects.messages import read_arguments, read_messages, read_result
from ingestion.dialects.payload import called_with, payload_form
from ingestion.dialects.values import EXECUTE_TOOL, NOTHING, amount, count, unquoted, usage

CONTENT_EVENTS: Final[frozenset[str]] = frozenset()
_INPUTS: Final = "mlflow.spanInputs"
_OUTPUTS: Final = "mlflow.spanOutputs"
_CHAT: Final = "mlflow.chat.messages"
_OPERATIONS: Final = {
    "LLM": "chat", "CHAT_MODEL": "chat", "AGENT": "invoke_agent", "TOOL": EXECUTE_TOOL, "RETRIEVER": "retrieval",
    "EMBEDDING": "embeddings", "CHAIN": "invoke_workflow", "WORKFLOW": "invoke_workflow", "RERANKER": "rerank",
    "EVALUATOR": "evaluate", "GUARDRAIL": "guardrail",
}  # fmt: skip
_SPEAKING: Final = frozenset({"chat", "invoke_agent", "invoke_workflow", None})


def speaks(keys: Collection[str], events: Collection[str]) -> bool:  # noqa: ARG001  (every dialect is asked alike)
    """Whether a span with these attributes and events says anything in this dialect."""
    return any(key.startswith("mlflow.") for key in keys)


def content_keys(attributes: dict[str, Any]) -> set[str]:
    """The attributes that this dialect takes out of a span."""
    return {_INPUTS, _OUTPUTS, _CHAT} & attributes.keys()


def read(span: Span) -> SpanContent:
    """What the span says in this dialect."""
    attributes = span.attributes
    if not speaks(span.attributes, {event.name for event in span.events}):
        return NOTHING
    notes: set[str] = set()
    kind = unquoted(attributes.get("mlflow.spanType"), set())
    operation = _OPERATIONS.get(kind.upper()) if isinstance(kind, str) else None
    if operation not in _SPEAKING:
        return _function(span, operation, notes)
    before, after = _chat(attributes, notes)
    input_ = richest((before, payload_form(attributes.get(_INPUTS), Role.USER)))
    output = richest((after, payload_form(attributes.get(_OUTPUTS), Role.ASSISTANT)))
    return SpanContent(
        operation=operation,
        input=input_.messages,
        output=output.messages,
        usage=_usage(attributes),
        flags=tuple(sorted(notes | input_.flags | output.flags)),
    )


def _function(span: Span, operation: str | None, notes: set[str]) -> SpanContent:
    """A tool, a retrieval, ...: what it was called with and what came out."""
    name = unquoted(span.attributes.get("mlflow.spanFunctionName"), set())
    given = called_with(span.attributes.get(_INPUTS), notes)
    return SpanContent(
        operation=operation,
        tool_name=(name if isinstance(name, str) and name else span.name) if operation == EXECUTE_TOOL else None,
        tool_arguments=_asked(given, operation, notes),
        tool_result=read_result(span.attributes.get(_OUTPUTS), notes),
        usage=_usage(span.attributes),
        flags=tuple(sorted(notes)),
    )


def _asked(given: Any, operation: str | None, notes: set[str]) -> Any:
    if given is None or operation != EXECUTE_TOOL:
        return read_result(given, notes)
    return read_arguments(given, notes)[0]


def _chat(attributes: dict[str, Any], notes: set[str]) -> tuple[Form, Form]:
    """The request and the reply of one list of messages."""
    messages = read_messages(attributes.get(_CHAT), Role.USER, notes)
    replied = bool(messages) and messages[-1].role is Role.ASSISTANT
    cut = len(messages) - 1 if replied else len(messages)
    return Form(messages[:cut], frozenset()), Form(messages[cut:], frozenset())


def _usage(attributes: dict[str, Any]) -> Usage | None:
    tokens = unquoted(attributes.get("mlflow.chat.tokenUsage"), set())
    held = tokens if isinstance(tokens, dict) else {}
    cost = unquoted(attributes.get("mlflow.llm.cost"), set())
    return usage(
        count(held, "input_tokens", "prompt_tokens"),
        count(held, "output_tokens", "completion_tokens"),
        cache_read=count(held, "cache_read_input_tokens"),
        cache_write=count(held, "cache_creation_input_tokens"),
        cost=amount(cost, "total_cost") if isinstance(cost, dict) else None,
    )
