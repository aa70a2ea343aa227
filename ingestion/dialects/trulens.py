"""TruLens: ``ai.observability.*``.

Source: TruLens OpenTelemetry semantic conventions (``ai.observability.span_type``, ``.record_root.input|output``,
``.retrieval.query_text`` and ``.retrieved_contexts``, ``.call.kwargs.*`` and ``.call.return``, ``.cost.*``). A value
that is a Python repr says nothing.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from governance.records.content import SpanContent
from governance.records.message import Message, Role
from governance.records.span import Span
from ingestion.dialects.indexed import keys_under
from ingestion.dialects.payload import read_payload
from ingestion.dialects.values import EXECUTE_TOOL, NOTHING, amount, count, present, string, usage

CONTENT_EVENTS: Final[frozenset[str]] = frozenset()
_HEAD: Final = "ai.observability."
_INPUT: Final = (f"{_HEAD}record_root.input", f"{_HEAD}retrieval.query_text")
_OUTPUT: Final = (f"{_HEAD}record_root.output", f"{_HEAD}call.return")
_FOUND: Final = f"{_HEAD}retrieval.retrieved_contexts"
_GIVEN: Final = f"{_HEAD}call.kwargs"
_ARGS, _WHY = f"{_HEAD}eval.args", f"{_HEAD}eval.explanation"
_KEYS: Final = (
    *_INPUT, *_OUTPUT, _FOUND, _GIVEN, _ARGS, _WHY, f"{_HEAD}record_root.ground_truth_output",
)  # fmt: skip
_OPERATIONS: Final = {
    "record_root": "invoke_agent", "agent": "invoke_agent", "generation": "chat", "retrieval": "retrieval",
    "reranking": "rerank", "tool": EXECUTE_TOOL, "workflow_step": "invoke_workflow", "eval": "evaluate",
    "eval_root": "evaluate",
}  # fmt: skip


def speaks(keys: Collection[str], events: Collection[str]) -> bool:  # noqa: ARG001  (every dialect is asked alike)
    """Whether a span with these attributes and events says anything in this dialect."""
    return any(key.startswith(_HEAD) for key in keys)


def content_keys(attributes: dict[str, Any]) -> set[str]:
    """The attributes that this dialect takes out of a span."""
    return keys_under(attributes, _KEYS)


def read(span: Span) -> SpanContent:
    """What the span says in this dialect."""
    attributes = span.attributes
    if not speaks(span.attributes, {event.name for event in span.events}):
        return NOTHING
    notes: set[str] = set()
    kind = string(attributes, f"{_HEAD}span_type")
    operation = None if kind is None else _OPERATIONS.get(kind.lower())
    given = {key.removeprefix(f"{_GIVEN}."): attributes[key] for key in sorted(keys_under(attributes, (_GIVEN,)))}
    said = operation in ("invoke_agent", "chat", "invoke_workflow", None)
    return SpanContent(
        operation=operation,
        input=_input(attributes, given, notes) if said else (),
        output=read_payload(present(attributes, *_OUTPUT), Role.ASSISTANT, notes) if said else (),
        tool_name=span.name if operation == EXECUTE_TOOL else None,
        tool_arguments=(given or present(attributes, *_INPUT, _ARGS)) if not said else None,
        tool_result=present(attributes, _FOUND, *_OUTPUT, _WHY) if not said else None,
        usage=usage(
            count(attributes, f"{_HEAD}cost.num_prompt_tokens"),
            count(attributes, f"{_HEAD}cost.num_completion_tokens"),
            cost=amount(attributes, f"{_HEAD}cost.cost"),
            currency=string(attributes, f"{_HEAD}cost.cost_currency"),
        ),
        flags=tuple(sorted(notes)),
    )


def _input(attributes: dict[str, Any], given: dict[str, Any], notes: set[str]) -> tuple[Message, ...]:
    """What was asked: the record's input, else what the function was called with."""
    asked = present(attributes, *_INPUT)
    return read_payload(asked if asked is not None else given, Role.USER, notes)
