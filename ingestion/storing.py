"""Admitted spans and feedback into the store, each with its fate.

A span that the door detained has its fate already, quarantined: its structure is stored besides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from governance.admissions import Detained, Refusal
from governance.records.content import AdmittedSpan
from governance.records.ledger import Fate
from governance.records.rights import Reason
from governance.store import Store
from governance.store.spans import Assemble
from ingestion.feedback.admission import AdmittedFeedback
from ingestion.merge import merge, normal

Fates = list[tuple[Fate, str]]
"""Fate and reason of each span or item."""
_NEW: Final = (Fate.STORED, Fate.UPDATED)


def admitted_part(one: AdmittedSpan | Refusal | Detained) -> list[AdmittedSpan]:
    """What of a span the store takes, in normal form."""
    kept = one.structure if isinstance(one, Detained) else one
    return [normal(kept)] if isinstance(kept, AdmittedSpan) else []


def rejected(spans: Sequence[AdmittedSpan], fates: Fates) -> set[tuple[str, str]]:
    """Trace and span of what ``store_spans`` did not take."""
    judged = [one.span for one in spans if one.withheld_reason != Detained.reason]
    pairs = zip(judged, fates, strict=True)
    return {(span.trace_id, span.span_id) for span, (fate, _) in pairs if fate is Fate.REJECTED}


def store_spans(store: Store, spans: Sequence[AdmittedSpan], assemble: Assemble | None = None) -> tuple[Fates, int]:
    """Merge spans into the store: their fates, in order, and how many were kept without their content."""
    merged = zip(spans, store.spans.merge(spans, merge, assemble), strict=True)
    stored = [(item, fate) for item, fate in merged if item.withheld_reason != Detained.reason]
    withheld = sum(item.content is None and fate in _NEW for item, fate in stored)
    return [(fate, Reason.SUPPRESSED.value if fate is Fate.REJECTED else "") for _, fate in stored], withheld


def store_feedback(store: Store, admitted: AdmittedFeedback) -> tuple[Fates, int]:
    """Put feedback into the store: the fates of what passed the door, and how many were kept without their words.

    Words that wait for their person are neither kept nor withheld yet.
    """
    heard = store.feedback.put(admitted.deliveries)
    withheld = sum(
        one.statement.withheld and one.sealed is None and fate in _NEW
        for one, (fate, _) in zip(admitted.deliveries, heard, strict=True)
    )
    return [*admitted.fates, *heard], withheld
