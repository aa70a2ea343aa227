"""Joining: the feedback of traces, when they are assembled.

What spans carry is stored like what was posted, and what is stored is found by the trace's id and by its response ids.
So it does not matter which came first, and joining again changes nothing. Both calls belong inside the transaction that
stores the trajectories.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from governance.acting import complying
from governance.records.content import AdmittedSpan
from governance.records.feedback import Feedback, Statement
from governance.records.lineage import LineageEdge, Node, NodeKind
from governance.records.rights import Purpose
from governance.records.signal import Signal
from governance.store import Store
from governance.store.blocks import TraceKey
from governance.store.feedback import Delivery
from ingestion.feedback.responses import FROM, responses


class Joining:
    """Joins feedback to traces."""

    def __init__(self, store: Store) -> None:
        """Feedback is in the store."""
        self._store = store

    def join(
        self, traces: Mapping[TraceKey, Sequence[AdmittedSpan]], carried: Sequence[Statement]
    ) -> dict[TraceKey, tuple[Feedback, ...]]:
        """The feedback of each trace whose spans these are; ``carried`` is what the spans themselves say."""
        answers = {key: responses(spans) for key, spans in traces.items()}
        self._store.feedback.name_responses(answers)
        if carried:
            self._store.feedback.put([Delivery(one) for one in carried], reassemble=False)
        with complying("assembly"):
            return self._store.feedback.of_traces(answers, Purpose.COMPLY)

    def cite(self, signals: Iterable[Signal]) -> None:
        """Record which signals were made from which feedback."""
        edges = [
            LineageEdge(
                derived=Node(kind=NodeKind.SIGNAL, id=one.id),
                source=Node(kind=NodeKind.FEEDBACK, id=f"{one.tenant_id}/{one.detail[FROM]}"),
            )
            for one in signals
            if FROM in one.detail
        ]
        if edges:
            self._store.lineage.add(edges)
