"""Whose a trace is, when its spans lie in several segments.

Only the root of a trace may name the person, and roots end, and are exported, last. A span without an owner would be
withheld for good, so a segment waits for the roots of its traces: until they lie in another sealed segment, or until
``hold`` has passed since it was received.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ingestion.batch import Group
from ingestion.people import Subjects

TraceKey = tuple[str, str]


@dataclass(frozen=True)
class Summary:
    """What a segment says about its traces; no content."""

    named: dict[TraceKey, str] = field(default_factory=dict)
    """Traces whose person is named."""
    rooted: frozenset[TraceKey] = frozenset()
    """Traces whose root is here."""
    traces: frozenset[TraceKey] = frozenset()

    @property
    def unsettled(self) -> frozenset[TraceKey]:
        """Traces of which neither the person nor the root is here."""
        return self.traces - self.rooted - self.named.keys()


def summarise(groups: Iterable[Group], subjects: Subjects) -> Summary:
    """The summary of a segment."""
    named: dict[TraceKey, str] = {}
    rooted, traces = set(), set()
    for group in groups:
        by_trace = subjects.by_trace(group.tenant_id, group.spans)
        named |= {(group.tenant_id, trace_id): raw_id for trace_id, raw_id in by_trace.items()}
        traces |= {(group.tenant_id, span.trace_id) for span in group.spans}
        rooted |= {(group.tenant_id, span.trace_id) for span in group.spans if span.parent_span_id is None}
    return Summary(named, frozenset(rooted), frozenset(traces))


class Owners:
    """The owners of traces over all sealed segments. Summaries are read once, and only when one is needed."""

    def __init__(self, segment_ids: Iterable[str], summary_of: Callable[[str], Summary]) -> None:
        """``summary_of`` reads a segment."""
        self._ids = tuple(segment_ids)
        self._summary_of = summary_of
        self._known: dict[str, Summary] = {}

    def learn(self, segment_id: str, summary: Summary) -> None:
        """Keep the summary of a segment that was read anyway."""
        self._known[segment_id] = summary

    def find(self, segment_id: str) -> tuple[dict[TraceKey, str], frozenset[TraceKey]]:
        """The owners of a segment's unsettled traces, and the traces that stay unsettled."""
        wanted = set(self._known[segment_id].unsettled)
        # A rooted trace that names nobody here may be named by a child elsewhere; its root has had its say.
        found: dict[TraceKey, str] = {}
        for other in self._ids:
            if not wanted:
                break
            if other == segment_id:
                continue
            if other not in self._known:
                self._known[other] = self._summary_of(other)
            summary = self._known[other]
            found |= {key: summary.named[key] for key in wanted & summary.named.keys()}
            wanted -= found.keys() | summary.rooted
        return found, frozenset(wanted)
