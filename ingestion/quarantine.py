"""Quarantine: what masking could not read rests sealed, and comes back through the door when it can.

1. The spans of one trace, or one item of feedback, are set aside together, with the raw id of their person, sealed
   under the spool key and bound to the record's name; nothing of them is in clear. They live as long as a spool
   segment may (``RETENTION``), no longer.
2. A release is the door again: rights, suppression and masking as they are now. Spans stored, ledger entry and removal
   are one transaction, so a crash leaves a record sealed or released, never both, and nothing is counted twice.
3. Attempts by themselves come at growing intervals, so a record that no detector reads costs little; whoever asks for
   one by hand does not wait.
4. A reviewer may look into a record while it lives. The look is written to the audit before anything is opened.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from governance.door import Door, Refusal, tally
from governance.errors import MaskingError, NotFound
from governance.ports.clock import Clock, IdFactory, RandomIds
from governance.records.audit import AuditEvent
from governance.records.base import Record, canonical_json, digest_bytes, to_unix_nano
from governance.records.content import AdmittedSpan
from governance.records.ledger import Fate
from governance.records.retention import RETENTION, RetentionClass
from governance.records.span import Span
from governance.store import Store
from governance.store.quarantine import Quarantined
from ingestion.batch import items
from ingestion.commit import together
from ingestion.errors import DecodeError, SpoolError
from ingestion.feedback.admission import Admission, AdmittedFeedback
from ingestion.feedback.body import FeedbackEnvelope
from ingestion.feedback.item import Item
from ingestion.merge import normal
from ingestion.people import Subjects
from ingestion.spool import Spool
from ingestion.storing import Fates, store_feedback, store_spans

_log = logging.getLogger(__name__)
MASKING_FAILED: Final = "masking_failed"
REVIEWER: Final = "compliance"
_FIRST_PAUSE: Final = timedelta(minutes=2)
_LONGEST_PAUSE: Final = timedelta(hours=6)


class Aside(NamedTuple):
    """A trace on its way to quarantine."""

    id: str
    sealed: bytes
    spans: int

    def put(self, store: Store, tenant_id: str, day: str, now: datetime) -> None:
        """Into the store, with its expiry."""
        expires_at = now + RETENTION[RetentionClass.SPOOL]
        store.quarantine.put(self.id, tenant_id, self.sealed, MASKING_FAILED, expires_at, day=day, spans=self.spans)


def set_aside(spool: Spool, place: str, spans: Sequence[Span], owner: str | None) -> Aside:
    """Seal the spans of one trace; ``place`` names them for good, and ``owner`` is the raw id of the trace's person."""
    name = digest_bytes(place.encode())
    held = canonical_json({"owner": owner, "spans": [span.plain() for span in spans]})
    return Aside(name, spool.seal_aside(_label(name), held), len(spans))


def set_item_aside(spool: Spool, place: str, item: Item) -> Aside:
    """Seal one item of feedback; ``place`` names it for good."""
    name = digest_bytes(place.encode())
    envelope = FeedbackEnvelope(received_unix_nano=to_unix_nano(item.at), body=canonical_json(item.sent()))
    held = canonical_json({"feedback": envelope.pack().decode()})
    return Aside(name, spool.seal_aside(_label(name), held), 1)


class _Held(NamedTuple):
    """What a record holds: the spans of a trace with its person, or an item of feedback."""

    owner: str | None
    spans: list[Span]
    feedback: list[Item]


class QuarantineReport(Record):
    """What one run did, in spans."""

    expired: int = 0
    """Destroyed unread: their time was over."""
    released: dict[str, int] = {}
    """Fate to count."""
    withheld: int = 0
    failed: int = 0
    """Tried, and still in quarantine."""
    waiting: int = 0
    """Not due yet."""


