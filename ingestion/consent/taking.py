"""Consent rows into the ledger of rights, each with what became of it.

1. The person's id and the platform's id of the event are hashed with the tenant's key before anything is written; the
   exact text of a notice is kept once, under its digest.
2. A part of rows is one transaction, on the disk when ``take`` returns, with one audit event. A run that breaks off is
   run again: what is recorded is a duplicate then, so nothing is doubled and nothing lost.
3. Order does not matter. What counts at a moment follows from when people said it, not from when it arrived. Of two
   that were said at the same moment the one that forbids more counts: one that comes later and forbids less is
   ``superseded`` and not recorded, so every order of arrival ends in the same state. A platform's clock may lie ahead:
   its times stay the order of what it says, and a word that forbids counts from its arrival.
4. The same id for something else is a fault of the row: an event never changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import islice
from typing import Any, Final, NamedTuple

from governance.acting import audited
from governance.policy.facts import RESTRAINT, expiry_order
from governance.ports.clock import Clock, IdFactory
from governance.records.rights import ConsentEvent
from governance.store import Store
from governance.store.notices import notice_digest
from ingestion.consent.item import ConsentFault, ConsentItem

PART: Final = 500
"""Rows of one transaction."""
ACTOR: Final = "platform"
NO_NOTICE: Final = notice_digest("")
"""What stands for the notice of a word that needs none."""
SubjectOf = Callable[[str, str], str]
"""Tenant and raw id to the keyed hash."""
_Force = tuple[int, float, str]


class Became(StrEnum):
    """What became of a row."""

    RECORDED = "recorded"
    DUPLICATE = "duplicate"
    """The event was recorded before."""
    SUPERSEDED = "superseded"
    """Another word of the same moment forbids more."""
    SUPPRESSED = "suppressed"
    """The person was erased and stays out."""
    REJECTED = "rejected"


class Result(NamedTuple):
    """A row and what became of it."""

    position: int
    became: Became
    field: str = ""
    reason: str = ""

    def plain(self) -> dict[str, Any]:
        """As people and senders see it: never a value of the row."""
        why = {"field": self.field, "reason": self.reason} if self.became is Became.REJECTED else {}
        return {"position": self.position, "status": self.became.value, **why}


class ConsentTaking:
    """Records rows of one installation."""

    def __init__(self, store: Store, subject: SubjectOf, clock: Clock, ids: IdFactory) -> None:
        """``subject`` hashes an id as the door does."""
        self._store = store
        self._subject = subject
        self._clock = clock
        self._ids = ids

    def take(self, tenant_id: str, found: Iterable[ConsentItem | ConsentFault], source: str) -> Iterator[Result]:
        """Record rows, part by part; ``source`` names where they are from, in the audit."""
        rest = iter(found)
        while part := list(islice(rest, PART)):
            faults = [Result(one.position, Became.REJECTED, one.field, one.reason)
                      for one in part if isinstance(one, ConsentFault)]  # fmt: skip
            with self._store.transaction(durable=True):
                results = [*faults, *self._record(tenant_id, [one for one in part if isinstance(one, ConsentItem)])]
                counts = Counter(one.became.value for one in results)
                about = (tenant_id, "take_consents", f"source:{source}", dict(counts))
                event = audited(self._ids, self._clock.now(), *about)
                self._store.audit.append(event)
            yield from sorted(results)

    def _record(self, tenant_id: str, items: Sequence[ConsentItem]) -> list[Result]:
        events = [self._event(tenant_id, item) for item in items]
        people = {event.subject for event in events}
        gone = self._store.rights.suppressed(tenant_id, people)
        known = _Known(self._store.rights.consents_to_join(tenant_id, people, {event.id for event in events}))
        fresh: list[ConsentEvent] = []
        results = []
        for item, event in zip(items, events, strict=True):
            became = Became.SUPPRESSED if event.subject in gone else known.became(event)
            if became is Became.RECORDED:
                fresh.append(event)
                known.add(event)
                if item.notice is not None:
                    self._store.notices.put(tenant_id, item.notice)
            why = ("event_id", "stands for another event") if became is Became.REJECTED else ("", "")
            results.append(Result(item.position, became, *why))
        self._store.rights.add_consents(fresh, dated_elsewhere=True)
        return results

    def _event(self, tenant_id: str, item: ConsentItem) -> ConsentEvent:
        now = self._clock.now()
        text = item.notice_digest or (NO_NOTICE if item.notice is None else notice_digest(item.notice))
        return ConsentEvent(
            id=f"consent:{self._subject(tenant_id, f'consent event {item.event_id}')}",
            tenant_id=tenant_id,
            subject=self._subject(tenant_id, item.subject),
            purpose=item.purpose,
            status=item.status,
            notice_digest=text,
            valid_from=item.at,
            valid_to=item.until,
            recorded_at=now,
            actor=ACTOR,
        )


class _Known:
    """Events that are recorded, by id and by what they are about."""

    def __init__(self, events: Iterable[ConsentEvent]) -> None:
        self._by_id: dict[str, ConsentEvent] = {}
        self._force: dict[tuple[Any, ...], _Force] = {}
        for event in events:
            self.add(event)

    def add(self, event: ConsentEvent) -> None:
        self._by_id[event.id] = event
        about = (event.subject, event.purpose, event.valid_from)
        self._force[about] = max(_force(event), self._force.get(about, _force(event)))

    def became(self, event: ConsentEvent) -> Became:
        before = self._by_id.get(event.id)
        if before is not None:
            return Became.DUPLICATE if _same(before, event) else Became.REJECTED
        strongest = self._force.get((event.subject, event.purpose, event.valid_from))
        return Became.SUPERSEDED if strongest is not None and strongest > _force(event) else Became.RECORDED


def _same(before: ConsentEvent, event: ConsentEvent) -> bool:
    names = ("subject", "purpose", "status", "notice_digest", "valid_from", "valid_to")
    return all(getattr(before, name) == getattr(event, name) for name in names)


def _force(event: ConsentEvent) -> _Force:
    """How much a word forbids."""
    return RESTRAINT[event.status], expiry_order(event.valid_to), event.status.value
