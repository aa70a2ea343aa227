"""LangSmith over OpenTelemetry: a run's inputs under ``gen_ai.prompt``, its outputs under ``gen_ai.completion``.

Source: ``langsmith``'s OpenTelemetry exporter (``langsmith.span.kind``, ``langsmith.metadata.*``). Inputs and outputs
are JSON of whatever ran: of a model the messages and the generations, of a tool its arguments and its answer, of a
chain its state. Tokens and the names of tools stand under the convention's own names, the parts of the tokens in
LangChain's ``usage_metadata``.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from governance.records.content import SpanContent
from governance.records.message import Role
from governance.records.span import Span
from governance.records.usage import Usage
from ingestion.dialects import langchain
from ingestion.dialects.messages import read_arguments
from ingestion.dialects.payload import read_payload
from ingestion.dialects.values import EXECUTE_TOOL, NOTHING, count, string, structured, usage

CONTENT_EVENTS: Final[frozenset[str]] = frozenset()
_PROMPT: Final = "gen_ai.prompt"
_COMPLETION: Final = "gen_ai.completion"
_OPERATIONS: Final = {
    "llm": "chat", "tool": EXECUTE_TOOL, "chain": "invoke_workflow", "retriever": "retrieval",
    "embedding": "embeddings",
}  # fmt: skip


def speaks(keys: Collection[str], events: Collection[str]) -> bool:  # noqa: ARG001  (every dialect is asked alike)
    """Whether a span with these attributes and events may say something in this dialect."""
    return "langsmith.span.kind" in keys


def content_keys(attributes: dict[str, Any]) -> set[str]:
    """The attributes that this dialect takes out of a span."""
    return {_PROMPT, _COMPLETION} & attributes.keys()


def read(span: Span) -> SpanContent:
    """What the span says in this dialect."""
    attributes = span.attributes
    kind = string(attributes, "langsmith.span.kind")
    if kind is None:
        return NOTHING
    operation = _OPERATIONS.get(kind)
    notes: set[str] = set()
    if operation == EXECUTE_TOOL:
        asked = langchain.arguments(attributes.get(_PROMPT))
        told = langchain.result(attributes.get(_COMPLETION), notes)
        return SpanContent(
            operation=operation,
            tool_name=string(attributes, "gen_ai.tool.name") or span.name,
            tool_call_id=string(attributes, "gen_ai.tool.call.id") or told.call_id or asked.call_id,
            tool_arguments=None if asked.value is None else read_arguments(asked.value, notes)[0],
            tool_result=told.value,
            flags=tuple(sorted(notes)),
        )
    return SpanContent(
        operation=operation,
        input=read_payload(attributes.get(_PROMPT), Role.USER, notes),
        output=read_payload(attributes.get(_COMPLETION), Role.ASSISTANT, notes),
        usage=_usage(attributes),
        flags=tuple(sorted(notes)),
    )


def _usage(attributes: dict[str, Any]) -> Usage | None:
    stated = structured(attributes.get("langsmith.metadata.usage_metadata"), set())
    if not isinstance(stated, dict):
        return None
    given, back = (stated.get(key) for key in ("input_token_details", "output_token_details"))
    given, back = (one if isinstance(one, dict) else {} for one in (given, back))
    return usage(
        count(stated, "input_tokens"),
        count(stated, "output_tokens"),
        cache_read=count(given, "cache_read"),
        cache_write=count(given, "cache_creation"),
        reasoning=count(back, "reasoning"),
    )
