"""A span as a file describes it, on its way to a ``Span``.

1. Ids follow ``ids``, times ``times``, attributes ``values``; a span without ids is refused with its place.
2. What had to be derived stands in the span: ``tidemill.import.id`` and ``tidemill.import.trace_id`` are the originals
   of ids that changed, ``tidemill.import.derived`` names the fields whose value the file does not have.
3. ``say`` adds what the file's own fields say, as ``gen_ai.*`` attributes, and only where no dialect reads it from the
   original attributes: the original wins, and nothing is doubled.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import ValidationError

from governance.records.span import Span, SpanEvent
from ingestion import dialects
from ingestion.dialects.genai import EVALUATION
from ingestion.importers import ids
from ingestion.importers.form import Refused
from ingestion.importers.times import place, unix_nano
from ingestion.importers.values import attributes, count, first, json_text, obj, seq, text
from ingestion.text import clean

_STATUS: Final = {"unset": 0, "ok": 1, "success": 1, "error": 2, "failed": 2}
_KINDS: Final = ("unspecified", "internal", "server", "client", "producer", "consumer")
_SILENT: Final = frozenset({"embeddings", "embedding", "retrieval", "rerank"})


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What a file says of one span, in its own words."""

    trace: Any
    span: Any
    parent: Any = None
    name: Any = ""
    kind: Any = 0
    start: Any = None
    end: Any = None
    closed: bool = False
    """Whether a span without an end has ended: the form does not know open ones."""
    status: Any = None
    status_message: Any = ""
    attributes: dict[str, Any] = field(default_factory=dict)
    events: tuple[SpanEvent, ...] = ()
    resource: dict[str, Any] = field(default_factory=dict)
    scope: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Said:
    """What the file's own fields say of a span."""

    operation: str | None = None
    input: Any = None
    """Messages, a message, or a text."""
    output: Any = None
    tool_name: Any = None
    tool_call_id: Any = None
    arguments: Any = None
    result: Any = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    more: dict[str, Any] = field(default_factory=dict)
    """Further attributes, taken where the span has none of that name."""


def finish(draft: Draft, form: str, where: str, position: int = 0) -> Span | Refused:
    """The span of a draft."""
    trace, span = ids.trace_id(draft.trace, form), ids.span_id(draft.span, form)
    if trace is None or span is None:
        return Refused(where=where, reason="no trace id" if trace is None else "no span id")
    notes: set[str] = set()
    parent = ids.span_id(draft.parent, form)
    start, end, derived = _times(draft, position)
    scope = obj(draft.scope)
    try:
        return Span(
            trace_id=trace,
            span_id=span,
            parent_span_id=None if parent == span else parent,
            name=clean(text(draft.name), notes),
            kind=_kind(draft.kind),
            start_unix_nano=start,
            end_unix_nano=end,
            status_code=status_code(draft.status),
            status_message=clean(text(draft.status_message), notes),
            attributes=attributes(draft.attributes, notes) | _provenance(draft, trace, span, form, derived),
            events=draft.events,
            resource=attributes(obj(draft.resource), notes),
            scope_name=clean(text(scope.get("name")), notes),
            scope_version=clean(text(scope.get("version")), notes),
        )
    except (ValidationError, ValueError, RecursionError) as error:
        return Refused(where=where, reason=f"not a span: {str(error)[:200]}")


def _times(draft: Draft, position: int) -> tuple[int, int, list[str]]:
    derived = []
    start, end = unix_nano(draft.start), unix_nano(draft.end)
    if not start:
        derived.append("start")
        start = end or place(position)
    if not end and draft.closed:
        derived.append("end")
        end = start
    return start, end, derived


