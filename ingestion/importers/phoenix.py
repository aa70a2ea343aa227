"""Phoenix and other dumps of OpenTelemetry spans in JSON: one span an object, attributes as they were.

Source: Phoenix's span export (``context``, ``parent_id``, dotted or nested ``attributes``), ``ReadableSpan.to_json`` of
the Python SDK (ids with ``0x``, ISO times), the JavaScript SDK's readable span (``spanContext``, times as pairs), and
their relatives (``trace_id``, ``span_id``, ``start_time``). Spans come in a list, line by line, under ``spans``, as a
list of traces, or by name. An object of attributes alone (``openinference.span.kind``, ``gen_ai.operation.name``) is
one span; its ids come from its content. Annotations of a span (name, score, label, explanation) are grades of it.
Counts of tokens that a dump wrote as text are counts again.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

from governance.records.base import digest_bytes
from governance.records.span import Span, SpanEvent
from ingestion.importers.draft import Draft, evaluation, events, finish, id_in
from ingestion.importers.form import Document, FileForm, Refused
from ingestion.importers.times import unix_nano
from ingestion.importers.values import count, first, flat, is_objects, json_text, obj, parsed, seq, text

_ROOTS: Final = frozenset({
    "llm", "input", "output", "openinference", "tool", "tool_call", "retrieval", "embedding", "reranker", "session",
    "user", "agent", "graph", "message", "document", "gen_ai", "exception",
})  # fmt: skip
_BARE: Final = frozenset({"openinference.span.kind", "gen_ai.operation.name", "gen_ai.system", "gen_ai.provider.name"})
_SPAN_KINDS: Final = frozenset({
    "LLM", "CHAIN", "AGENT", "TOOL", "RETRIEVER", "EMBEDDING", "RERANKER", "GUARDRAIL", "EVALUATOR", "PROMPT",
})  # fmt: skip
"""Phoenix's ``span_kind``; OpenTelemetry's has other words."""
_TOKENS: Final = ("llm.token_count.", "gen_ai.usage.")


class Phoenix(FileForm):
    """Spans in JSON."""

    name = "phoenix"
    needs = "span objects with `attributes` and ids (`context`, `spanContext`, or `trace_id` and `span_id`)"

    def recognises(self, document: Document) -> bool:
        """By the first span, wherever it stands; or by the attributes of a single one."""
        head = next(_spans(document), None)
        return (head is not None and _is_span(head)) or _is_bare(document)

    def spans(self, document: Document, source: str) -> Iterator[Span | Refused]:
        """In the order of the file."""
        if _is_bare(document):
            name = digest_bytes(json_text(document).encode("utf-8", "surrogatepass"))
            yield finish(
                Draft(trace=name, span=name, name="span", closed=True, attributes=_counted(document)), self.name, source
            )
            return
        for position, item in enumerate(_spans(document)):
            where = f"{source}: span {position}"
            if not _is_span(item):
                yield Refused(where=where, reason="not a span: no ids or no attributes")
                continue
            yield finish(_draft(item), self.name, where, position)


def _spans(document: Document) -> Iterator[dict[str, Any]]:
    """The objects that should be spans: in a list, under ``spans`` (of one trace or of several), or under names."""
    if isinstance(document, dict):
        held = [value for value in document.values() if is_objects(value)]
        inner = document.get("spans")
        items: Any = inner if isinstance(inner, list) else [document] if _is_span(document) else chain(*held)
    else:
        items = seq(document)
    for item in items:
        fields = obj(item)
        nested = fields.get("spans")
        yield from (obj(one) for one in nested) if isinstance(nested, list) else (fields,)


def _is_span(item: dict[str, Any]) -> bool:
    span, trace = _ids(item)
    dotted = any(str(key).startswith("attributes.") for key in item)
    return span is not None and trace is not None and (isinstance(item.get("attributes"), dict | str) or dotted)


def _is_bare(document: Document) -> bool:
    return isinstance(document, dict) and bool(_BARE & document.keys()) and "attributes" not in document


def _ids(item: dict[str, Any]) -> tuple[Any, Any]:
    context = obj(first(item, "context", "spanContext", "span_context"))
    span = first(context, "span_id", "spanId") or first(item, "span_id", "spanId", "context.span_id")
    return span, first(context, "trace_id", "traceId") or first(item, "trace_id", "traceId", "context.trace_id")


def _parent(item: dict[str, Any]) -> Any:
    above = obj(first(item, "parent", "parentSpanContext", "parent_span_context"))
    found = first(item, "parent_span_id", "parent_id", "parentSpanId", "parentId")
    return found or first(above, "span_id", "spanId")


def _draft(item: dict[str, Any]) -> Draft:
    span, trace = _ids(item)
    status = item.get("status")
    fields = obj(status)
    start = first(item, "start_time", "startTime", "start_time_unix_nano", "startTimeUnixNano")
    resource = obj(item.get("resource"))
    dotted = {key.removeprefix("attributes."): value for key, value in item.items() if key.startswith("attributes.")}
    kind = item.get("span_kind")
    known = {"openinference.span.kind": kind} if isinstance(kind, str) and kind in _SPAN_KINDS else {}
    return Draft(
        trace=trace,
        span=span,
        parent=_parent(item),
        name=item.get("name"),
        kind=item.get("kind"),
        start=start,
        end=first(item, "end_time", "endTime", "end_time_unix_nano", "endTimeUnixNano"),
        status=first(item, "status_code") or first(fields, "status_code", "code") or status,
        status_message=text(first(item, "status_message") or first(fields, "description", "message")),
        attributes=known | _counted(obj(parsed(item.get("attributes"))) | dotted),
        events=(*events(first(item, "events", "span_events"), unix_nano(start)), *_annotations(item, unix_nano(start))),
        resource=obj(resource.get("attributes")) or resource,
        scope=obj(first(item, "scope", "instrumentation_scope", "instrumentationScope", "instrumentation_info")),
    )


def _annotations(item: dict[str, Any], otherwise_at: int) -> Iterator[SpanEvent]:
    """What people and evaluators noted at the span."""
    for held in seq(first(item, "span_annotations", "spanAnnotations", "annotations")):
        note = obj(held)
        result = obj(note.get("result")) or note
        name = text(note.get("name"))
        if name:
            at = unix_nano(first(note, "updated_at", "updatedAt", "created_at", "createdAt")) or otherwise_at
            said = first(result, "score", "label")
            id_ = id_in(Phoenix.name, note.get("id"))
            yield evaluation(name, said, result.get("explanation"), at, id_, result.get("label"))


def _counted(attributes: dict[str, Any]) -> dict[str, Any]:
    """Attributes under dotted names, with counts of tokens as numbers."""
    return {
        key: (count(value) if key.startswith(_TOKENS) and isinstance(value, str) else None) or value
        for key, value in flat(attributes, _ROOTS).items()
    }
