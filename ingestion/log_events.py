"""Log spans folded into the spans that they tell about.

Theory. A log span (``ingestion.log_records``) arrives before, with or after its span, and more than once. Each is kept
under its own identity, where merging is a union; ``fold`` is a pure function of what is there. So the result depends on
the set of what arrived, and on no order.

1. A log span is folded when its span is there; until then it stands where it is, as an orphan. An event of a coding
   agent's session stands for itself, under its span or its session (``ingestion.session_logs``).
2. Messages: the span's own and every whole call of a log are forms of one thing, single messages of the logs together
   are one more, in order of time. The richest is taken (``ingestion.dialects.forms``), the span's own between equals,
   so what an instrumentation writes in both places is not doubled.
3. What the span says itself stands; logs add the attributes, values and evaluations that it lacks.
4. Where some of it was withheld, the span is marked ``partly_withheld``, which keeps its trajectory out of training.
5. A log span has a person as any span has: by its own attributes, or as the one whom its trace names among what is
   drained with it or of what is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from governance.records.content import AdmittedSpan, SpanContent
from governance.records.message import Message
from governance.records.trajectory import UNKNOWN_SUBJECT
from ingestion.dialects.forms import Form, richest
from ingestion.log_records import LOG_EVENT, LOG_MESSAGE
from ingestion.merge import union
from ingestion.session_logs import SESSION, is_event, session_spans

PARTLY_WITHHELD: Final = "partly_withheld"
_SINGLE: Final = ("operation", "tool_name", "tool_call_id", "tool_arguments", "tool_result", "usage")


def fold(spans: Sequence[AdmittedSpan]) -> list[AdmittedSpan]:
    """The spans of a trace, each with what its log spans tell."""
    spans = session_spans(spans)
    hosts = {item.span.span_id for item in spans if LOG_EVENT not in item.span.flags or SESSION in item.span.flags}
    told: dict[str, list[AdmittedSpan]] = {}
    for item in sorted(spans, key=lambda one: (one.span.start_unix_nano, one.span.span_id)):
        host = item.span.parent_span_id
        if LOG_EVENT in item.span.flags and host in hosts and not is_event(item):
            told.setdefault(host, []).append(item)
    folded = {item.span.span_id for logs in told.values() for item in logs}
    return [
        _with(item, told[item.span.span_id]) if item.span.span_id in told else item
        for item in spans
        if item.span.span_id not in folded
    ]


def _with(host: AdmittedSpan, logs: list[AdmittedSpan]) -> AdmittedSpan:
    every = [host, *logs]
    contents = [item.content for item in every if item.content is not None]
    attributes: dict[str, Any] = {}
    for item in reversed(every):
        attributes |= item.span.attributes
    dropped = sum(item.span.dropped_attributes_count for item in every)
    noted = {PARTLY_WITHHELD} if 0 < len(contents) < len(every) else set()
    span = host.span.model_copy(
        update={
            "attributes": attributes,
            "events": union([event for item in every for event in item.span.events]),
            "dropped_attributes_count": dropped,
            "flags": tuple(sorted({flag for item in every for flag in item.span.flags} - {LOG_MESSAGE} | noted)),
        }
    )
    known = [item.subject for item in every if item.subject != UNKNOWN_SUBJECT]
    return host.model_copy(
        update={
            "span": span,
            "subject": known[0] if known else UNKNOWN_SUBJECT,
            "content": _content(host, logs) if contents else None,
            "withheld_reason": None if contents else host.withheld_reason,
            "mentions": tuple(sorted({mention for item in every for mention in item.mentions})),
        }
    )


def _content(host: AdmittedSpan, logs: list[AdmittedSpan]) -> SpanContent:
    own = host.content or SpanContent()
    whole = [item.content for item in logs if item.content is not None and LOG_MESSAGE not in item.span.flags]
    single = [item.content for item in logs if item.content is not None and LOG_MESSAGE in item.span.flags]
    every = [own, *whole, *single]
    evaluations = dict.fromkeys(evaluation for content in every for evaluation in content.evaluations)
    return SpanContent(
        input=_richest([own, *whole], single, "input"),
        output=_richest([own, *whole], single, "output"),
        evaluations=tuple(evaluations),
        flags=tuple(sorted({flag for content in every for flag in content.flags})),
        **{name: _first(every, name) for name in _SINGLE},
    )


def _richest(forms: list[SpanContent], single: list[SpanContent], side: str) -> tuple[Message, ...]:
    together = tuple(message for content in single for message in getattr(content, side))
    sides = [*(getattr(form, side) for form in forms), together]
    return richest(Form(messages, frozenset()) for messages in sides).messages


def _first(contents: list[SpanContent], name: str) -> Any:
    return next((getattr(content, name) for content in contents if getattr(content, name) is not None), None)
