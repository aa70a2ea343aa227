"""The gateway's numbers for Prometheus: requests by scope and status, seconds, and how many are under way.

The registry is the gateway's own, so two gateways in one process do not meet; a scope that nobody deployed is counted
under an empty label, so that callers cannot grow the number of series.
"""

from __future__ import annotations

from datetime import datetime

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from governance.ports.clock import Clock


class GatewayMetrics:
    """Counts requests."""

    def __init__(self, clock: Clock) -> None:
        """``clock`` times the requests."""
        self._clock = clock
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "tidemill_gateway_requests", "Requests answered", ["scope", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "tidemill_gateway_seconds", "Seconds until the answer began", ["scope"], registry=self._registry
        )
        self._surrogates = Counter(
            "tidemill_gateway_surrogates",
            "Surrogates in answers that stand in no request",
            ["scope", "entity_type"],
            registry=self._registry,
        )
        self._open = Gauge("tidemill_gateway_in_flight", "Requests under way", registry=self._registry)

    def begin(self) -> datetime:
        """A request arrived."""
        self._open.inc()
        return self._clock.now()

    def end(self, began: datetime, scope: str, status: int) -> None:
        """A request was answered."""
        self._open.dec()
        self._requests.labels(scope, str(status)).inc()
        self._seconds.labels(scope).observe((self._clock.now() - began).total_seconds())

    def surrogate(self, scope: str, entity_type: str) -> None:
        """An answer held a surrogate."""
        self._surrogates.labels(scope, entity_type).inc()

    def render(self) -> bytes:
        """The numbers in Prometheus's text form."""
        return generate_latest(self._registry)
