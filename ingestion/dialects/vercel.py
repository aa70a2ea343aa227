"""Vercel AI SDK: ``ai.prompt``, ``ai.prompt.messages``, ``ai.response.*``, ``ai.toolCall.*``, ``ai.usage.*``.

Source: AI SDK documentation, "Telemetry, collected data", versions 3 to 6 of the SDK. ``ai.operationId`` names the
function; one that ends in ``doGenerate`` or ``doStream`` is one call of a model, the function around it is the run that
may call it several times.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from governance.records.content import SpanContent
from governance.records.message import Message, Role
from governance.records.span import Span
from governance.records.usage import Usage
from ingestion.dialects.messages import REASONING, read_arguments, read_message, read_messages, read_result
from ingestion.dialects.payload import read_payload
from ingestion.dialects.values import EXECUTE_TOOL, NOTHING, count, present, string, structured, unquoted, usage

CONTENT_EVENTS: Final[frozenset[str]] = frozenset()
_TEXT: Final = ("ai.response.text", "ai.result.text")
_CALLS: Final = ("ai.response.toolCalls", "ai.result.toolCalls")
_OBJECT: Final = ("ai.response.object", "ai.result.object")
_VALUES: Final = ("ai.value", "ai.values")
_ARGUMENTS: Final = ("ai.toolCall.args", "ai.toolCall.input")
_RESULT: Final = ("ai.toolCall.result", "ai.toolCall.output")
_THOUGHTS: Final = ("ai.response.reasoning", "ai.result.reasoning")
_UNREAD: Final = ("ai.embedding", "ai.embeddings", "ai.response.files", "ai.result.files")
"""Content that is no message: vectors and files."""
_KEYS: Final = frozenset(
    {
        "ai.prompt", "ai.prompt.messages", *_TEXT, *_CALLS, *_OBJECT, *_VALUES, *_ARGUMENTS, *_RESULT, *_THOUGHTS,
        *_UNREAD,
    }
)  # fmt: skip


def speaks(keys: Collection[str], events: Collection[str]) -> bool:  # noqa: ARG001  (every dialect is asked alike)
    """Whether a span with these attributes and events says anything in this dialect."""
    return "ai.operationId" in keys or not _KEYS.isdisjoint(keys)


def content_keys(attributes: dict[str, Any]) -> set[str]:
    """The attributes that this dialect takes out of a span."""
    return set(_KEYS.intersection(attributes))


def read(span: Span) -> SpanContent:
    """What the span says in this dialect."""
    attributes = span.attributes
    if not speaks(span.attributes, {event.name for event in span.events}):
        return NOTHING
    notes: set[str] = set()
    operation = _operation(string(attributes, "ai.operationId"))
    if operation == EXECUTE_TOOL:
        asked = present(attributes, *_ARGUMENTS)
        return SpanContent(
            operation=operation,
            tool_name=string(attributes, "ai.toolCall.name"),
            tool_call_id=string(attributes, "ai.toolCall.id"),
            tool_arguments=None if asked is None else read_arguments(asked, notes)[0],
            tool_result=read_result(present(attributes, *_RESULT), notes),
            flags=tuple(sorted(notes)),
        )
    return SpanContent(
        operation=operation,
        input=_input(attributes, notes),
        output=_output(attributes, notes),
        usage=_usage(attributes),
        flags=tuple(sorted(notes)),
    )


def _operation(name: str | None) -> str | None:
    if name is None:
        return None
    if name == "ai.toolCall":
        return EXECUTE_TOOL
    if name.startswith(("ai.embed", "ai.embedMany")):
        return "embeddings"
    if name.startswith("ai.rerank"):
        return "rerank"
    return "chat" if name.endswith((".doGenerate", ".doStream")) else "invoke_agent"


def _input(attributes: dict[str, Any], notes: set[str]) -> tuple[Message, ...]:
    """The messages of the call, else the prompt of the function, else what was embedded."""
    messages = read_messages(attributes.get("ai.prompt.messages"), Role.USER, notes)
    if messages:
        return messages
    prompt = read_payload(attributes.get("ai.prompt"), Role.USER, notes)
    if prompt:
        return prompt
    value = structured(present(attributes, *_VALUES), notes)
    texts = [unquoted(item, notes) for item in (value if isinstance(value, list) else [value])]
    return tuple(message for text in texts for message in read_payload(text, Role.USER, notes))


def _output(attributes: dict[str, Any], notes: set[str]) -> tuple[Message, ...]:
    """One message: the text or the object, then the calls."""
    if present(attributes, *_THOUGHTS):
        notes.add(REASONING)
    text = string(attributes, *_TEXT) or string(attributes, *_OBJECT)
    calls = structured(present(attributes, *_CALLS), notes)
    body = {"role": "assistant", "content": text, "tool_calls": calls if isinstance(calls, list) else None}
    message = read_message(body, Role.ASSISTANT, notes)
    return () if message is None else (message,)


def _usage(attributes: dict[str, Any]) -> Usage | None:
    return usage(
        count(attributes, "ai.usage.inputTokens", "ai.usage.promptTokens", "ai.usage.tokens"),
        count(attributes, "ai.usage.outputTokens", "ai.usage.completionTokens"),
        cache_read=count(attributes, "ai.usage.cachedInputTokens", "ai.usage.inputTokenDetails.cacheReadTokens"),
        cache_write=count(attributes, "ai.usage.inputTokenDetails.cacheWriteTokens"),
        reasoning=count(attributes, "ai.usage.reasoningTokens", "ai.usage.outputTokenDetails.reasoningTokens"),
    )
