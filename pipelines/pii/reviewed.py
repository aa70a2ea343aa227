"""What people said of masking in the review queue: what is open, and how often a text of the sample showed a value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from governance.rates import at_most, clopper_pearson
from governance.records.review import Reviewed, ReviewItem, ReviewKind


def reviewed(tenant: str, open_items: Iterable[ReviewItem], decisions: Iterable[Reviewed]) -> dict[str, Any]:
    """One tenant's reviews in numbers; a rate only of texts of the sample, which chance drew, and that were decided."""
    decided = list(decisions)
    sample = [one for one in decided if one.kind is ReviewKind.SAMPLE]
    missing = sum(one.missed > 0 for one in sample)
    interval = clopper_pearson(missing, len(sample))
    return {
        "tenant": tenant,
        "open": dict(sorted(Counter(item.kind.value for item in open_items).items())),
        "decided": dict(sorted(Counter(one.decision.value for one in decided).items())),
        "texts": len(sample),
        "missing": missing,
        "values_missed": sum(one.missed for one in sample),
        "value": missing / len(sample) if sample else None,
        "low": interval.low,
        "high": interval.high,
        "at_most": at_most(missing, len(sample)),
    }
