"""The intake's metrics, in a registry of their own (prefix ``tidemill_``)."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from ingestion.budget import Budget
from ingestion.spool import Spool


class Meters:
    """Counters of one receiver."""

    def __init__(self, spool: Spool, budget: Budget) -> None:
        """Gauges read the spool and the budget when they are scraped."""
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "tidemill_intake_requests", "Requests by HTTP status.", ["status"], registry=self.registry
        )
        self.spans = Counter(
            "tidemill_intake_spans",
            "Spans by what the receiver answered.",
            ["tenant", "answer", "reason"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            "tidemill_intake_seconds", "From the first byte to the durable answer.", registry=self.registry
        )
        bodies = Gauge(
            "tidemill_intake_bytes_in_flight",
            "Bytes of bodies in progress, packed and unpacked.",
            registry=self.registry,
        )
        bodies.set_function(budget.held)
        held = Gauge("tidemill_spool_bytes", "Bytes that wait for the drain.", registry=self.registry)
        held.set_function(spool.bytes_held)
        segments = Gauge("tidemill_spool_segments", "Segments that wait for the drain.", registry=self.registry)
        segments.set_function(spool.segments_held)

    def text(self) -> bytes:
        """The exposition format."""
        return generate_latest(self.registry)
