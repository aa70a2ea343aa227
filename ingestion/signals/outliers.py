"""``latency_outlier`` and ``cost_outlier``: a run far above the same agent's earlier runs.

1. Far is told robustly (``baseline.far``): many spreads above the median, and a multiple of it. Below the least sample
   nothing is called an outlier.
2. The cost is money where the run's whole cost is known and enough earlier runs have one in the same currency (label
   ``cost``), else tokens (label ``tokens``).
3. A time is compared only where it is one: not of a run that is not whole, that a person finished, or whose times an
   import made up.
Evidence: the root, and the span below it that took longest or used most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from governance.records.content import AdmittedSpan
from governance.records.outline import RunOutline
from governance.records.signal import Signal, SignalKind
from ingestion.signals.baseline import Far, Figures, far
from ingestion.signals.case import Case


def outliers(case: Case) -> Iterator[Signal]:
    """At most one of each kind."""
    root = case.tree.root
    if root is None or not root.span.end_unix_nano:
        return
    figures, before = Figures.of(RunOutline.of(case.trajectory)), case.baseline
    if figures.seconds is not None and not _made_up(root):
        how_far = _far(case, figures.seconds, before.seconds())
        yield from _found(case, SignalKind.LATENCY_OUTLIER, "seconds", how_far, _took)
    costs = before.costs(figures.currency)
    if figures.cost is not None and len(costs) >= case.thresholds.outlier_sample:
        yield from _found(case, SignalKind.COST_OUTLIER, "cost", _far(case, figures.cost, costs), _used)
    elif figures.tokens is not None:
        how_far = _far(case, float(figures.tokens), before.tokens())
        yield from _found(case, SignalKind.COST_OUTLIER, "tokens", how_far, _used)


def _far(case: Case, value: float, others: Iterable[float]) -> Far | None:
    limits = case.thresholds
    sample, distance, ratio = limits.outlier_sample, limits.outlier_distance, limits.outlier_ratio
    return far(value, others, sample=sample, distance=distance, ratio=ratio)


def _found(
    case: Case, kind: SignalKind, label: str, how_far: Far | None, weight: Callable[[AdmittedSpan], int]
) -> Iterator[Signal]:
    if how_far is not None:
        at, evidence = case.trajectory.ended_at, _evidence(case, weight)
        detail = how_far.model_dump(exclude={"value"})
        yield case.signal(kind, at, evidence, label=label, value=how_far.value, detail=detail, about=evidence[:1])


def _evidence(case: Case, weight: Callable[[AdmittedSpan], int]) -> list[str]:
    root = case.tree.root
    leaves = [
        item for span_id, item in case.tree.spans.items() if item is not root and span_id not in case.tree.children
    ]
    heaviest = max(leaves, key=lambda item: (weight(item), item.span.span_id), default=None)
    found = [] if root is None else [root.span.span_id]
    return found if heaviest is None or not weight(heaviest) else [*found, heaviest.span.span_id]


def _took(item: AdmittedSpan) -> int:
    return max(0, item.span.end_unix_nano - item.span.start_unix_nano)


def _used(item: AdmittedSpan) -> int:
    usage = None if item.content is None else item.content.usage
    return 0 if usage is None else usage.total_tokens


def _made_up(root: AdmittedSpan) -> bool:
    """Whether an import made the times, since its file has none."""
    derived = root.span.attributes.get("tidemill.import.derived")
    return isinstance(derived, list) and bool({"start", "end"} & set(map(str, derived)))
