"""Admitted spans and feedback into the store, each with its fate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from governance.records.content import AdmittedSpan
from governance.records.ledger import Fate
from governance.records.rights import Reason
from governance.store import Store
from governance.store.spans import Assemble
from ingestion.feedback.admission import AdmittedFeedback
from ingestion.merge import merge

Fates = list[tuple[Fate, str]]
"""Fate and reason of each span or item."""
_NEW: Final = (Fate.STORED, Fate.UPDATED)


def store_spans(store: Store, spans: Sequence[AdmittedSpan], assemble: Assemble | None = None) -> tuple[Fates, int]:
    """Merge spans into the store: their fates, in order, and how many were kept without their content."""
    stored = store.spans.merge(spans, merge, assemble)
    withheld = sum(item.content is None and fate in _NEW for item, fate in zip(spans, stored, strict=True))
    return [(fate, Reason.SUPPRESSED.value if fate is Fate.REJECTED else "") for fate in stored], withheld


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
