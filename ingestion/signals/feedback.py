"""``feedback``, ``review`` and ``correction``: what people said of the run, one for what holds now of each feedback.

Feedback are thumbs, comments, and scores whose name says that they are feedback; other scores, outcomes and
demonstrations are reviews; what the answer should have been is a correction. The content of a correction or a
demonstration is in the detail. Evidence: the span that is meant, which is the named one, that of the response id, else
the root. It is the data of whoever said it, where the feedback names somebody; else of the run's person.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from governance.records.base import digest_json
from governance.records.feedback import FeedbackKind, Statement
from governance.records.signal import Signal, SignalKind
from governance.records.trajectory import UNKNOWN_SUBJECT
from ingestion.feedback.responses import FROM, responses
from ingestion.signals.case import Case
from ingestion.tree import top_first

_KINDS: Final = {
    FeedbackKind.THUMBS: SignalKind.FEEDBACK,
    FeedbackKind.COMMENT: SignalKind.FEEDBACK,
    FeedbackKind.CORRECTION: SignalKind.CORRECTION,
}


def feedback(case: Case) -> Iterator[Signal]:
    """One for each feedback."""
    for one in case.feedback:
        yield _signal(case, one.current)


def meant_span(case: Case, said: Statement) -> str:
    """The span that a statement is about."""
    named, spans = said.target, case.tree.spans
    answer = responses(spans.values()).get(named.response_id) if named.response_id else None
    return named.span_id or answer or top_first(case.tree)[0].span.span_id


def whose(case: Case, said: Statement) -> str:
    """Whose data a statement about the run is."""
    return case.trajectory.subject if said.subject == UNKNOWN_SUBJECT else said.subject


def _signal(case: Case, said: Statement) -> Signal:
    run, subject, span_id = case.trajectory, whose(case, said), meant_span(case, said)
    outcome = None if said.outcome is None else said.outcome.value
    detail = {"explanation": said.comment, "label": said.label, "content": said.content, "outcome": outcome}
    return Signal(
        id=digest_json([run.id, subject, said.key, said.version, span_id]),
        tenant_id=run.tenant_id,
        trajectory_id=run.id,
        subject=subject,
        kind=_kind(said),
        label=said.name,
        value=said.value,
        span_ids=(span_id,),
        detail={name: value for name, value in detail.items() if value is not None} | {FROM: said.key},
        at=said.at,
    )


def _kind(said: Statement) -> SignalKind:
    if said.kind is FeedbackKind.SCORE and "feedback" in said.name:
        return SignalKind.FEEDBACK
    return _KINDS.get(said.kind, SignalKind.REVIEW)
