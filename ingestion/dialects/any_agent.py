"""any-agent: ``gen_ai.output`` and ``gen_ai.tool.args`` beside the GenAI convention, and plain ``input``/``output``.

Source: Mozilla any-agent's tracing attributes. ``gen_ai.output`` is a text, or of a model that asks for tools a list
of ``tool.name`` and ``tool.args``; on a tool span it is the answer. Home-made spans write ``input`` and ``output``.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from governance.records.content import SpanContent
from governance.records.message import Message, Role
from governance.records.span import Span
from ingestion.dialects.messages import read_arguments, read_message, read_result
from ingestion.dialects.payload import read_payload
from ingestion.dialects.values import EXECUTE_TOOL, NOTHING, operation_name, present, string, structured

CONTENT_EVENTS: Final[frozenset[str]] = frozenset()
_ARGUMENTS: Final = ("gen_ai.tool.args", "gen_ai.input", "input")
_INPUTS: Final = ("gen_ai.input", "input")
_OUTPUTS: Final = ("gen_ai.output", "output")
_KEYS: Final = frozenset({*_ARGUMENTS, *_OUTPUTS})


def speaks(keys: Collection[str], events: Collection[str]) -> bool:  # noqa: ARG001  (every dialect is asked alike)
    """Whether a span with these attributes and events says anything in this dialect."""
    return not _KEYS.isdisjoint(keys)


def content_keys(attributes: dict[str, Any]) -> set[str]:
    """The attributes that this dialect takes out of a span."""
    return set(_KEYS.intersection(attributes))


def read(span: Span) -> SpanContent:
    """What the span says in this dialect."""
    attributes = span.attributes
    if not speaks(span.attributes, {event.name for event in span.events}):
        return NOTHING
    notes: set[str] = set()
    name = string(attributes, "gen_ai.operation.name")
    tool = "gen_ai.tool.args" in attributes or (name is not None and operation_name(name) == EXECUTE_TOOL)
    if tool:
        asked = present(attributes, *_ARGUMENTS)
        return SpanContent(
            tool_name=string(attributes, "gen_ai.tool.name"),
            tool_arguments=None if asked is None else read_arguments(asked, notes)[0],
            tool_result=read_result(present(attributes, *_OUTPUTS), notes),
            flags=tuple(sorted(notes)),
        )
    return SpanContent(
        input=read_payload(present(attributes, *_INPUTS), Role.USER, notes),
        output=_output(present(attributes, *_OUTPUTS), notes),
        flags=tuple(sorted(notes)),
    )


def _output(value: Any, notes: set[str]) -> tuple[Message, ...]:
    asked = structured(value, notes)
    if isinstance(asked, list) and asked and all(isinstance(item, dict) and "tool.name" in item for item in asked):
        calls = [{"name": item["tool.name"], "arguments": item.get("tool.args")} for item in asked]
        message = read_message({"role": "assistant", "tool_calls": calls}, Role.ASSISTANT, notes)
        return () if message is None else (message,)
    return read_payload(value, Role.ASSISTANT, notes)
