"""``takeover``: a person took over. Evidence: the person's topmost span."""

from __future__ import annotations

from collections.abc import Iterator

from governance.records.base import from_unix_nano
from governance.records.signal import Signal, SignalKind
from ingestion import actors
from ingestion.signals.case import Case


def takeovers(case: Case) -> Iterator[Signal]:
    """One for each time that a person took over."""
    for item in actors.takeovers(case.tree):
        at = from_unix_nano(item.span.start_unix_nano)
        yield case.signal(SignalKind.TAKEOVER, at, (item.span.span_id,), label=actors.HUMAN_AGENT)
