"""``feedback`` and ``review``: an evaluation that the trace carries. Evidence: the span that carries it.

Feedback is what a customer left: an evaluation named so. Every other evaluation is a review.
"""

from __future__ import annotations

from collections.abc import Iterator

from governance.records.base import from_unix_nano
from governance.records.signal import Signal, SignalKind
from ingestion.assembly import feedback
from ingestion.signals.case import Case


def evaluations(case: Case) -> Iterator[Signal]:
    """One for each evaluation."""
    for item, evaluation in feedback(case.tree):
        detail = {"explanation": evaluation.explanation, "label": evaluation.label}
        yield case.signal(
            SignalKind.FEEDBACK if "feedback" in evaluation.name else SignalKind.REVIEW,
            from_unix_nano(evaluation.at_unix_nano or item.span.end_unix_nano),
            (item.span.span_id,),
            label=evaluation.name,
            value=evaluation.score,
            detail={key: text for key, text in detail.items() if text is not None},
            position=evaluation.at_unix_nano,
        )
