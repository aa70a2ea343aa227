"""TRAIL: a trace as nested spans.

Source: the TRAIL benchmark (Patronus AI): ``{trace_id, spans: [{span_id, parent_span_id, span_name, span_attributes,
child_spans: [...]}]}`` with ``timestamp`` and an ISO 8601 ``duration``. The attributes are those of the instrumentation
(OpenInference), so a dialect reads them. A child that names no parent hangs under the span it is nested in.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from governance.records.span import Span
from ingestion.importers.draft import Draft, events, finish
from ingestion.importers.form import Document, FileForm, Refused
from ingestion.importers.times import duration_nano, unix_nano
from ingestion.importers.values import first, head, is_objects, obj, seq
from ingestion.importers.values import text as text_of


class Trail(FileForm):
    """One trace, or a list of them."""

    name = "trail"
    needs = "an object with `trace_id` and `spans`, each span with `span_name` and `child_spans` or `span_attributes`"

    def recognises(self, document: Document) -> bool:
        """A trace whose spans have TRAIL's names."""
        spans = head(document).get("spans")
        return is_objects(spans) and "span_name" in spans[0] and bool({"child_spans", "span_attributes"} & {*spans[0]})

    def spans(self, document: Document, source: str) -> Iterator[Span | Refused]:
        """Depth first, in the order of the file."""
        position = 0
        for number, trace in enumerate(document if isinstance(document, list) else [document]):
            fields = obj(trace)
            if not seq(fields.get("spans")):
                yield Refused(where=f"{source}: trace {number}", reason="a trace without `spans`")
            waiting = [(item, None) for item in reversed(seq(fields.get("spans")))]
            while waiting:
                item, parent = waiting.pop()
                where = f"{source}: span {position}"
                if not isinstance(item, dict):
                    yield Refused(where=where, reason="not an object")
                    continue
                yield finish(_draft(item, fields.get("trace_id"), parent), self.name, where, position)
                position += 1
                waiting += [(child, item.get("span_id")) for child in reversed(seq(item.get("child_spans")))]


def _draft(span: dict[str, Any], trace: Any, parent: Any) -> Draft:
    start = unix_nano(first(span, "timestamp", "start_time", "start_time_unix_nano"))
    end = unix_nano(first(span, "end_time", "end_time_unix_nano"))
    return Draft(
        trace=first(span, "trace_id") or trace,
        span=span.get("span_id"),
        parent=first(span, "parent_span_id") or parent,
        name=span.get("span_name"),
        kind=span.get("span_kind"),
        start=start,
        end=end or (start + duration_nano(span.get("duration")) if start else 0),
        closed=True,
        status=span.get("status_code"),
        status_message=text_of(span.get("status_message")),
        attributes=obj(span.get("span_attributes")),
        events=events(span.get("events"), start),
        resource={"service.name": span.get("service_name")} | obj(span.get("resource_attributes")),
        scope={"name": span.get("scope_name"), "version": span.get("scope_version")},
    )