class Quarantine:
    """Tries records again, and shows them to reviewers."""

    def __init__(
        self, spool: Spool, door: Door, store: Store, subjects: Subjects, clock: Clock, *, ids: IdFactory | None = None
    ) -> None:
        """``spool`` has the key."""
        self._spool, self._door, self._store, self._subjects = spool, door, store, subjects
        self._clock = clock
        self._ids = ids or RandomIds()
        self._feedback = Admission(door, spool, store)

    def run(self, ids: Sequence[str] | None = None) -> QuarantineReport:
        """Destroy what is overdue and try what is due; the records of ``ids``, if given, whether due or not.

        Raises:
            NotFound: for an id that is not there.

        """
        expired = self._store.quarantine.expire(self._clock.now())
        chosen = self._store.quarantine.list() if ids is None else [self._store.quarantine.take(id_) for id_ in ids]
        total: Counter[str] = Counter()
        released: Counter[str] = Counter()
        for item in chosen:
            if ids is None and item.retry_at > self._clock.now():
                total["waiting"] += item.spans
            else:
                self._try(item, total, released)
        return QuarantineReport(expired=expired, released=dict(sorted(released.items())), **total)

    def show(self, id_: str, reviewer: str) -> dict[str, Any]:
        """What a record holds, in clear, for the eyes of a reviewer; the audit knows who looked.

        Raises:
            NotFound: when it is not there, or its time is over.
            SpoolError: when it does not open.

        """
        item = self._store.quarantine.take(id_)
        self._log(item, reviewer, "view_quarantine", {"spans": item.spans})
        held = self._open(item)
        told = {"spans": [span.plain() for span in held.spans]}
        if held.feedback:
            told = {"feedback": [one.sent() for one in held.feedback]}
        return {"id": item.id, "tenant": item.tenant_id, "person": held.owner, **told}

    def _try(self, item: Quarantined, total: Counter[str], released: Counter[str]) -> None:
        try:
            held = self._open(item)
            admitted = self._door.admit(item.tenant_id, self._items(item, held)) if held.spans else []
            said = self._feedback.through_door(item.tenant_id, held.feedback) if held.feedback else AdmittedFeedback()
            fates, withheld = together(self._store, lambda: self._release(item, admitted, said))
        except (MaskingError, SpoolError) as error:
            pause = min(_FIRST_PAUSE * 2 ** min(item.attempts, 10), _LONGEST_PAUSE)
            self._store.quarantine.postpone(item.id, self._clock.now() + pause)
            total["failed"] += item.spans
            _log.warning("quarantine %s of tenant %s stays closed: %s", item.id[:12], item.tenant_id, error)
            return
        except NotFound:
            return  # another run released it, or its time is over
        released.update(fate.value for fate, _ in fates)
        total["withheld"] += withheld

    def _items(self, item: Quarantined, held: _Held) -> list[Any]:
        owners = {} if held.owner is None else {span.trace_id: held.owner for span in held.spans}
        return items(item.tenant_id, held.spans, self._subjects, owners)

    def _release(
        self, item: Quarantined, admitted: list[AdmittedSpan | Refusal], said: AdmittedFeedback
    ) -> tuple[Fates, int]:
        if not self._store.quarantine.remove(item.id):
            raise NotFound(f"quarantine {item.id} is gone")
        fates: Fates = [(Fate.REJECTED, one.reason) for one in admitted if isinstance(one, Refusal)]
        stored, withheld = store_spans(self._store, [normal(one) for one in admitted if isinstance(one, AdmittedSpan)])
        heard, unheard = store_feedback(self._store, said)
        fates, withheld = [*fates, *stored, *heard], withheld + unheard
        if admitted:
            event = self._door.admission(item.tenant_id, f"quarantine {item.id}", tally(admitted))
            self._store.audit.append(event)
        self._store.ledger.record_release(item.tenant_id, item.day, fates, withheld, item.id)
        self._log(item, "quarantine", "release_from_quarantine", dict(Counter(fate.value for fate, _ in fates)))
        return fates, withheld

    def _open(self, item: Quarantined) -> _Held:
        data = self._spool.open_aside(_label(item.id), item.sealed)
        try:
            held = json.loads(data)
            if "feedback" in held:
                found = FeedbackEnvelope.unpack(held["feedback"].encode()).items()
                said = [one for one in found if isinstance(one, Item)]
                return _Held(said[0].user_id, [], said)
            return _Held(held["owner"], [Span.model_validate(span) for span in held["spans"]], [])
        except (DecodeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise SpoolError(f"quarantine {item.id} holds something else than spans or feedback") from error

    def _log(self, item: Quarantined, actor: str, action: str, detail: dict[str, Any]) -> None:
        self._store.audit.append(
            AuditEvent(
                id=self._ids.hex(16),
                tenant_id=item.tenant_id,
                actor=actor,
                role=REVIEWER if action.startswith("view") else "intake",
                action=action,
                target=f"quarantine:{item.id}",
                detail=detail,
                at=self._clock.now(),
            )
        )


def _label(name: str) -> str:
    return f"tidemill quarantine {name}"
