"""Every entity type that masking knows: what has a surrogate of its own, what is only described, what is special."""

from __future__ import annotations

from governance.masking.makers import MAKERS
from governance.records.masking_policy import DETECTED_ONLY, SPECIAL_CATEGORIES


def known_types() -> frozenset[str]:
    """Their names."""
    return frozenset(MAKERS) | DETECTED_ONLY | SPECIAL_CATEGORIES
