"""OpenTelemetry GenAI semantic conventions, in every form that they had.

Source: OpenTelemetry semantic conventions for generative AI (attributes ``gen_ai.*``, events
``gen_ai.client.inference.operation.details`` and ``gen_ai.evaluation.result``); for the older forms, the per-message
events of 1.28 to 1.36, and ``gen_ai.prompt`` and ``gen_ai.completion`` as attributes and in ``gen_ai.content.*``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple

from governance.records.content import Evaluation, SpanContent
from governance.records.message import Message, Role, ToolCallPart, ToolResultPart
from governance.records.span import Span
from governance.records.usage import Usage
from ingestion.dialects import events, langchain
from ingestion.dialects.forms import NO_FLAGS, Form, richest
from ingestion.dialects.messages import CORRUPT, read_arguments, read_messages, read_result, with_instructions
from ingestion.dialects.values import EXECUTE_TOOL, NOTHING, added, amount, count, operation_name, string, usage

DETAILS: Final = "gen_ai.client.inference.operation.details"
EVALUATION: Final = "gen_ai.evaluation.result"
CONTENT_KEYS: Final = frozenset(
    {
        "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions", "gen_ai.prompt",
        "gen_ai.completion", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result", "gen_ai.retrieval.documents",
        "gen_ai.retrieval.query.text",
    }
)  # fmt: skip
"""Attributes that hold what was said."""
CONTENT_EVENTS: Final = frozenset(
    {DETAILS, EVALUATION, events.CHOICE, *events.MESSAGES, "gen_ai.content.prompt", "gen_ai.content.completion"}
)
_Reader = Callable[[Span, set[str]], tuple[Message, ...]]


def speaks(keys: Collection[str], names: Collection[str]) -> bool:
    """Whether a span with these attributes and events says anything in this dialect."""
    return bool(names) or any(key.startswith("gen_ai.") for key in keys)


def content_keys(attributes: dict[str, Any]) -> set[str]:
    """The attributes that this dialect takes out of a span."""
    return set(CONTENT_KEYS.intersection(attributes))


def read(span: Span) -> SpanContent:
    """What the span says in this dialect."""
    attributes = span.attributes
    if not span.events and not _spoken(frozenset(attributes)):
        return NOTHING
    name = string(attributes, "gen_ai.operation.name")
    operation = None if name is None else operation_name(name)
    tool = operation == EXECUTE_TOOL
    input_, output = _side(span, _INPUT_FORMS), _side(span, _OUTPUT_FORMS)
    notes: set[str] = set() if tool else set(input_.flags | output.flags)
    arguments, result = _tool(span, input_, output, notes) if tool else (None, _documents(attributes, notes))
    instructions, query = attributes.get("gen_ai.system_instructions"), attributes.get("gen_ai.retrieval.query.text")
    asked = with_instructions(input_.messages, instructions, notes) or read_messages(query, Role.USER, notes)
    return SpanContent.proven(
        operation=operation,
        input=() if tool else asked,
        output=() if tool else output.messages,
        tool_name=string(attributes, "gen_ai.tool.name") if tool else None,
        tool_call_id=_call_id(attributes, notes) if tool else None,
        tool_arguments=arguments,
        tool_result=result,
        evaluations=tuple(_evaluations(span)) if span.events else (),
        usage=_usage(attributes),
        flags=tuple(sorted(notes)) if notes else (),
    )


@lru_cache(maxsize=1024)
def _spoken(keys: frozenset[str]) -> bool:
    """Instrumentations have few sets of keys."""
    return speaks(keys, ())


class _Source(NamedTuple):
    """One of the places where a side may stand."""

    read: _Reader
    attribute: str | None = None
    """Where it stands; None for events."""


def _side(span: Span, sources: tuple[_Source, ...]) -> Form:
    """What is said on one side: the richest of what the places hold that are there."""
    attributes, events_ = span.attributes, span.events
    forms: list[Form] = []
    for reader, key in sources:
        if events_ if key is None else key in attributes:
            notes: set[str] = set()
            messages = reader(span, notes)
            forms.append(Form(messages, frozenset(notes) if notes else NO_FLAGS))
    return forms[0] if len(forms) == 1 else richest(forms)


def _attribute(key: str, role: Role) -> _Source:
    def reader(span: Span, notes: set[str]) -> tuple[Message, ...]:
        return read_messages(span.attributes[key], role, notes)

    return _Source(reader, key)


def _event(name: str, key: str, role: Role) -> _Reader:
    """The messages under a key of every event of that name, in order."""

    def reader(span: Span, notes: set[str]) -> tuple[Message, ...]:
        values = [event.attributes.get(key) for event in span.events if event.name == name]
        return tuple(message for value in values for message in read_messages(value, role, notes))

    return reader


def _details(key: str, role: Role) -> _Reader:
    """The richest of the events with the details of the call: each holds the whole of its side."""

    def reader(span: Span, notes: set[str]) -> tuple[Message, ...]:
        forms = []
        for event in span.events:
            if event.name == DETAILS and event.attributes.get(key) is not None:
                noticed: set[str] = set()
                forms.append(Form(read_messages(event.attributes[key], role, noticed), frozenset(noticed)))
        best = richest(forms)
        notes |= best.flags
        return best.messages

    return reader


def _message_events(span: Span, notes: set[str]) -> tuple[Message, ...]:
    return events.read_events(span.events, events.MESSAGES, notes)


def _choice_events(span: Span, notes: set[str]) -> tuple[Message, ...]:
    return events.read_events(span.events, {events.CHOICE: Role.ASSISTANT}, notes)


_INPUT_FORMS: Final = (
    _attribute("gen_ai.input.messages", Role.USER),
    _Source(_details("gen_ai.input.messages", Role.USER)),
    _Source(_message_events),
    _attribute("gen_ai.prompt", Role.USER),
    _Source(_event("gen_ai.content.prompt", "gen_ai.prompt", Role.USER)),
)
_OUTPUT_FORMS: Final = (
    _attribute("gen_ai.output.messages", Role.ASSISTANT),
    _Source(_details("gen_ai.output.messages", Role.ASSISTANT)),
    _Source(_choice_events),
    _attribute("gen_ai.completion", Role.ASSISTANT),
    _Source(_event("gen_ai.content.completion", "gen_ai.completion", Role.ASSISTANT)),
)


def _tool(span: Span, input_: Form, output: Form, notes: set[str]) -> tuple[Any, Any]:
    """Arguments and result of a tool span: its own attributes, else the call and the answer among its messages."""
    raw = span.attributes.get("gen_ai.tool.call.arguments")
    result = span.attributes.get("gen_ai.tool.call.result")
    asked = (part for message in input_.messages for part in message.parts if isinstance(part, ToolCallPart))
    said = (part for message in output.messages for part in message.parts if isinstance(part, ToolResultPart))
    call = next(asked, None) if raw is None else None
    if call is not None and call.corrupt:
        notes.add(CORRUPT)
    given = None if raw is None else read_arguments(langchain.arguments(raw).value, notes)[0]
    answer = next((part.response for part in said), None) if result is None else langchain.result(result, notes).value
    return given if call is None else call.arguments, answer


def _call_id(attributes: dict[str, Any], notes: set[str]) -> str | None:
    """The call's id, if only in the message that answers it."""
    stated = string(attributes, "gen_ai.tool.call.id")
    return stated or langchain.result(attributes.get("gen_ai.tool.call.result"), notes).call_id


