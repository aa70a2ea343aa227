"""The kinds of OTLP telemetry that the intake takes, and where each is sent.

OpenTelemetry calls them signals; here a signal is evidence about a trajectory (``ingestion.signals``), so they have
another name.
"""

from __future__ import annotations

from enum import StrEnum


class Telemetry(StrEnum):
    """What one export request holds."""

    TRACES = "traces"
    LOGS = "logs"

    @property
    def path(self) -> str:
        """Where it is posted over HTTP."""
        return f"/v1/{self.value}"

    @property
    def service(self) -> str:
        """The gRPC service whose ``Export`` takes it."""
        package, name = ("trace", "TraceService") if self is Telemetry.TRACES else ("logs", "LogsService")
        return f"opentelemetry.proto.collector.{package}.v1.{name}"

    def instead(self, held: str) -> str:
        """What to tell a sender whose request on this path holds something else: what it is, and where it belongs."""
        found = f"this is an export of {held} on the path of {self.value}"
        for right in Telemetry:
            if right.value == held:
                return f"{found}: send it to POST {right.path}, or over gRPC to {right.service}"
        return f"{found}: this intake takes {' and '.join(Telemetry)}"
