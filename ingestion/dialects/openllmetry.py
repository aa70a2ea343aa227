"""OpenLLMetry and what was made from it: ``traceloop.*``, ``agentops.*``, and indexed ``gen_ai.prompt.N.*``.

Source: Traceloop OpenLLMetry semantic conventions (``traceloop.span.kind``, ``traceloop.entity.input`` and
``.output``, ``gen_ai.prompt.N.role|content|tool_calls.M.*``, ``gen_ai.completion.N.*``, before that ``llm.prompts.N.*``
and ``llm.completions.N.*``, ``llm.request.type``, ``llm.usage.*``); AgentOps writes the same under ``agentops.``.
An entity's input and output are JSON: the arguments of a decorated function, or the run of a chain;
``gen_ai.task.input`` and ``.output`` repeat them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from governance.records.content import SpanContent
from governance.records.message import Message, Role
from governance.records.span import Span
from ingestion.dialects import langchain
from ingestion.dialects.forms import Form, richest
from ingestion.dialects.indexed import collect, indexed_keys
from ingestion.dialects.messages import read_arguments, read_message, read_result
from ingestion.dialects.payload import called_with, read_payload
from ingestion.dialects.values import EXECUTE_TOOL, NOTHING, count, present, string, structured, unquoted, usage

CONTENT_EVENTS: Final[frozenset[str]] = frozenset()
_PROMPTS: Final = ("gen_ai.prompt", "gen_ai.input.messages", "llm.prompts")
_COMPLETIONS: Final = ("gen_ai.completion", "gen_ai.output.messages", "llm.completions")
_INPUTS: Final = ("traceloop.entity.input", "agentops.entity.input", "gen_ai.task.input")
_OUTPUTS: Final = ("traceloop.entity.output", "agentops.entity.output", "gen_ai.task.output")
_KINDS: Final = ("traceloop.span.kind", "agentops.span.kind")
_NAMES: Final = ("traceloop.entity.name", "agentops.entity.name", "tool.name")
_OPERATIONS: Final = {
    "tool": EXECUTE_TOOL, "agent": "invoke_agent", "workflow": "invoke_workflow", "session": "invoke_workflow",
    "llm": "chat",
}  # fmt: skip
_REQUESTS: Final = {"chat": "chat", "completion": "chat", "embedding": "embeddings", "rerank": "rerank"}
_HEADS: Final = (
    "traceloop.", "agentops.", "llm.", "usage.", *(f"{prefix}." for prefix in (*_PROMPTS, *_COMPLETIONS)),
)  # fmt: skip


def speaks(keys: Collection[str], events: Collection[str]) -> bool:  # noqa: ARG001  (every dialect is asked alike)
    """Whether a span with these attributes and events says anything in this dialect."""
    return any(key.startswith(_HEADS) for key in keys)


def content_keys(attributes: dict[str, Any]) -> set[str]:
    """The attributes that this dialect takes out of a span."""
    return {key for key in (*_INPUTS, *_OUTPUTS) if key in attributes} | indexed_keys(
        attributes, (*_PROMPTS, *_COMPLETIONS)
    )


def read(span: Span) -> SpanContent:
    """What the span says in this dialect."""
    attributes = span.attributes
    if not speaks(span.attributes, {event.name for event in span.events}):
        return NOTHING
    notes: set[str] = set()
    operation = _operation(attributes)
    tool = operation == EXECUTE_TOOL
    input_ = Form((), frozenset()) if tool else _side(attributes, _PROMPTS, _INPUTS, Role.USER)
    output = Form((), frozenset()) if tool else _side(attributes, _COMPLETIONS, _OUTPUTS, Role.ASSISTANT)
    return SpanContent(
        operation=operation,
        input=input_.messages,
        output=output.messages,
        tool_name=(string(attributes, *_NAMES) or span.name) if tool else None,
        tool_call_id=string(attributes, "tool.call.id", "tool_call.id") if tool else None,
        tool_arguments=_arguments(attributes, notes) if tool else None,
        tool_result=_result(attributes, notes) if tool else None,
        usage=usage(
            count(attributes, "llm.usage.prompt_tokens", "usage.prompt_tokens"),
            count(attributes, "llm.usage.completion_tokens", "usage.completion_tokens"),
            cache_read=count(attributes, "llm.usage.cache_read_input_tokens"),
            cache_write=count(attributes, "llm.usage.cache_creation_input_tokens"),
            reasoning=count(attributes, "llm.usage.reasoning_tokens"),
        ),
        flags=tuple(sorted(notes | input_.flags | output.flags)),
    )


def _operation(attributes: dict[str, Any]) -> str | None:
    kind = string(attributes, *_KINDS)
    if kind is not None:
        return _OPERATIONS.get(kind.lower())
    request = string(attributes, "llm.request.type")
    return None if request is None else _REQUESTS.get(request, request)


def _side(attributes: dict[str, Any], prefixes: tuple[str, ...], keys: tuple[str, ...], role: Role) -> Form:
    """The indexed messages; an entity's plain value where it says more."""
    forms = []
    for prefix in prefixes:
        notes: set[str] = set()
        forms.append(Form(_indexed(attributes, prefix, role, notes), frozenset(notes)))
    plain: set[str] = set()
    forms.append(Form(read_payload(_entity(present(attributes, *keys), plain), role, plain), frozenset(plain)))
    return richest(forms)


def _indexed(attributes: dict[str, Any], prefix: str, role: Role, notes: set[str]) -> tuple[Message, ...]:
    messages = []
    for item in collect(attributes, prefix, notes):
        calls = [
            {key: part.get(key) for key in ("id", "name", "arguments")} for part in collect(item, "tool_calls", notes)
        ]
        body = {**item, "content": structured(item.get("content", item.get("")), notes), "tool_calls": calls}
        name = string(item, "function_call.name")
        if name is not None:
            body["function_call"] = {"name": name, "arguments": item.get("function_call.arguments")}
        messages.append(read_message(body, role, notes))
    return tuple(message for message in messages if message is not None)


def _entity(value: Any, notes: set[str]) -> Any:
    """The run of a chain without what surrounds its inputs or outputs."""
    parsed = unquoted(value, notes)
    if isinstance(parsed, dict):
        inner = present(parsed, "inputs", "outputs", "input_str", "output")
        if inner is not None and parsed.keys() <= _AROUND:
            return inner
    return called_with(value, notes)


_AROUND: Final = frozenset(
    {"inputs", "outputs", "input_str", "output", "tags", "metadata", "kwargs", "args", "run_id", "name"}
)


def _arguments(attributes: dict[str, Any], notes: set[str]) -> Any:
    value = _entity(langchain.arguments(present(attributes, *_INPUTS)).value, notes)
    return None if value is None else read_arguments(value, notes)[0]


def _result(attributes: dict[str, Any], notes: set[str]) -> Any:
    told = langchain.result(present(attributes, *_OUTPUTS), set())
    if told.call_id is not None:
        return told.value
    return read_result(_entity(present(attributes, *_OUTPUTS), notes), notes)