def _documents(attributes: dict[str, Any], notes: set[str]) -> Any:
    """What a retrieval found."""
    return read_result(attributes.get("gen_ai.retrieval.documents"), notes)


def _evaluations(span: Span) -> Iterator[Evaluation]:
    for event in span.events:
        name = string(event.attributes, "gen_ai.evaluation.name")
        if event.name != EVALUATION or name is None:
            continue
        score = event.attributes.get("gen_ai.evaluation.score.value")
        number = isinstance(score, int | float) and not isinstance(score, bool) and math.isfinite(score)
        yield Evaluation(
            name=name,
            score=float(score) if number and score is not None else None,
            label=string(event.attributes, "gen_ai.evaluation.score.label"),
            explanation=string(event.attributes, "gen_ai.evaluation.explanation"),
            at_unix_nano=event.time_unix_nano,
            id=string(event.attributes, "tidemill.feedback.id"),
        )


def _usage(attributes: dict[str, Any]) -> Usage | None:
    if _DETAILED.isdisjoint(attributes):
        return usage(count(attributes, *_INPUT), count(attributes, *_OUTPUT))
    parts = added(amount(attributes, "gen_ai.usage.input_cost"), amount(attributes, "gen_ai.usage.output_cost"))
    cost = amount(attributes, *_COST)
    return usage(
        count(attributes, *_INPUT),
        count(attributes, *_OUTPUT),
        cache_read=count(attributes, *_CACHE_READ),
        cache_write=count(attributes, *_CACHE_WRITE),
        reasoning=count(attributes, *_REASONING),
        cost=parts if cost is None else cost,
    )


_INPUT: Final = ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")
_OUTPUT: Final = ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens")
_CACHE_READ: Final = (
    "gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens",
    "gen_ai.usage.details.cache_read_tokens", "gen_ai.usage.cached_input_tokens",
)  # fmt: skip
_CACHE_WRITE: Final = (
    "gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens",
    "gen_ai.usage.details.cache_write_tokens",
)  # fmt: skip
_REASONING: Final = (
    "gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens", "gen_ai.usage.reasoning_output_tokens",
    "gen_ai.usage.details.reasoning_tokens", "gen_ai.usage.details.thoughts_tokens",
)  # fmt: skip
_COST: Final = ("gen_ai.usage.cost", "gen_ai.usage.total_cost", "gen_ai.usage.cost.total", "operation.cost")
"""Totals: of the convention's users, since it defines none; ``operation.cost`` is Pydantic AI's and Logfire's."""
_DETAILED: Final = frozenset(
    {"gen_ai.usage.input_cost", "gen_ai.usage.output_cost", *_CACHE_READ, *_CACHE_WRITE, *_REASONING, *_COST}
)
"""Without any of these a span states its two counts at most."""
