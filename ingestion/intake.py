"""The intake behind its doors: one request, judged and made durable, whichever way it came.

HTTP (``ingestion.receiver``) and gRPC (``ingestion.grpc_door``) carry bytes in and answers out; everything that is
decided about a request is decided here, once.

1. ``take`` returns after the body is on disk (``Spool``). Entries that are refused on their own are its result, and the
   drain counts the same ones into the ledger.
2. The tenant comes from the credential (``ingestion.credentials``), and from nothing in the body.
3. A ``Refusal`` that repeats says so; one that passes carries ``retry_after_s``.
4. Memory is bounded: by the body, by what it unpacks to, by the requests in progress, and by the bytes of all of them
   together (``ingestion.budget``), which every request gives back however it ends.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from starlette.concurrency import run_in_threadpool

from governance.ports.clock import Clock, SystemClock
from governance.records.base import to_unix_nano
from ingestion import replies
from ingestion.budget import Budget, Share
from ingestion.credentials import Credentials, KeySource
from ingestion.encodings import unpack
from ingestion.envelope import Envelope
from ingestion.errors import BodyTooLarge, BudgetSpent, DecodeError, SpoolError, SpoolFull
from ingestion.ledger_meters import LedgerMeters, Lines
from ingestion.limits import Limits
from ingestion.meters import Meters
from ingestion.otlp_fields import SpanFault
from ingestion.recording import Recording
from ingestion.spool import Spool
from ingestion.telemetry import Telemetry

_log = logging.getLogger(__name__)
_LARGE: Final = 64 * 1024
"""Bodies beyond this are decoded in a thread, so that small ones do not wait for them."""
_NANO: Final = 1_000_000_000


class Refusal(Exception):
    """Ends a request with an error."""

    def __init__(self, status: int, code: int, message: str, *, retry_after_s: int | None = None) -> None:
        """The HTTP status, the ``google.rpc.Code``, what to tell the sender, and when to come back if ever."""
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.retry_after_s = retry_after_s


class Intake:
    """What the doors share."""

    def __init__(
        self,
        spool: Spool,
        tenant_keys: Mapping[str, str] | KeySource,
        limits: Limits | None = None,
        *,
        clock: Clock | None = None,
        recording: Recording | None = None,
        ledger: Lines | None = None,
    ) -> None:
        """``recording`` keeps a copy of what is accepted, for replays; ``ledger`` is what metrics show."""
        self.spool = spool
        self.limits = limits or Limits()
        self._credentials = Credentials(tenant_keys)
        self._clock = clock or SystemClock()
        self._recording = recording
        self._in_flight = 0
        self._budget = Budget(self.limits.max_bytes_in_flight)
        self.meters = Meters(spool, self._budget, None if ledger is None else LedgerMeters(ledger, self._clock))

    @contextmanager
    def request(self) -> Iterator[Share]:
        """One request in progress and the bytes that it holds."""
        self._in_flight += 1
        try:
            with self._budget.share() as share:
                yield share
        finally:
            self._in_flight -= 1

    def tenant(self, key: str) -> str:
        """Whose request this is.

        Raises:
            Refusal: when the key is missing or unknown.

        """
        if not key:
            message = "send the tenant's API key as x-tidemill-key or Authorization: Bearer"
            raise Refusal(401, replies.UNAUTHENTICATED, message)
        tenant_id = self._credentials.tenant(key)
        if tenant_id is None:
            raise Refusal(403, replies.PERMISSION_DENIED, "the API key is not known here")
        return tenant_id

    def require_room(self) -> None:
        """Nothing, while no more requests are in progress than may be.

        Raises:
            Refusal: otherwise.

        """
        if self._in_flight > self.limits.max_in_flight:
            raise self.later(429, "too many requests in progress")

    def later(self, status: int, why: str) -> Refusal:
        """The refusal of a request that may come again."""
        code = replies.RESOURCE_EXHAUSTED if status == 429 else replies.UNAVAILABLE
        return Refusal(status, code, f"{why}; try again later", retry_after_s=self.limits.retry_after_s)

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """Turn what goes wrong with a body inside into the refusal that tells the sender."""
        try:
            yield
        except BodyTooLarge as error:
            raise Refusal(413, replies.INVALID_ARGUMENT, str(error)) from error
        except DecodeError as error:
            raise Refusal(400, replies.INVALID_ARGUMENT, str(error)) from error
        except BudgetSpent as error:
            raise self.later(503, "the intake holds as many bytes as it may") from error

    async def unpacked(self, encoding: str, body: bytes, share: Share) -> bytes:
        """The body's content; ``share`` holds its bytes before and the content's after.

        Raises:
            Refusal: when it is broken, too large, or there is no room.

        """
        if not encoding:
            return body
        with self.refusing():
            return await run_in_threadpool(self._unpack, encoding, body, share)

    def _unpack(self, encoding: str, body: bytes, share: Share) -> bytes:
        content = unpack(encoding, body, self.limits.max_unpacked_bytes, share.claim)
        share.give_back(len(body))
        return content

    async def take(self, tenant_id: str, telemetry: Telemetry, content_type: str, body: bytes) -> list[SpanFault]:
        """Make a body durable and return which of its entries are refused on their own.

        Raises:
            Refusal: when nothing of it is taken.

        """
        envelope = Envelope(
            telemetry=telemetry,
            content_type=content_type,
            received_unix_nano=to_unix_nano(self._clock.now()),
            max_age_nano=None if self.limits.max_age_s is None else self.limits.max_age_s * _NANO,
            body=body,
        )
        total, faults = await self._decode(envelope, tenant_id)
        if total:
            await self._keep(tenant_id, envelope.model_copy(update={"entries": total}))
            self.meters.count(telemetry, tenant_id, total, faults)
        return faults

    async def _decode(self, envelope: Envelope, tenant_id: str) -> tuple[int, list[SpanFault]]:
        with self.refusing():
            try:
                decoded = await run_in_threadpool(envelope.spans) if len(envelope.body) > _LARGE else envelope.spans()
            except DecodeError as error:
                _log.warning("refused a body of tenant %s: %s", tenant_id, error)
                raise
        return len(decoded), [item for item in decoded if isinstance(item, SpanFault)]

    async def _keep(self, tenant_id: str, envelope: Envelope) -> None:
        try:
            future = await run_in_threadpool(self.spool.submit, tenant_id, envelope.pack())
            await asyncio.wrap_future(future)
            if self._recording is not None:
                kept = (tenant_id, envelope.content_type, envelope.body, envelope.telemetry)
                await run_in_threadpool(self._recording.append, *kept)
        except SpoolFull as error:
            raise self.later(503, "intake is full") from error
        except SpoolError as error:
            _log.exception("the spool refused a record of tenant %s", tenant_id)
            raise self.later(503, "intake cannot store") from error
