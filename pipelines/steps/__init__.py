"""The steps of a turn: each composes domain functions with the store and returns counts and digests.

A step reads under a purpose, calls one domain function, stores what came of it, and reports how many rows it
considered, kept and left out, with the reason for each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from governance.records.dataset import Exclusion


def rows_report(considered: int, kept: int, excluded: Iterable[Exclusion]) -> dict[str, Any]:
    """The three numbers that every step gives: what came in, what stayed, what left and why."""
    reasons = Counter(one.reason for one in excluded)
    return {"considered": considered, "kept": kept, "excluded": dict(sorted(reasons.items()))}
