"""OpenTelemetry GenAI semantic conventions, in every form that they had.

Source: OpenTelemetry semantic conventions for generative AI (attributes ``gen_ai.*``, events
``gen_ai.client.inference.operation.details`` and ``gen_ai.evaluation.result``); for the older forms, the per-message
events of 1.28 to 1.36, ``gen_ai.content.*`` events, and the indexed ``gen_ai.prompt.N.*`` of OpenLLMetry.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Final

from governance.records.content import Evaluation, SpanContent
from governance.records.message import Message, Role
from governance.records.span import Span, SpanEvent
from governance.records.trajectory import Usage
from ingestion.dialects.forms import Form, richest
from ingestion.dialects.indexed import collect, keys_under
from ingestion.dialects.messages import read_arguments, read_message, read_messages, read_result

DETAILS: Final = "gen_ai.client.inference.operation.details"
EVALUATION: Final = "gen_ai.evaluation.result"
_MESSAGE_EVENTS: Final = {
    "gen_ai.system.message": Role.SYSTEM,
    "gen_ai.user.message": Role.USER,
    "gen_ai.assistant.message": Role.ASSISTANT,
    "gen_ai.tool.message": Role.TOOL,
}
_CHOICE: Final = "gen_ai.choice"
_CONTENT_EVENTS: Final = ("gen_ai.content.prompt", "gen_ai.content.completion")
CONTENT_KEYS: Final = (
    "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions", "gen_ai.prompt",
    "gen_ai.completion", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result", "gen_ai.tool.args", "gen_ai.output",
    "gen_ai.input", "input", "output", "tool_arguments", "tool_response", "traceloop.entity.input",
    "traceloop.entity.output", "all_messages_events", "pydantic_ai.all_messages", "final_result", "events",
    "gen_ai.retrieval.documents", "gen_ai.retrieval.query.text",
)  # fmt: skip
"""Attributes that hold what was said; ``gen_ai.output`` and ``gen_ai.input`` hold only themselves."""
_EXACT: Final = frozenset({"gen_ai.output", "gen_ai.input", "input", "output", "events"})
CONTENT_EVENTS: Final = frozenset({DETAILS, EVALUATION, _CHOICE, *_MESSAGE_EVENTS, *_CONTENT_EVENTS})
_OPERATIONS: Final = {"call_llm": "chat", "text_completion": "chat", "generate_content": "chat", "completion": "chat"}
_TRACELOOP: Final = {"tool": "execute_tool", "agent": "invoke_agent", "workflow": "invoke_workflow", "task": None}
_ARGUMENT_KEYS: Final = (
    "gen_ai.tool.call.arguments", "gen_ai.tool.args", "tool_arguments", "traceloop.entity.input", "input",
)  # fmt: skip
_RESULT_KEYS: Final = (
    "gen_ai.tool.call.result", "tool_response", "traceloop.entity.output", "gen_ai.output", "output",
)  # fmt: skip
_Reader = Callable[[Span, set[str]], tuple[Message, ...]]


def content_keys(attributes: dict[str, Any]) -> set[str]:
    """The attributes that this dialect takes out of a span."""
    exact = {key for key in attributes if key in _EXACT}
    return exact | keys_under(attributes, tuple(key for key in CONTENT_KEYS if key not in _EXACT))


def read(span: Span) -> SpanContent:
    """What the span says in this dialect."""
    notes: set[str] = set()
    operation = _operation(span)
    attributes = span.attributes
    tool = operation == "execute_tool"
    arguments, result = _tool(span, notes) if tool else (None, None)
    empty = Form((), frozenset())
    input_ = empty if tool else richest(_forms(span, _INPUT_FORMS))
    output = empty if tool else richest(_forms(span, _OUTPUT_FORMS))
    return SpanContent(
        operation=operation,
        input=_with_instructions(input_.messages, attributes, notes),
        output=output.messages,
        tool_name=_string(attributes, "gen_ai.tool.name", "traceloop.entity.name") if tool else None,
        tool_call_id=_string(attributes, "gen_ai.tool.call.id") if tool else None,
        tool_arguments=arguments,
        tool_result=result,
        evaluations=tuple(_evaluations(span)),
        usage=_usage(attributes),
        flags=tuple(sorted(notes | input_.flags | output.flags)),
    )


def _string(attributes: dict[str, Any], *keys: str) -> str | None:
    return next((attributes[key] for key in keys if isinstance(attributes.get(key), str) and attributes[key]), None)


def _operation(span: Span) -> str | None:
    name = _string(span.attributes, "gen_ai.operation.name")
    if name is not None:
        return _OPERATIONS.get(name, name)
    kind = _string(span.attributes, "traceloop.span.kind")
    if kind in _TRACELOOP:
        return _TRACELOOP[kind]
    legacy = _string(span.attributes, "llm.request.type")
    return "chat" if legacy in ("chat", "completion") else legacy


def _forms(span: Span, readers: tuple[_Reader, ...]) -> Iterator[Form]:
    for reader in readers:
        notes: set[str] = set()
        messages = reader(span, notes)
        yield Form(messages, frozenset(notes))


def _attribute(key: str, role: Role) -> _Reader:
    def reader(span: Span, notes: set[str]) -> tuple[Message, ...]:
        return read_messages(span.attributes.get(key), role, notes) if key in span.attributes else ()

    return reader


def _details(key: str, role: Role) -> _Reader:
    def reader(span: Span, notes: set[str]) -> tuple[Message, ...]:
        for event in span.events:
            if event.name == DETAILS and event.attributes.get(key) is not None:
                return read_messages(event.attributes[key], role, notes)
        return ()

    return reader


def _message_events(span: Span, notes: set[str]) -> tuple[Message, ...]:
    events = [event for event in span.events if event.name in _MESSAGE_EVENTS]
    messages = (_from_event(event, _MESSAGE_EVENTS[event.name], notes) for event in events)
    return tuple(message for message in messages if message is not None)


def _choice_events(span: Span, notes: set[str]) -> tuple[Message, ...]:
    messages = (_from_event(event, Role.ASSISTANT, notes) for event in span.events if event.name == _CHOICE)
    return tuple(message for message in messages if message is not None)


def _from_event(event: SpanEvent, role: Role, notes: set[str]) -> Message | None:
    body: dict[str, Any] = {}
    for key, value in event.attributes.items():
        if key in ("content", "message", "tool_calls", "id", "role", "tool_call_id", "parts"):
            body[key] = _structured(value, notes)
        elif key in ("gen_ai.event.content", "body"):
            inner = _structured(value, notes)
            body.update(inner if isinstance(inner, dict) else {"content": inner})
    return read_message({"role": role.value, **body}, role, notes) if body else None


def _structured(value: Any, notes: set[str]) -> Any:
    """The list or object that a text holds; any other text is itself."""
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        parsed = read_result(value, notes)
        return parsed if isinstance(parsed, dict | list) else value
    return value


def _content_event(name: str, key: str, role: Role) -> _Reader:
    def reader(span: Span, notes: set[str]) -> tuple[Message, ...]:
        values = [event.attributes.get(key) for event in span.events if event.name == name]
        return tuple(message for value in values for message in read_messages(value, role, notes))

    return reader


def _indexed(prefix: str, role: Role) -> _Reader:
    def reader(span: Span, notes: set[str]) -> tuple[Message, ...]:
        messages = []
        for item in collect(span.attributes, prefix, notes):
            calls = [
                {"id": part.get("id"), "name": part.get("name"), "arguments": part.get("arguments")}
                for part in collect(item, "tool_calls", notes)
            ]
            body = {**item, "content": _structured(item.get("content"), notes), "tool_calls": calls}
            messages.append(read_message(body, role, notes))
        return tuple(message for message in messages if message is not None)

    return reader


def _agno_output(span: Span, notes: set[str]) -> tuple[Message, ...]:
    """``gen_ai.output``: a text, or a list of ``tool.name`` and ``tool.args`` (any-agent)."""
    value = _structured(span.attributes.get("gen_ai.output"), notes)
    if isinstance(value, list) and value and all(isinstance(item, dict) and "tool.name" in item for item in value):
        calls = [{"name": item["tool.name"], "arguments": item.get("tool.args")} for item in value]
        message = read_message({"role": "assistant", "tool_calls": calls}, Role.ASSISTANT, notes)
        return () if message is None else (message,)
    text = span.attributes.get("gen_ai.output")
    message = read_message(text, Role.ASSISTANT, notes) if isinstance(text, str) else None
    return () if message is None else (message,)


_INPUT_FORMS: Final[tuple[_Reader, ...]] = (
    _attribute("gen_ai.input.messages", Role.USER),
    _details("gen_ai.input.messages", Role.USER),
    _message_events,
    _attribute("gen_ai.prompt", Role.USER),
    _content_event("gen_ai.content.prompt", "gen_ai.prompt", Role.USER),
    _indexed("gen_ai.prompt", Role.USER),
)
_OUTPUT_FORMS: Final[tuple[_Reader, ...]] = (
    _attribute("gen_ai.output.messages", Role.ASSISTANT),
    _details("gen_ai.output.messages", Role.ASSISTANT),
    _choice_events,
    _attribute("gen_ai.completion", Role.ASSISTANT),
    _content_event("gen_ai.content.completion", "gen_ai.completion", Role.ASSISTANT),
    _indexed("gen_ai.completion", Role.ASSISTANT),
    _agno_output,
)


def _with_instructions(messages: tuple[Message, ...], attributes: dict[str, Any], notes: set[str]) -> Any:
    """System instructions stand first, unless the messages have their own."""
    value = attributes.get("gen_ai.system_instructions")
    if value is None or any(message.role is Role.SYSTEM for message in messages):
        return messages
    structured = _structured(value, notes)
    body = {"role": "system", "parts": structured} if isinstance(structured, list) else structured
    system = read_message(body, Role.SYSTEM, notes)
    return messages if system is None else (system.model_copy(update={"role": Role.SYSTEM}), *messages)


def _tool(span: Span, notes: set[str]) -> tuple[Any, Any]:
    """Arguments and result of a tool span: attributes, else the events that some agents write."""
    attributes = dict(span.attributes)
    for event in span.events:
        if event.name == "gen_ai.tool.message":
            attributes.setdefault("input", event.attributes.get("content"))
        elif event.name == _CHOICE:
            attributes.setdefault("output", event.attributes.get("message", event.attributes.get("content")))
    raw = next((attributes[key] for key in _ARGUMENT_KEYS if attributes.get(key) is not None), None)
    arguments, _ = read_arguments(raw, notes) if raw is not None else (None, False)
    result = next((attributes[key] for key in _RESULT_KEYS if attributes.get(key) is not None), None)
    return arguments, read_result(result, notes)


def _evaluations(span: Span) -> Iterator[Evaluation]:
    for event in span.events:
        name = _string(event.attributes, "gen_ai.evaluation.name")
        if event.name != EVALUATION or name is None:
            continue
        score = event.attributes.get("gen_ai.evaluation.score.value")
        number = isinstance(score, int | float) and not isinstance(score, bool) and math.isfinite(score)
        yield Evaluation(
            name=name,
            score=float(score) if number and score is not None else None,
            label=_string(event.attributes, "gen_ai.evaluation.score.label"),
            explanation=_string(event.attributes, "gen_ai.evaluation.explanation"),
            at_unix_nano=event.time_unix_nano,
        )


def count(attributes: dict[str, Any], *keys: str) -> int | None:
    """The first of these attributes that is a count."""
    values = (attributes.get(key) for key in keys)
    return next((v for v in values if isinstance(v, int) and not isinstance(v, bool) and v >= 0), None)


def _usage(attributes: dict[str, Any]) -> Usage | None:
    input_ = count(attributes, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "usage.prompt_tokens")
    output = count(
        attributes, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "usage.completion_tokens"
    )
    return None if input_ is None and output is None else Usage(input_tokens=input_ or 0, output_tokens=output or 0)
