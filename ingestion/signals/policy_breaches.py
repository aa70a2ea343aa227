"""``policy_breach``: a run broke a process rule of the company. Evidence: the calls or the turn that broke it."""

from __future__ import annotations

from collections.abc import Iterator

from governance.policy.process import breaches
from governance.records.signal import Signal, SignalKind
from ingestion.signals.case import Case


def policy_breaches(case: Case) -> Iterator[Signal]:
    """One for each breach, labelled by the rule's name."""
    starts = {span_id: item.span.start_unix_nano for span_id, item in case.tree.spans.items()}
    moments = {call.span_id: call.started_at for call in case.trajectory.calls}
    moments |= {turn.span_id: turn.at for turn in case.trajectory.turns if turn.span_id not in starts}
    for found in breaches(case.rules, case.trajectory):
        at = moments.get(found.span_ids[-1], case.trajectory.ended_at)
        detail = {"what": found.what} | ({"reason": found.reason} if found.reason else {})
        yield case.signal(SignalKind.POLICY_BREACH, at, found.span_ids, label=found.rule, detail=detail)
