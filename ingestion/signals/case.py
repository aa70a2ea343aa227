"""What a detector reads, and how it writes down what it found.

The id of a signal is the digest of what it is about (trajectory, subject, kind, label, spans, position), so detecting
again stores nothing new. A signal whose evidence may still grow is about its first span.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import takewhile
from typing import Any

from governance.records.base import digest_json
from governance.records.feedback import Feedback
from governance.records.process_rule import ProcessRule
from governance.records.signal import Signal, SignalKind
from governance.records.trajectory import ToolInvocation, Trajectory
from ingestion.signals.baseline import Baseline
from ingestion.signals.thresholds import Thresholds
from ingestion.tree import Tree


@dataclass(frozen=True)
class Case:
    """One trajectory with the spans that it was made from, and what it is judged by."""

    trajectory: Trajectory
    tree: Tree
    thresholds: Thresholds = field(default_factory=Thresholds)
    rules: Sequence[ProcessRule] = ()
    baseline: Baseline = field(default_factory=Baseline)
    """Of the same agent's earlier runs."""
    feedback: Sequence[Feedback] = ()
    """What was said of the run."""

    def signal(
        self,
        kind: SignalKind,
        at: datetime,
        span_ids: Sequence[str],
        *,
        label: str = "",
        value: float | None = None,
        detail: dict[str, Any] | None = None,
        position: int = 0,
        about: Sequence[str] | None = None,
    ) -> Signal:
        """A signal about this trajectory, with its spans as evidence, each once; ``about`` names what identifies it."""
        shown = tuple(dict.fromkeys(span_ids))
        run, named = self.trajectory, shown if about is None else about
        return Signal(
            id=digest_json([run.id, run.subject, kind.value, label, list(named), position]),
            tenant_id=run.tenant_id,
            trajectory_id=run.id,
            subject=run.subject,
            kind=kind,
            label=label,
            value=value,
            span_ids=shown,
            detail=detail or {},
            at=at,
        )

    def about_call(self, kind: SignalKind, call: ToolInvocation, *, label: str, detail: dict[str, Any]) -> Signal:
        """A signal about one call. A model's span may stand for several calls, so it counts them."""
        before = takewhile(lambda one: one is not call, self.trajectory.calls)
        position = sum(1 for one in before if one.span_id == call.span_id)
        return self.signal(kind, call.started_at, (call.span_id,), label=label, detail=detail, position=position)


Detector = Callable[[Case], Iterator[Signal]]
"""Pure: a case in, signals out. Nothing is inferred from withheld content."""
