"""The intake's metrics, in a registry of their own (prefix ``tidemill_``)."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from ingestion.budget import Budget
from ingestion.feedback.item import ItemFault
from ingestion.ledger_meters import LedgerMeters
from ingestion.otlp_fields import SpanFault
from ingestion.spool import Spool
from ingestion.telemetry import Telemetry


class Meters:
    """Counters of one receiver."""

    def __init__(self, spool: Spool, budget: Budget, ledger: LedgerMeters | None = None) -> None:
        """Gauges read the spool, the budget and the ledger when they are scraped."""
        self.registry = CollectorRegistry()
        if ledger is not None:
            self.registry.register(ledger)
        self.requests = Counter(
            "tidemill_intake_requests", "Requests by HTTP status.", ["status"], registry=self.registry
        )
        self._entries = {
            Telemetry.TRACES: self._answers("tidemill_intake_spans", "Spans by what the receiver answered."),
            Telemetry.LOGS: self._answers("tidemill_intake_log_records", "Log records by what the receiver answered."),
        }
        self._feedback = self._answers("tidemill_intake_feedback", "Items of feedback by what the receiver answered.")
        self.calls = Counter("tidemill_intake_calls", "gRPC calls by status code.", ["code"], registry=self.registry)
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

    def _answers(self, name: str, what: str) -> Counter:
        return Counter(name, what, ["tenant", "answer", "reason"], registry=self.registry)

    def count(self, telemetry: Telemetry, tenant_id: str, total: int, faults: list[SpanFault]) -> None:
        """Count the entries of one durable body."""
        entries = self._entries[telemetry]
        entries.labels(tenant_id, "accepted", "").inc(total - len(faults))
        for fault in faults:
            entries.labels(tenant_id, "rejected", fault.reason).inc()

    def count_feedback(self, tenant_id: str, total: int, faults: list[ItemFault]) -> None:
        """Count the items of one body of feedback."""
        self._feedback.labels(tenant_id, "accepted", "").inc(total - len(faults))
        for fault in faults:
            self._feedback.labels(tenant_id, "rejected", fault.code).inc()

    def text(self) -> bytes:
        """The exposition format."""
        return generate_latest(self.registry)