def _provenance(draft: Draft, trace: str, span: str, form: str, derived: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {"tidemill.import.form": form}
    for key, original, made in (("id", draft.span, span), ("trace_id", draft.trace, trace)):
        name = clean(ids.as_text(original), set())
        if name and name.lower().removeprefix("0x") != made:
            found[f"tidemill.import.{key}"] = name[:512]
    return found | ({"tidemill.import.derived": derived} if derived else {})


def status_code(value: Any) -> int:
    """OTLP's code of a status in numbers or words."""
    if isinstance(value, str):
        return _STATUS.get(value.rpartition(".")[2].lower().removeprefix("status_code_"), 0)
    return value if isinstance(value, int) and not isinstance(value, bool) and value in (0, 1, 2) else 0


def _kind(value: Any) -> int:
    if isinstance(value, str):
        word = value.rpartition(".")[2].lower().removeprefix("span_kind_")
        return _KINDS.index(word) if word in _KINDS else 0
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(_KINDS) else 0


def events(raw: Any, otherwise_at: int = 0) -> tuple[SpanEvent, ...]:
    """Events in the spellings of OpenTelemetry's SDKs."""
    found, notes = [], set[str]()
    for item in seq(raw):
        event = obj(item)
        fields = obj(first(event, "attributes", "Attributes", "event_attributes"))
        body = {"body": event["body"]} if event.get("body") is not None else {}
        at = unix_nano(first(event, "timestamp", "time", "Timestamp", "time_unix_nano", "timeUnixNano"))
        name = text(first(event, "name", "Name", "event_name"))
        attributes_ = attributes(fields | body, notes)
        found.append(SpanEvent(name=clean(name, notes), time_unix_nano=at or otherwise_at, attributes=attributes_))
    return tuple(found)


def evaluation(  # noqa: PLR0917 - one grade
    name: str, value: Any, explanation: Any, at: int, id_: str = "", label: Any = None
) -> SpanEvent:
    """A grade as the event of the GenAI conventions: a number is a score, anything else a label.

    ``id_`` is its id in the tool that it comes from (``id_in``), so the same grade again is no new one.
    """
    number = isinstance(value, int | float) and abs(value) < 2**53  # a truth value is the score 0 or 1
    word = label if number or value is None else value
    fields = {
        "gen_ai.evaluation.name": name,
        "gen_ai.evaluation.score.value": float(value) if number else None,
        "gen_ai.evaluation.score.label": None if word is None else json_text(word),
        "gen_ai.evaluation.explanation": explanation if isinstance(explanation, str) and explanation else None,
        "tidemill.feedback.id": id_ or None,
    }
    return SpanEvent(name=EVALUATION, time_unix_nano=at, attributes=attributes(fields, set()))


def id_in(form: str, original: Any) -> str:
    """The id of a grade in its tool, as the id of the feedback that it becomes; empty where it has none."""
    name = clean(ids.as_text(original).strip(), set())[:200]
    return f"{form}/{name}" if name else ""


def say(span: Span | Refused, said: Said) -> Span | Refused:
    """The span with what its file says of it, where its attributes do not say it."""
    if isinstance(span, Refused):
        return span
    reading = dialects.read(span)
    operation = reading.operation or said.operation
    added: dict[str, Any] = {key: value for key, value in said.more.items() if key not in span.attributes}
    if reading.operation is None:
        added["gen_ai.operation.name"] = said.operation
    if operation == "execute_tool":
        if reading.tool_arguments is None and reading.tool_result is None:
            added |= _tool(said)
    elif operation not in _SILENT:
        added["gen_ai.input.messages"] = None if reading.input else _texts(said.input)
        added["gen_ai.output.messages"] = None if reading.output else _texts(said.output)
    if reading.usage is None:
        added["gen_ai.usage.input_tokens"] = count(said.input_tokens)
        added["gen_ai.usage.output_tokens"] = count(said.output_tokens)
    return span.model_copy(update={"attributes": span.attributes | attributes(added, set())})


def _texts(value: Any) -> Any:
    return None if value in (None, "", [], {}) else json_text(value)


def _tool(said: Said) -> dict[str, Any]:
    return {
        "gen_ai.tool.name": text(said.tool_name) or None,
        "gen_ai.tool.call.id": text(said.tool_call_id) or None,
        "gen_ai.tool.call.arguments": None if said.arguments is None else json_text(said.arguments),
        "gen_ai.tool.call.result": None if said.result is None else json_text(said.result),
    }
