"""The intake behind its doors: one request, judged and made durable, whichever way it came.

HTTP (``ingestion.receiver``) and gRPC (``ingestion.grpc_door``) carry bytes in and answers out; everything that is
decided about a request is decided here, once.

1. ``take`` returns after the body is on disk (``Spool``). Entries that are refused on their own are its result, and the
   drain counts the same ones into the ledger.
2. The tenant comes from the credential (``ingestion.credentials``), and from nothing in the body.
3. A ``Refusal`` that repeats says so; one that passes carries ``retry_after_s``.
4. Memory is bounded: by the body, by what it unpacks to, by the requests in progress, by the bytes of all of them
   together (``ingestion.budget``), which every request gives back however it ends, and by how many large bodies are
   unpacked and read at a time. No tenant can take all of it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final, NamedTuple, TypeVar

from governance.errors import StoreError
from governance.ports.clock import Clock, SystemClock
from governance.records.base import to_unix_nano
from ingestion import replies
from ingestion.budget import Budget, Share
from ingestion.consent.body import rows_of
from ingestion.consent.item import ConsentFault, ConsentItem
from ingestion.consent.taking import Result
from ingestion.credentials import Credentials, KeySource, KeyUse
from ingestion.encodings import unpack
from ingestion.envelope import Envelope
from ingestion.errors import BodyTooLarge, BudgetSpent, DecodeError, SpoolError, SpoolFull
from ingestion.feedback.body import FeedbackEnvelope
from ingestion.feedback.item import Item, ItemFault
from ingestion.ledger_meters import LedgerMeters, Lines
from ingestion.limits import Limits
from ingestion.meters import Meters
from ingestion.otlp_check import Checked, check
from ingestion.otlp_fields import SpanFault
from ingestion.places import Arrivals, Place, Places
from ingestion.recording import Recording
from ingestion.spool import Spool
from ingestion.telemetry import Telemetry

_log = logging.getLogger(__name__)
_LARGE: Final = 64 * 1024
"""Bodies beyond this are decoded in a thread, so that small ones do not wait for them."""
_NANO: Final = 1_000_000_000
_WRITERS: Final = 8
T = TypeVar("T")
TakeConsents = Callable[[str, list[ConsentItem | ConsentFault]], list[Result]]
"""Records the rows of a tenant and says what became of each."""


class ConsentDesk(NamedTuple):
    """Where what people said is taken."""

    keys: Mapping[str, str] | KeySource
    """The API keys for it."""
    take: TakeConsents


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
        consents: ConsentDesk | None = None,
    ) -> None:
        """``recording`` keeps a copy of what is accepted, for replays; ``ledger`` is what metrics show.

        ``consents`` records what people said, by keys of its own: a key that agents carry says nothing for people.
        Without it that is not taken here.
        """
        self.spool = spool
        self.limits = limits or Limits()
        self._credentials = Credentials(tenant_keys)
        self._clock = clock or SystemClock()
        self._recording = recording
        self._consents = consents
        self._speakers = Credentials({} if consents is None else consents.keys)
        self.arrivals = Arrivals()
        self._places = Places(self.limits.max_in_flight, self.limits.max_in_flight_of_tenant)
        self._budget = Budget(self.limits.max_bytes_in_flight, self.limits.max_bytes_of_tenant)
        self._decoders = ThreadPoolExecutor(self.limits.decoders, "intake-decoder")
        self._writers = ThreadPoolExecutor(_WRITERS, "intake-writer")
        self.meters = Meters(spool, self._budget, None if ledger is None else LedgerMeters(ledger, self._clock))

    def leave(self) -> None:
        """Take nothing any more: whoever sends is told to come back, also in the middle of a body. From any thread."""
        self.arrivals.leave()

    @contextmanager
    def request(self) -> Iterator[tuple[Place, Share]]:
        """One request in progress and the bytes that it holds."""
        with self._places.one() as place, self._budget.share() as share:
            yield place, share

    def tenant(self, key: str, use: KeyUse = KeyUse.TELEMETRY) -> str:
        """Whose request this is.

        Raises:
            Refusal: when the key is missing, unknown, or one for something else.

        """
        if not key:
            message = "send the tenant's API key as x-tidemill-key or Authorization: Bearer"
            raise Refusal(401, replies.UNAUTHENTICATED, message)
        if use is KeyUse.CONSENT and self._consents is None:
            raise Refusal(501, replies.UNIMPLEMENTED, "this intake records no consent")
        mine, other = self._credentials, self._speakers
        if use is KeyUse.CONSENT:
            mine, other = other, mine
        tenant_id, elsewhere = mine.tenant(key), other.tenant(key)
        if tenant_id is None and elsewhere is not None:
            message = f"this API key is not one for {use}; see: tidemill tenant keys add --for {use}"
            raise Refusal(403, replies.PERMISSION_DENIED, message)
        if tenant_id is None:
            raise Refusal(403, replies.PERMISSION_DENIED, "the API key is not known here")
        return tenant_id

    def admit(self, tenant_id: str, place: Place, share: Share) -> None:
        """Let a tenant's request go on, while no more are in progress than may be, in all and of the tenant.

        Raises:
            Refusal: otherwise.

        """
        share.tenant = tenant_id
        why = self._places.full(place, tenant_id)
        if self.arrivals.left:
            raise self.leaving()
        if why:
            raise self.later(429, why)

    def leaving(self) -> Refusal:
        """The refusal of a request that comes while the intake ends."""
        return self.later(503, "the intake is ending")

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
            return await self._run(self._decoders, self._unpack, encoding, body, share)

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
        total, faults = await self._check(envelope, tenant_id)
        if total:
            await self._keep(tenant_id, envelope.model_copy(update={"entries": total}))
            self.meters.count(telemetry, tenant_id, total, faults)
        return faults

    async def take_feedback(self, tenant_id: str, body: bytes) -> list[Item | ItemFault]:
        """Make a body of feedback durable and return what it holds, in order.

        Where every item is refused nothing is taken: the answer is the sender's to mend. Feedback is not recorded.

        Raises:
            Refusal: when nothing of it is taken.

        """
        envelope = FeedbackEnvelope(received_unix_nano=to_unix_nano(self._clock.now()), body=body)
        with self.refusing():
            large = len(body) > _LARGE
            items = await self._run(self._decoders, envelope.items) if large else envelope.items()
        faults = [item for item in items if isinstance(item, ItemFault)]
        if len(faults) < len(items):
            await self._keep(tenant_id, envelope.model_copy(update={"entries": len(items)}))
        self.meters.count_feedback(tenant_id, len(items), faults)
        return items

    async def take_consents(self, tenant_id: str, body: bytes) -> list[Result]:
        """Record a body of consent rows, and say what became of each, in order.

        What a person said is not spooled: it counts from the answer on.

        Raises:
            Refusal: when nothing of it is taken.

        """
        assert self._consents is not None, "no key opens it else"  # noqa: S101 - what ``tenant`` has decided
        with self.refusing():
            found = await self._run(self._decoders, rows_of, body, self._clock.now())
        try:
            return await self._run(self._writers, self._consents.take, tenant_id, found)
        except StoreError as error:
            _log.exception("the store refused consent rows of tenant %s", tenant_id)
            raise self.later(503, "intake cannot store") from error

    async def _check(self, envelope: Envelope, tenant_id: str) -> Checked:
        with self.refusing():
            try:
                large = len(envelope.body) > _LARGE
                return await self._run(self._decoders, check, envelope) if large else check(envelope)
            except DecodeError as error:
                _log.warning("refused a body of tenant %s: %s", tenant_id, error)
                raise

    async def _keep(self, tenant_id: str, envelope: Envelope | FeedbackEnvelope) -> None:
        try:
            future = await self._run(self._writers, self.spool.submit, tenant_id, envelope.pack())
            await asyncio.wrap_future(future)
            if self._recording is not None and isinstance(envelope, Envelope):
                kept = (tenant_id, envelope.content_type, envelope.body, envelope.telemetry)
                await self._run(self._writers, self._recording.append, *kept)
        except SpoolFull as error:
            raise self.later(503, "intake is full") from error
        except SpoolError as error:
            _log.exception("the spool refused a record of tenant %s", tenant_id)
            raise self.later(503, "intake cannot store") from error

    @staticmethod
    async def _run(threads: Executor, work: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(threads, work, *arguments)
