"""Signals: the evidence that a trajectory carries, each piece once, with the spans that show it.

One detector a file, all behind one interface (``case.Detector``): a pure function over a trajectory and its tree of
spans. What a detector is judged by comes with the case: thresholds, a company's process rules, a baseline of earlier
runs. So the same case gives the same signals, and detecting twice stores nothing new. The table of all signals, with
rule, evidence and threshold, is in ``docs/engineers.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from governance.records.content import AdmittedSpan
from governance.records.feedback import Feedback, histories
from governance.records.process_rule import ProcessRule
from governance.records.signal import Signal
from governance.records.trajectory import Trajectory
from ingestion import tree as trees
from ingestion.feedback.evaluations import of_spans
from ingestion.signals.abandonment import abandonment
from ingestion.signals.baseline import Baseline
from ingestion.signals.case import Case, Detector
from ingestion.signals.contradictions import contradictions
from ingestion.signals.corrections import corrections
from ingestion.signals.feedback import feedback as said_of_runs
from ingestion.signals.outliers import outliers
from ingestion.signals.policy_breaches import policy_breaches
from ingestion.signals.refusals import refusals
from ingestion.signals.retrieval_misses import retrieval_misses
from ingestion.signals.retry_loops import retry_loops
from ingestion.signals.schema_violations import schema_violations
from ingestion.signals.takeovers import takeovers
from ingestion.signals.thresholds import Thresholds
from ingestion.signals.tool_errors import tool_errors
from ingestion.tree import Tree

__all__ = ["DETECTORS", "Baseline", "Case", "Detector", "Thresholds", "detect"]

DETECTORS: Final[tuple[Detector, ...]] = (
    takeovers, said_of_runs, tool_errors, schema_violations, corrections, contradictions, retry_loops,
    retrieval_misses, refusals, policy_breaches, outliers, abandonment,
)  # fmt: skip


def detect(
    trajectory: Trajectory,
    spans: Sequence[AdmittedSpan],
    *,
    feedback: Sequence[Feedback] | None = None,
    thresholds: Thresholds | None = None,
    rules: Sequence[ProcessRule] = (),
    baseline: Baseline | None = None,
    tree: Tree | None = None,
) -> list[Signal]:
    """Every signal of a trajectory, by time. Without ``feedback`` it is what the spans themselves carry.

    ``tree`` is that of the spans, where it is known.
    """
    said = histories(of_spans(spans)) if feedback is None else feedback
    case = Case(trajectory, tree or trees.build(spans), thresholds or Thresholds(), rules, baseline or Baseline(), said)
    found = {signal.id: signal for detector in DETECTORS for signal in detector(case)}
    return sorted(found.values(), key=lambda signal: (signal.at, signal.id))
