"""A gate report: the evidence that a candidate may or may not go on."""

from __future__ import annotations

from enum import StrEnum

from governance.records.base import Digest, Record, UtcTime


class GateVerdict(StrEnum):
    """``inconclusive`` is a result, not a failure to have one."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"


class Interval(Record):
    """A two-sided confidence interval."""

    low: float
    high: float
    confidence: float


class FamilyResult(Record):
    """One slice of the tasks."""

    family: str
    tasks: int
    champion: float
    candidate: float


class GateReport(Record):
    """A paired comparison of two releases on the same held-out tasks."""

    scope: str
    champion: Digest
    candidate: Digest
    verdict: GateVerdict
    tasks: int
    errors: int
    """Pairs left out since a grade was missing on either side."""
    champion_success: float
    candidate_success: float
    difference: float
    interval: Interval
    p_value: float
    method: str
    families: tuple[FamilyResult, ...]
    surrogates_in_outputs: int = 0
    """Runs of the candidate that said a surrogate which nothing had given it."""
    reasons: tuple[str, ...]
    at: UtcTime
