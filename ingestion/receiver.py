"""The receiver: OTLP/HTTP in, durable before it says so.

1. 200 is sent after the body is on disk (``Spool``); spans that are refused on their own are counted in
   ``partialSuccess`` with reasons, and the drain counts the same ones into the ledger.
2. The tenant comes from the credential (``ingestion.credentials``), and from nothing in the body.
3. Errors that repeat are 4xx (a sender must not retry); those that pass are 429 and 503 with ``Retry-After``.
4. Memory is bounded: by the body, by what it unpacks to, by the requests in progress, and by the bytes of all of them
   together (``ingestion.budget``), which every request gives back however it ends.
5. Every error has the form of OTLP, also for a path or a method that is not served. ``/v1/traces`` has one spelling,
   as in the OpenTelemetry Collector: with a trailing slash it is not found, and never redirected, because exporters
   differ in whether they post again elsewhere, and one that does not would lose its spans without a word.

Source: the OTLP specification, sections "OTLP/HTTP Response" and "OTLP/HTTP Throttling".
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from typing import Any, Final

from fastapi import FastAPI, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from governance.ports.clock import Clock, SystemClock
from governance.records.base import to_unix_nano
from ingestion import replies
from ingestion.budget import Budget, Share
from ingestion.credentials import Credentials, KeySource
from ingestion.envelope import Envelope
from ingestion.errors import BodyTooLarge, BudgetSpent, DecodeError, SpoolError, SpoolFull
from ingestion.limits import Limits
from ingestion.meters import Meters
from ingestion.otlp_decode import JSON, PROTOBUF, unpack_gzip
from ingestion.otlp_fields import SpanFault
from ingestion.recording import Recording
from ingestion.spool import Spool

_log = logging.getLogger(__name__)
_LARGE: Final = 64 * 1024
"""Bodies beyond this are decoded in a thread, so that small ones do not wait for them."""
_NANO: Final = 1_000_000_000
_SERVED: Final = "this intake takes traces, at POST /v1/traces, and answers GET /health and GET /metrics"


class Refusal(Exception):
    """Ends a request with an error."""

    def __init__(self, status: int, code: int, message: str, headers: dict[str, str] | None = None) -> None:
        """The HTTP status, the ``google.rpc.Code`` and what to tell the sender."""
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers


class Receiver:
    """One intake: takes requests, answers them."""

    def __init__(
        self, spool: Spool, credentials: Credentials, limits: Limits, clock: Clock, recording: Recording | None
    ) -> None:
        """``recording`` keeps a copy of what is accepted, for replays of synthetic traffic."""
        self._spool = spool
        self._credentials = credentials
        self._limits = limits
        self._clock = clock
        self._recording = recording
        self._in_flight = 0
        self._budget = Budget(limits.max_bytes_in_flight)
        self.meters = Meters(spool, self._budget)

    async def traces(self, request: Request) -> Response:
        """POST /v1/traces."""
        started = time.perf_counter()
        content_type = _content_type(request)
        self._in_flight += 1
        try:
            with self._budget.share() as share:
                response = await self._take(request, content_type, share)
        except Refusal as refusal:
            response = replies.failed(refusal.status, refusal.code, refusal.message, content_type, refusal.headers)
        finally:
            self._in_flight -= 1
        self.meters.requests.labels(str(response.status_code)).inc()
        self.meters.seconds.observe(time.perf_counter() - started)
        return response

    async def not_served(self, request: Request, error: Exception) -> Response:
        """The answer to a path or a method that is not served."""
        if not isinstance(error, HTTPException):
            raise error
        self.meters.requests.labels(str(error.status_code)).inc()
        message = f"{request.method[:20]} {request.url.path[:100]!r} is not served: {_SERVED}"
        code, headers = replies.UNIMPLEMENTED, dict(error.headers or {})
        return replies.failed(error.status_code, code, message, _content_type(request), headers)

    async def _take(self, request: Request, content_type: str, share: Share) -> Response:
        tenant_id = self._tenant(request)
        if content_type not in (PROTOBUF, JSON):
            message = f"content type {content_type or '(none)'!r}: send {PROTOBUF} or {JSON}"
            raise Refusal(415, replies.INVALID_ARGUMENT, message)
        if self._in_flight > self._limits.max_in_flight:
            raise self._later(429, "too many requests in progress")
        body = await self._body(request, share)
        envelope = Envelope(
            content_type=content_type,
            received_unix_nano=to_unix_nano(self._clock.now()),
            max_age_nano=None if self._limits.max_age_s is None else self._limits.max_age_s * _NANO,
            body=body,
        )
        total, faults = await self._decode(envelope, tenant_id)
        if total:
            await self._keep(tenant_id, envelope)
            self._count(tenant_id, total, faults)
        return replies.exported(faults, content_type)

    def _tenant(self, request: Request) -> str:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        key = request.headers.get("x-tidemill-key") or (token.strip() if scheme.lower() == "bearer" else "")
        if not key:
            message = "send the tenant's API key as x-tidemill-key or Authorization: Bearer"
            raise Refusal(401, replies.UNAUTHENTICATED, message, {"WWW-Authenticate": "Bearer"})
        tenant_id = self._credentials.tenant(key)
        if tenant_id is None:
            raise Refusal(403, replies.PERMISSION_DENIED, "the API key is not known here")
        return tenant_id

    def _later(self, status: int, why: str) -> Refusal:
        code = replies.RESOURCE_EXHAUSTED if status == 429 else replies.UNAVAILABLE
        return Refusal(status, code, f"{why}; try again later", {"Retry-After": str(self._limits.retry_after_s)})

    async def _body(self, request: Request, share: Share) -> bytes:
        encoding = request.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in ("identity", "gzip", ""):
            raise Refusal(415, replies.INVALID_ARGUMENT, f"content encoding {encoding!r}: send gzip or none")
        try:
            async with asyncio.timeout(self._limits.body_timeout_s):
                body = await self._read(request, share)
            return await run_in_threadpool(self._unpack, body, share) if encoding == "gzip" else body
        except BodyTooLarge as error:
            raise Refusal(413, replies.INVALID_ARGUMENT, str(error)) from error
        except DecodeError as error:
            raise Refusal(400, replies.INVALID_ARGUMENT, str(error)) from error
        except BudgetSpent as error:
            raise self._later(503, "the intake holds as many bytes as it may") from error
        except (TimeoutError, ClientDisconnect) as error:
            raise Refusal(408, replies.UNAVAILABLE, "the body did not arrive in time") from error

    def _unpack(self, body: bytes, share: Share) -> bytes:
        unpacked = unpack_gzip(body, self._limits.max_unpacked_bytes, share.claim)
        share.give_back(len(body))
        return unpacked

    async def _read(self, request: Request, share: Share) -> bytes:
        bound = self._limits.max_body_bytes
        too_large = BodyTooLarge(f"the body is larger than {bound} bytes")
        declared = request.headers.get("content-length", "")
        if declared.isdecimal():
            if int(declared) > bound:
                raise too_large
            share.budget.require(int(declared))
        body = bytearray()
        async for chunk in request.stream():
            if len(body) + len(chunk) > bound:
                raise too_large
            share.claim(len(chunk))
            body += chunk
        return bytes(body)

    async def _decode(self, envelope: Envelope, tenant_id: str) -> tuple[int, list[SpanFault]]:
        try:
            decoded = await run_in_threadpool(envelope.spans) if len(envelope.body) > _LARGE else envelope.spans()
        except BodyTooLarge as error:
            raise Refusal(413, replies.INVALID_ARGUMENT, str(error)) from error
        except DecodeError as error:
            _log.warning("refused a body of tenant %s: %s", tenant_id, error)
            raise Refusal(400, replies.INVALID_ARGUMENT, str(error)) from error
        return len(decoded), [item for item in decoded if isinstance(item, SpanFault)]

    async def _keep(self, tenant_id: str, envelope: Envelope) -> None:
        try:
            future = await run_in_threadpool(self._spool.submit, tenant_id, envelope.pack())
            await asyncio.wrap_future(future)
            if self._recording is not None:
                recording = self._recording
                await run_in_threadpool(recording.append, tenant_id, envelope.content_type, envelope.body)
        except SpoolFull as error:
            raise self._later(503, "intake is full") from error
        except SpoolError as error:
            _log.exception("the spool refused a record of tenant %s", tenant_id)
            raise self._later(503, "intake cannot store") from error

    def _count(self, tenant_id: str, total: int, faults: list[SpanFault]) -> None:
        self.meters.spans.labels(tenant_id, "accepted", "").inc(total - len(faults))
        for fault in faults:
            self.meters.spans.labels(tenant_id, "rejected", fault.reason).inc()


def create_app(
    spool: Spool,
    tenant_keys: Mapping[str, str] | KeySource,
    limits: Limits | None = None,
    *,
    clock: Clock | None = None,
    recording: Recording | None = None,
) -> FastAPI:
    """The intake as an application: /v1/traces, /health, /metrics."""
    receiver = Receiver(spool, Credentials(tenant_keys), limits or Limits(), clock or SystemClock(), recording)
    app = FastAPI(title="Tidemill intake", docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
    app.add_exception_handler(HTTPException, receiver.not_served)
    app.add_api_route("/v1/traces", receiver.traces, methods=["POST"])

    @app.get("/health")
    def health() -> dict[str, Any]:
        return {"status": "ok", "spool_bytes": spool.bytes_held(), "spool_segments": spool.segments_held()}

    @app.get("/metrics")
    def metrics() -> Response:
        return Response(receiver.meters.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    return app


def _content_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()
