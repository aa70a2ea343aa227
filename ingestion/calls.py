"""The executed tool calls of a trace, in order, each once."""

from __future__ import annotations

from typing import Any, Final

from governance.records.base import from_unix_nano
from governance.records.content import AdmittedSpan
from governance.records.trajectory import ToolInvocation
from ingestion.actors import actor
from ingestion.tree import Tree

STATUS_ERROR: Final = 2
"""OTLP's STATUS_CODE_ERROR."""


_NAMES: Final = ("gen_ai.tool.name", "tool.name", "tool_name", "function_name")


def tool_spans(tree: Tree) -> list[AdmittedSpan]:
    """Executed tools in order; a span inside one of the same name and call is that call again."""
    return [
        item
        for span_id, item in tree.spans.items()
        if tree.operation(span_id) == "execute_tool" and not _repeats(item, tree)
    ]


def _repeats(item: AdmittedSpan, tree: Tree) -> bool:
    name, id_ = tool_name(item), call_id(item)
    return any(
        tree.operation(above.span.span_id) == "execute_tool"
        and tool_name(above) == name
        and (id_ is None or call_id(above) in (None, id_))
        for above in tree.ancestors(item.span.span_id)
    )


def tool_name(item: AdmittedSpan) -> str:
    """The tool of a span."""
    content_name = None if item.content is None else item.content.tool_name
    attributes = item.span.attributes
    names = (content_name, *(attributes.get(key) for key in _NAMES))
    return next((str(name) for name in names if name), item.span.name.removeprefix("execute_tool ") or "unknown")


def call_id(item: AdmittedSpan) -> str | None:
    """The id of the call that a span describes."""
    content_id = None if item.content is None else item.content.tool_call_id
    value = content_id or item.span.attributes.get("gen_ai.tool.call.id")
    return str(value) if value else None


def invocation(item: AdmittedSpan, tree: Tree) -> ToolInvocation:
    """The call that a tool span describes."""
    span, content = item.span, item.content
    error, error_type = tool_error(item)
    return ToolInvocation(
        span_id=span.span_id,
        call_id=call_id(item) or span.span_id,
        name=tool_name(item),
        arguments=None if content is None else content.tool_arguments,
        result=None if content is None else content.tool_result,
        error=error,
        error_type=error_type,
        actor=actor(item, tree),
        started_at=from_unix_nano(span.start_unix_nano),
    )


def tool_error(item: AdmittedSpan) -> tuple[str | None, str | None]:
    """A tool's error text and type; two Nones when it succeeded."""
    span = item.span
    exception: dict[str, Any] = next((event.attributes for event in span.events if event.name == "exception"), {})
    failed = span.status_code == STATUS_ERROR
    stated = span.attributes.get("error.type") or span.attributes.get("error_type")
    error_type = stated or (exception.get("exception.type") if failed else None)
    if not failed and not error_type:
        return None, None
    text = span.status_message or exception.get("exception.message") or error_type or "error"
    return str(text), str(error_type) if error_type else None
