"""A signal: one piece of evidence about a trajectory, with the spans that carry it."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from governance.records.base import Record, UtcTime
from governance.records.span import SpanId


class SignalKind(StrEnum):
    """What kind of evidence. ``docs/engineers.md`` has the rule, the evidence and the threshold of each."""

    FEEDBACK = "feedback"
    CORRECTION = "correction"
    TOOL_ERROR = "tool_error"
    SCHEMA_VIOLATION = "schema_violation"
    TAKEOVER = "takeover"
    VERIFIER = "verifier"
    POLICY_BREACH = "policy_breach"
    RETRIEVAL_MISS = "retrieval_miss"
    ABANDONMENT = "abandonment"
    REVIEW = "review"
    RETRY_LOOP = "retry_loop"
    CONTRADICTION = "contradiction"
    REFUSAL = "refusal"
    LATENCY_OUTLIER = "latency_outlier"
    COST_OUTLIER = "cost_outlier"


class Signal(Record):
    """One piece of evidence. ``value`` is +1, -1 or a score where the kind has one, else None."""

    id: str
    """Digest-derived, so detecting twice stores once."""
    tenant_id: str
    trajectory_id: str
    subject: str
    kind: SignalKind
    label: str = ""
    """Finer name within the kind: the tool error's kind, the feedback's name, ..."""
    value: float | None = None
    span_ids: tuple[SpanId, ...] = ()
    detail: dict[str, Any] = {}
    at: UtcTime
