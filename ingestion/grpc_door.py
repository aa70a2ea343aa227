"""The gRPC door: OTLP/gRPC in, durable before it says so (``ingestion.intake``).

1. ``TraceService/Export`` and ``LogsService/Export`` take raw messages, so the one decoder of the intake reads them and
   a broken entry costs no other. The key stands in the metadata ``x-tidemill-key`` or ``authorization``.
2. A refusal that repeats has the code of ``ingestion.replies``. One that passes is ``RESOURCE_EXHAUSTED`` with
   ``RetryInfo``: by the OTLP specification a sender then comes back, and without it, it does not.
3. gRPC's own decompression has no bound on what comes out, so it is off, and a packed message is unpacked as an HTTP
   body is. Its first bytes tell it apart: as protobuf, gzip's would be a wire type that does not exist, and zlib's a
   field that no export request has.
4. A call is judged before its message has arrived: the key, and the room for it. The message then has the time of a
   body. gRPC hands a unary call over only when its message is complete, so the calls are served as streams of one
   message, which on the wire is the same.
5. A message above the bound of a body is refused by gRPC before it is read (``RESOURCE_EXHAUSTED`` without
   ``RetryInfo``). An address that is taken is an error: it is never shared.

Source: the OTLP specification, sections "OTLP/gRPC Response" and "OTLP/gRPC Throttling".
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from ingestion import replies
from ingestion.budget import Share
from ingestion.credentials import bearer
from ingestion.errors import DoorError
from ingestion.intake import Intake, Refusal
from ingestion.otlp_decode import PROTOBUF
from ingestion.otlp_fields import SpanFault
from ingestion.places import Place
from ingestion.telemetry import Telemetry

_GZIP: Final = b"\x1f\x8b"
_ZLIB: Final = b"\x78"
_DETAILS: Final = "grpc-status-details-bin"


class TlsFiles(NamedTuple):
    """A certificate chain and its key, both PEM."""

    cert: Path
    key: Path


class GrpcDoor:
    """Takes gRPC calls, answers them. Lives in the event loop in which it is started."""

    def __init__(self, intake: Intake, host: str, port: int, tls: TlsFiles | None = None) -> None:
        """Nothing listens yet. Port 0 is a free one; ``port`` says which."""
        self._intake = intake
        self._host = f"[{host}]" if ":" in host else host
        self.port = port
        self._tls = tls
        self._server: Any = None

    async def start(self) -> None:
        """Listen.

        Raises:
            DoorError: when the address is taken, or the certificate cannot be used.

        """
        import grpc

        limits = self._intake.limits
        self._server = grpc.aio.server(
            options=[
                ("grpc.max_receive_message_length", limits.max_body_bytes),
                ("grpc.per_message_decompression", 0),
                ("grpc.so_reuseport", 0),
            ],
            # Above the intake's own bound, so that it is the intake that says when to come back.
            maximum_concurrent_rpcs=2 * limits.max_in_flight + 1,
        )
        self._server.add_generic_rpc_handlers([self._handler(telemetry) for telemetry in Telemetry])
        self.port = self._listen(f"{self._host}:{self.port}")
        await self._server.start()

    async def stop(self, grace_s: float = 5.0) -> None:
        """Take no more calls, and end when those in progress are answered or the grace is over."""
        if self._server is not None:
            await self._server.stop(grace_s)

    def _listen(self, address: str) -> int:
        import grpc

        try:
            if self._tls is None:
                bound = self._server.add_insecure_port(address)
            else:
                pair = (self._tls.key.read_bytes(), self._tls.cert.read_bytes())
                bound = self._server.add_secure_port(address, grpc.ssl_server_credentials([pair]))
        except (OSError, RuntimeError, ValueError) as error:
            raise DoorError(f"gRPC intake cannot listen on {address}: {error}") from error
        if not bound:
            raise DoorError(f"gRPC intake cannot listen on {address}: it is taken, or the certificate is not usable")
        return int(bound)

    def _handler(self, telemetry: Telemetry) -> Any:
        import grpc

        method = grpc.stream_unary_rpc_method_handler(partial(self._export, telemetry))
        return grpc.method_handlers_generic_handler(telemetry.service, {"Export": method})

    async def _export(self, telemetry: Telemetry, messages: AsyncIterator[bytes], context: Any) -> bytes:
        started = time.perf_counter()
        meters = self._intake.meters
        try:
            with self._intake.request() as (place, share):
                faults = await self._take(telemetry, messages, context, place, share)
        except Refusal as refusal:
            await self._refuse(refusal, context)
            raise  # unreachable: to refuse a call ends it
        meters.calls.labels("OK").inc()
        meters.seconds.observe(time.perf_counter() - started)
        answer: bytes = replies.export_response(telemetry, faults).SerializeToString()
        return answer

    async def _take(
        self, telemetry: Telemetry, messages: AsyncIterator[bytes], context: Any, place: Place, share: Share
    ) -> list[SpanFault]:
        metadata = {str(key): value for key, value in context.invocation_metadata() or ()}
        key = metadata.get("x-tidemill-key") or bearer(metadata.get("authorization", ""))
        tenant_id = self._intake.tenant(key)
        self._intake.admit(tenant_id, place, share)
        message = await self._message(messages)
        with self._intake.refusing():
            share.claim(len(message))
        body = await self._intake.unpacked(packing(message), message, share)
        return await self._intake.take(tenant_id, telemetry, PROTOBUF, body)

    async def _message(self, messages: AsyncIterator[bytes]) -> bytes:
        """The one message of a call.

        Raises:
            Refusal: when there is none, or more than one, or it does not arrive in time.

        """
        found: list[bytes] = []
        try:
            async with self._intake.arrivals.within(self._intake.limits.body_timeout_s):
                async for message in messages:
                    found.append(message)
                    if len(found) > 1:
                        break
        except TimeoutError as error:
            if self._intake.arrivals.left:
                raise self._intake.leaving() from error
            raise self._intake.later(503, "the message did not arrive in time") from error
        if len(found) != 1:
            raise Refusal(400, replies.INVALID_ARGUMENT, "an export call holds exactly one message")
        return found[0]

    async def _refuse(self, refusal: Refusal, context: Any) -> None:
        import grpc

        passes = refusal.retry_after_s is not None
        number = replies.RESOURCE_EXHAUSTED if passes else refusal.code
        code = next(one for one in grpc.StatusCode if one.value[0] == number)
        self._intake.meters.calls.labels(code.name).inc()
        details = replies.status(number, refusal.message, refusal.retry_after_s)
        await context.abort(code, refusal.message, ((_DETAILS, details),))


def packing(message: bytes) -> str:
    """The encoding that a message's first bytes show; empty for none."""
    if message.startswith(_GZIP):
        return "gzip"
    return "deflate" if message.startswith(_ZLIB) else ""
