"""Telemetry of a session: spans with injected ids and times, collected in memory, delivered whole.

Each session has its own tracer provider, because a replayed week needs its own ids and its own simulated time. Spans
are collected and leave together once the conversation is over, through the standard OTLP/HTTP exporter with the
tenant's key: what the receiver sees is what any other company's agent would send. Delivery is at least once: a failed
export is tried again with growing pauses and then raised, and the receiver makes repetition harmless.

Nothing here reads the environment's ``OTEL_*`` settings for what it sets: limits, sampler, resource, endpoint, headers,
compression and time limit are all given.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import requests
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import Tracer

from governance.ports.clock import Clock, IdFactory
from serving.errors import ExportError

KEY_HEADER = "x-tidemill-key"
SCOPE = "tidemill.serving"
MOST = 1024
"""Attributes, events and links of one span; texts are never cut."""


class SteppingClock(Clock):
    """A clock that starts at a moment and moves on by one step at each look: the same run has the same times."""

    def __init__(self, start: datetime, step: timedelta = timedelta(milliseconds=1)) -> None:
        """``start`` is the first moment told."""
        self._next, self._step = start, step

    def now(self) -> datetime:
        """The next moment."""
        moment = self._next
        self._next = moment + self._step
        return moment


class _Ids(IdGenerator):
    def __init__(self, ids: IdFactory) -> None:
        self._ids = ids

    def generate_span_id(self) -> int:
        return int(self._ids.hex(8), 16)

    def generate_trace_id(self) -> int:
        return int(self._ids.hex(16), 16)


class SessionTracing:
    """The tracer of one session, and what it recorded."""

    def __init__(self, ids: IdFactory, service: str, resource: Mapping[str, str] | None = None) -> None:
        """``service`` is ``service.name``."""
        self._memory = InMemorySpanExporter()
        limits = SpanLimits(
            max_span_attributes=MOST,
            max_events=MOST,
            max_links=MOST,
            max_event_attributes=MOST,
            max_link_attributes=MOST,
            max_attributes=MOST,
            max_attribute_length=SpanLimits.UNSET,
            max_span_attribute_length=SpanLimits.UNSET,
        )
        self._provider = TracerProvider(
            sampler=ALWAYS_ON,
            resource=Resource({"service.name": service, **(resource or {})}),
            shutdown_on_exit=False,
            id_generator=_Ids(ids),
            span_limits=limits,
        )
        self._provider.add_span_processor(SimpleSpanProcessor(self._memory))

    @property
    def tracer(self) -> Tracer:
        """Where the session's spans start."""
        return self._provider.get_tracer(SCOPE)

    def take(self) -> tuple[ReadableSpan, ...]:
        """The ended spans, once."""
        spans = self._memory.get_finished_spans()
        self._memory.clear()
        return spans


def _alone() -> requests.Session:
    """A session that trusts the certificate it is given: requests prefers a bundle that the environment names."""
    session = requests.Session()
    session.trust_env = False
    return session


class TelemetryExport:
    """Delivers spans of one tenant to an OTLP/HTTP receiver."""

    def __init__(
        self,
        endpoint: str,
        api_key: str,
        *,
        attempts: int = 4,
        pause: float = 0.5,
        timeout: float = 10.0,
        sleep: Callable[[float], None] = time.sleep,
        certificate: Path | None = None,
    ) -> None:
        """``endpoint`` is the whole URL, ``.../v1/traces``; pauses double from ``pause`` seconds.

        ``certificate`` is what the receiver is known by under https, where it is none that the machine trusts anyway.
        """
        self._endpoint, self._attempts, self._pause, self._sleep = endpoint, attempts, pause, sleep
        self._exporter = OTLPSpanExporter(
            endpoint=endpoint,
            headers={KEY_HEADER: api_key},
            timeout=timeout,
            compression=Compression.Gzip,
            certificate_file=None if certificate is None else str(certificate),
            session=None if certificate is None else _alone(),
        )

    def export(self, spans: Sequence[ReadableSpan]) -> None:
        """Deliver all or raise.

        Raises:
            ExportError: when the receiver did not take them after every attempt.

        """
        for attempt in range(self._attempts):
            if not spans or self._exporter.export(spans) is SpanExportResult.SUCCESS:
                return
            if attempt + 1 < self._attempts:
                self._sleep(self._pause * 2**attempt)
        raise ExportError(f"{len(spans)} spans not delivered to {self._endpoint} after {self._attempts} attempts")

    def close(self) -> None:
        """Close the connection."""
        self._exporter.shutdown()  # type: ignore[no-untyped-call]
