"""The grades that spans carry, as feedback: ``gen_ai.evaluation.result`` and what dialects and importers read as one.

The identity of a grade is the sender's id where the span has one (``tidemill.feedback.id``), and else its place: trace,
span and name. So a grade that is delivered twice, or as a span event and as a log event, is one, and a grade of that
name that is given later changes it. It is about the span that it stands in; a log event is about the span that it
names. One that is named ``correction`` and has words instead of a score says what the answer should have been. Spans
are masked, so what is read here is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from governance.records.base import digest_json, from_unix_nano
from governance.records.content import AdmittedSpan, Evaluation
from governance.records.feedback import FeedbackKind, Statement, Target
from ingestion import dialects
from ingestion.dialects.genai import EVALUATION
from ingestion.feedback.lone_evaluations import CORRECTION
from ingestion.log_records import LOG_EVENT


def of_spans(spans: Iterable[AdmittedSpan]) -> Iterator[Statement]:
    """What the spans say of runs, in order."""
    for item in spans:
        for evaluation in _evaluations(item):
            yield _statement(item, evaluation)


def _evaluations(item: AdmittedSpan) -> tuple[Evaluation, ...]:
    """From the content; where it is withheld, the names and scores that are left as structure."""
    if item.content is not None:
        return item.content.evaluations
    if any(event.name == EVALUATION for event in item.span.events):
        return dialects.read(item.span).evaluations
    return ()


def _statement(item: AdmittedSpan, one: Evaluation) -> Statement:
    span = item.span
    host = span.parent_span_id if LOG_EVENT in span.flags and span.parent_span_id else span.span_id
    target = Target(trace_id=span.trace_id, span_id=host)
    place = [span.trace_id, host, one.name]
    corrects = one.name == CORRECTION and one.score is None and one.explanation is not None
    at = one.at_unix_nano or span.end_unix_nano or span.start_unix_nano
    said = digest_json([target.plain(), one.name, one.score, one.label, one.explanation])
    return Statement(
        tenant_id=item.tenant_id,
        key=digest_json(["evaluation", item.tenant_id, *([one.id] if one.id else place)]),
        said=said,
        version=digest_json([said, one.at_unix_nano]),
        id=one.id or "/".join(place),
        kind=FeedbackKind.CORRECTION if corrects else FeedbackKind.SCORE,
        name=one.name,
        target=target,
        value=one.score,
        label=one.label,
        comment=None if corrects else one.explanation,
        content=one.explanation if corrects else None,
        wordy=one.label is not None or one.explanation is not None,
        at=from_unix_nano(at),
        nanoseconds=at % 1000,
        timed=one.at_unix_nano != 0,
    )
