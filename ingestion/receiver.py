"""The HTTP door: OTLP/HTTP and feedback in, durable before it says so (``ingestion.intake``).

1. 200 is sent after the body is on disk; entries that are refused on their own are counted in ``partialSuccess`` with
   reasons.
2. Errors that repeat are 4xx (a sender must not retry); those that pass are 429 and 503 with ``Retry-After``.
3. Every error has the form of OTLP, also for a path or a method that is not served, and where the intake itself fails.
   ``/v1/traces`` and ``/v1/logs`` have one spelling, as in the OpenTelemetry Collector: with a trailing slash they are
   not found, and never redirected, because exporters differ in whether they post again elsewhere, and one that does not
   would lose its spans without a word.
4. Feedback (``/v1/feedback``, JSON) goes through the spool as spans do: one promise of durability, one place of raw
   words under one-time keys, one ledger, and no masking while a sender waits. The answer names what became of each
   item.
5. Consent (``/v1/consent``, JSON) is taken with a key of its own: an agent's key may not speak for people.
   It is recorded before the answer, since a withdrawal counts at once; a person's id is hashed before anything is
   written, so nothing raw rests anywhere.

Source: the OTLP specification, sections "OTLP/HTTP Response" and "OTLP/HTTP Throttling".
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from governance.ports.clock import Clock
from ingestion import replies
from ingestion.budget import Share
from ingestion.credentials import KeySource, KeyUse, bearer
from ingestion.encodings import SPOKEN, encoding_of
from ingestion.errors import BodyTooLarge
from ingestion.intake import Intake, Refusal
from ingestion.limits import Limits
from ingestion.otlp_decode import JSON, PROTOBUF
from ingestion.places import Place
from ingestion.recording import Recording
from ingestion.spool import Spool
from ingestion.telemetry import Telemetry

FEEDBACK: Final = "/v1/feedback"
CONSENT: Final = "/v1/consent"
_Take = Callable[[Request, Place, Share], Awaitable[Response]]
_SERVED: Final = (
    f"this intake takes {', '.join(f'{kind} at POST {kind.path}' for kind in Telemetry)}, "
    f"feedback at POST {FEEDBACK}, consent at POST {CONSENT}, and answers GET /health and GET /metrics"
)


class Receiver:
    """Takes HTTP requests, answers them."""

    def __init__(self, intake: Intake) -> None:
        """The intake decides; this door translates."""
        self._intake = intake

    async def traces(self, request: Request) -> Response:
        """POST /v1/traces."""
        return await self._answer(request, Telemetry.TRACES)

    async def logs(self, request: Request) -> Response:
        """POST /v1/logs."""
        return await self._answer(request, Telemetry.LOGS)

    async def feedback(self, request: Request) -> Response:
        """POST /v1/feedback."""
        return await self._answered(request, self._take_feedback, JSON)

    async def consent(self, request: Request) -> Response:
        """POST /v1/consent."""
        return await self._answered(request, self._take_consents, JSON)

    async def not_served(self, request: Request, error: Exception) -> Response:
        """The answer to a path or a method that is not served."""
        if not isinstance(error, HTTPException):
            raise error
        self._intake.meters.requests.labels(str(error.status_code)).inc()
        message = f"{request.method[:20]} {request.url.path[:100]!r} is not served: {_SERVED}"
        code, headers = replies.UNIMPLEMENTED, dict(error.headers or {})
        return replies.failed(error.status_code, code, message, _content_type(request), headers)

    async def broken(self, request: Request, error: Exception) -> Response:  # noqa: ARG002 - Starlette's signature
        """The answer when the intake itself fails; the error is logged by the server."""
        self._intake.meters.requests.labels("500").inc()
        return replies.failed(500, replies.INTERNAL, "the intake failed; its log says why", _content_type(request))

    async def _answer(self, request: Request, telemetry: Telemetry) -> Response:
        async def take(request: Request, place: Place, share: Share) -> Response:
            return await self._take(request, telemetry, place, share)

        return await self._answered(request, take, _content_type(request))

    async def _answered(self, request: Request, take: _Take, content_type: str) -> Response:
        """The answer to a request; an error in the form of ``content_type``."""
        started = time.perf_counter()
        try:
            with self._intake.request() as (place, share):
                response = await take(request, place, share)
        except Refusal as refusal:
            headers = _headers(refusal)
            response = replies.failed(refusal.status, refusal.code, refusal.message, content_type, headers)
        self._intake.meters.requests.labels(str(response.status_code)).inc()
        self._intake.meters.seconds.observe(time.perf_counter() - started)
        return response

    async def _take(self, request: Request, telemetry: Telemetry, place: Place, share: Share) -> Response:
        tenant_id, content_type = self._admitted(request, place, share, PROTOBUF, JSON)
        body = await self._body(request, share)
        faults = await self._intake.take(tenant_id, telemetry, content_type, body)
        return replies.exported(telemetry, faults, content_type)

    async def _take_feedback(self, request: Request, place: Place, share: Share) -> Response:
        tenant_id, _ = self._admitted(request, place, share, JSON)
        body = await self._body(request, share)
        return replies.heard(await self._intake.take_feedback(tenant_id, body))

    async def _take_consents(self, request: Request, place: Place, share: Share) -> Response:
        tenant_id, _ = self._admitted(request, place, share, JSON, use=KeyUse.CONSENT)
        body = await self._body(request, share)
        return replies.consented(await self._intake.take_consents(tenant_id, body))

    def _admitted(
        self, request: Request, place: Place, share: Share, *types: str, use: KeyUse = KeyUse.TELEMETRY
    ) -> tuple[str, str]:
        """Whose request it is, and its content type, which is one of these."""
        held, content_type = request.headers, _content_type(request)
        tenant_id = self._intake.tenant(held.get("x-tidemill-key") or bearer(held.get("authorization", "")), use)
        if content_type not in types:
            message = f"content type {content_type or '(none)'!r}: send {' or '.join(types)}"
            raise Refusal(415, replies.INVALID_ARGUMENT, message)
        self._intake.admit(tenant_id, place, share)
        return tenant_id, content_type

    async def _body(self, request: Request, share: Share) -> bytes:
        named = request.headers.get("content-encoding", "")
        encoding = encoding_of(named)
        if encoding is None:
            message = f"content encoding {named[:40]!r}: send {', '.join(SPOKEN)} or none"
            raise Refusal(415, replies.INVALID_ARGUMENT, message)
        try:
            async with self._intake.arrivals.within(self._intake.limits.body_timeout_s):
                with self._intake.refusing():
                    body = await self._read(request, share)
        except TimeoutError as error:
            late = self._intake.later(503, "the body did not arrive in time")
            raise (self._intake.leaving() if self._intake.arrivals.left else late) from error
        except ClientDisconnect as error:
            raise Refusal(408, replies.UNAVAILABLE, "the sender left") from error  # nobody hears it; it is counted
        return await self._intake.unpacked(encoding, body, share)

    async def _read(self, request: Request, share: Share) -> bytes:
        bound = self._intake.limits.max_body_bytes
        too_large = BodyTooLarge(f"the body is larger than {bound} bytes")
        declared = request.headers.get("content-length", "")
        if declared.isdecimal():
            if int(declared) > bound:
                raise too_large
            share.require(int(declared))
        body = bytearray()
        async for chunk in request.stream():
            if len(body) + len(chunk) > bound:
                raise too_large
            share.claim(len(chunk))
            body += chunk
        return bytes(body)


def app_of(intake: Intake) -> FastAPI:
    """The intake as an application: /v1/traces, /v1/logs, /v1/feedback, /v1/consent, /health, /metrics."""
    receiver = Receiver(intake)
    app = FastAPI(title="Tidemill intake", docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
    app.add_exception_handler(HTTPException, receiver.not_served)
    app.add_exception_handler(Exception, receiver.broken)
    app.add_api_route(Telemetry.TRACES.path, receiver.traces, methods=["POST"])
    app.add_api_route(Telemetry.LOGS.path, receiver.logs, methods=["POST"])
    app.add_api_route(FEEDBACK, receiver.feedback, methods=["POST"])
    app.add_api_route(CONSENT, receiver.consent, methods=["POST"])

    @app.get("/health")
    def health() -> dict[str, Any]:
        spool = intake.spool
        return {"status": "ok", "spool_bytes": spool.bytes_held(), "spool_segments": spool.segments_held()}

    @app.get("/metrics")
    def metrics() -> Response:
        return Response(intake.meters.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    return app


def create_app(
    spool: Spool,
    tenant_keys: Mapping[str, str] | KeySource,
    limits: Limits | None = None,
    *,
    clock: Clock | None = None,
    recording: Recording | None = None,
) -> FastAPI:
    """An intake with this door alone."""
    return app_of(Intake(spool, tenant_keys, limits, clock=clock, recording=recording))


def _headers(refusal: Refusal) -> dict[str, str]:
    headers = {"WWW-Authenticate": "Bearer"} if refusal.status == 401 else {}
    return headers if refusal.retry_after_s is None else headers | {"Retry-After": str(refusal.retry_after_s)}


def _content_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()
