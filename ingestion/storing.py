"""Admitted spans into the store, each with its fate."""

from __future__ import annotations

from collections.abc import Sequence

from governance.records.content import AdmittedSpan
from governance.records.ledger import Fate
from governance.records.rights import Reason
from governance.store import Store
from governance.store.spans import Assemble
from ingestion.merge import merge

Fates = list[tuple[Fate, str]]
"""Fate and reason of each span."""


def store_spans(store: Store, spans: Sequence[AdmittedSpan], assemble: Assemble | None = None) -> tuple[Fates, int]:
    """Merge spans into the store: their fates, in order, and how many were kept without their content."""
    stored = store.spans.merge(spans, merge, assemble)
    withheld = sum(
        item.content is None and fate in (Fate.STORED, Fate.UPDATED) for item, fate in zip(spans, stored, strict=True)
    )
    return [(fate, Reason.SUPPRESSED.value if fate is Fate.REJECTED else "") for fate in stored], withheld
