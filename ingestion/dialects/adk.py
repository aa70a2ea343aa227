"""Google Agent Development Kit: ``gcp.vertex.agent.llm_request``, ``.llm_response``, ``.tool_call_args``, ...

Source: google/adk-python, ``google.adk.telemetry.tracing``. Requests and replies are JSON of Google GenAI ``contents``
and ``config``. What is not applicable is written as ``{}`` or ``N/A``, what cannot be written as ``<not ...>``: none of
them is content. The span of merged tool calls repeats calls that have spans of their own, so it is no call.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from governance.records.content import SpanContent
from governance.records.message import Message, Role
from governance.records.span import Span
from governance.records.usage import Usage
from ingestion.dialects.messages import read_arguments, read_messages, read_result
from ingestion.dialects.payload import read_payload
from ingestion.dialects.values import EXECUTE_TOOL, NOTHING, count, operation_name, string, unquoted, usage

CONTENT_EVENTS: Final[frozenset[str]] = frozenset()
MERGED: Final = "merge_tool_results"
"""The operation of a span that gathers the answers of parallel calls."""
_HEAD: Final = "gcp.vertex.agent."
_REQUEST, _RESPONSE = f"{_HEAD}llm_request", f"{_HEAD}llm_response"
_ARGUMENTS, _RESULT, _DATA = f"{_HEAD}tool_call_args", f"{_HEAD}tool_response", f"{_HEAD}data"
_KEYS: Final = frozenset({_REQUEST, _RESPONSE, _ARGUMENTS, _RESULT, _DATA})


def speaks(keys: Collection[str], events: Collection[str]) -> bool:  # noqa: ARG001  (every dialect is asked alike)
    """Whether a span with these attributes and events says anything in this dialect."""
    return any(key.startswith(_HEAD) for key in keys)


def content_keys(attributes: dict[str, Any]) -> set[str]:
    """The attributes that this dialect takes out of a span."""
    return set(_KEYS.intersection(attributes))


def read(span: Span) -> SpanContent:
    """What the span says in this dialect."""
    attributes = span.attributes
    if not speaks(span.attributes, {event.name for event in span.events}):
        return NOTHING
    notes: set[str] = set()
    operation = _operation(attributes)
    response = _stated(attributes, _RESPONSE, notes)
    if operation == EXECUTE_TOOL:
        asked = _stated(attributes, _ARGUMENTS, notes)
        return SpanContent(
            operation=operation,
            tool_name=string(attributes, "gen_ai.tool.name"),
            tool_arguments=None if asked is None else read_arguments(asked, notes)[0],
            tool_result=read_result(_result(attributes, notes), notes),
            flags=tuple(sorted(notes)),
        )
    return SpanContent(
        operation=operation,
        input=_input(attributes, notes),
        output=_output(response, attributes, notes),
        usage=_usage(response),
        flags=tuple(sorted(notes)),
    )


def _operation(attributes: dict[str, Any]) -> str | None:
    if string(attributes, "gen_ai.tool.name") == "(merged tools)":
        return MERGED
    name = string(attributes, "gen_ai.operation.name")
    if name is not None:
        return operation_name(name)
    if attributes.get(_ARGUMENTS) is not None:
        return EXECUTE_TOOL
    model = string(attributes, "gen_ai.system") == "gcp.vertex.agent" or _REQUEST in attributes
    return "chat" if model else None


def _stated(attributes: dict[str, Any], key: str, notes: set[str]) -> Any:
    """A value, unless it stands for one that is not there."""
    value = unquoted(attributes.get(key), notes)
    placeholder = isinstance(value, str) and (value == "N/A" or value.startswith("<not "))
    return None if placeholder or value in ({}, "") else value


def _result(attributes: dict[str, Any], notes: set[str]) -> Any:
    value = _stated(attributes, _RESULT, notes)
    if isinstance(value, dict) and value.keys() == {"result"}:
        return _stated(value, "result", notes)
    return value


def _input(attributes: dict[str, Any], notes: set[str]) -> tuple[Message, ...]:
    request = _stated(attributes, _REQUEST, notes)
    return read_payload(request if request is not None else _stated(attributes, _DATA, notes), Role.USER, notes)


def _output(response: Any, attributes: dict[str, Any], notes: set[str]) -> tuple[Message, ...]:
    """The reply's content; of merged calls, the answers."""
    event = response if response is not None else _result(attributes, notes)
    if isinstance(event, dict) and isinstance(event.get("content"), dict):
        return read_messages([event["content"]], Role.ASSISTANT, notes)
    if isinstance(event, dict) and "usage_metadata" in event:
        return ()
    return read_payload(event, Role.ASSISTANT, notes)


def _usage(response: Any) -> Usage | None:
    tokens = response.get("usage_metadata") if isinstance(response, dict) else None
    if not isinstance(tokens, dict):
        return None
    spoken, thought = count(tokens, "candidates_token_count"), count(tokens, "thoughts_token_count")
    return usage(
        count(tokens, "prompt_token_count"),
        None if spoken is None and thought is None else (spoken or 0) + (thought or 0),  # Google counts them apart
        cache_read=count(tokens, "cached_content_token_count"),
        reasoning=thought,
    )
