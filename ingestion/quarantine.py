"""Quarantine: what masking could not read, or a person must judge, rests sealed, and comes back through the door.

1. The spans of one trace, or one item of feedback, are set aside together (``ingestion.setting_aside``), sealed under
   the spool key and bound to the record's name; nothing of them is in clear, and each record has its own expiry.
2. A release is the door again: rights, suppression and masking as they are now. Spans stored, ledger entry and removal
   are one transaction, so a crash leaves a record sealed or released, never both, and nothing is counted twice. What
   the door detains stays: alone, as a record of its own, where others of its trace could go.
3. Attempts by themselves come at growing intervals, so a record that no detector reads costs little; whoever asks for
   one by hand does not wait. A special category is never tried by itself.
4. A reviewer may look into a record while it lives, and decide: release (through the door, masked, kept by right of the
   decision) or destroy. Looks and decisions are written to the audit before anything is opened, or with the act.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Final, NamedTuple

from governance.acting import audited
from governance.admissions import Detained, Refusal, tally
from governance.door import Door
from governance.errors import MaskingError, NotFound
from governance.found import Found, by_channel
from governance.ports.clock import Clock, IdFactory, RandomIds
from governance.records.base import Record
from governance.records.content import AdmittedSpan
from governance.records.ledger import Fate
from governance.records.span import Span
from governance.store import Store
from governance.store.quarantine import Quarantined
from ingestion.batch import in_order, items
from ingestion.commit import together
from ingestion.errors import SpoolError
from ingestion.feedback.admission import Admission, AdmittedFeedback
from ingestion.people import Subjects
from ingestion.setting_aside import Aside, Held, opened, set_aside
from ingestion.spool import Spool
from ingestion.storing import Fates, admitted_part, store_feedback, store_spans

_log = logging.getLogger(__name__)
DESTROYED: Final = "destroyed_by_review"
_FIRST_PAUSE: Final = timedelta(minutes=2)
_LONGEST_PAUSE: Final = timedelta(hours=6)


def _nothing() -> None:
    """Nothing besides."""


class _Passed(NamedTuple):
    """A record after the door."""

    admitted: list[AdmittedSpan | Refusal | Detained]
    said: AdmittedFeedback
    found: Found
    """What masking replaced; of what was detained before, nothing: that is counted already."""
    rest: Aside | None
    """What stays in quarantine, as a record of its own."""


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
        self._log(item, reviewer, "view_quarantine", {"spans": item.spans, "purpose": "comply"})
        held = opened(self._spool, item)
        told = {"spans": [span.plain() for span in held.spans]}
        if held.feedback:
            told = {"feedback": [one.sent() for one in held.feedback]}
        return {"id": item.id, "tenant": item.tenant_id, "person": held.owner, **told}

    def release(self, id_: str, reviewer: str, also: Callable[[], None] = _nothing) -> QuarantineReport:
        """Let a record through the door by a reviewer's decision, special categories masked.

        ``also`` is done in the same transaction.

        Raises:
            NotFound: when it is not there, or its time is over.
            MaskingError: when a detector fails; the record stays.
            SpoolError: when it does not open.

        """
        item = self._store.quarantine.take(id_)
        passed = self._through_door(item, opened(self._spool, item), released=True)

        def work() -> tuple[Fates, int]:
            done = self._release(item, passed, reviewer)
            also()
            return done

        fates, withheld = together(self._store, work)
        return QuarantineReport(
            released=dict(sorted(Counter(fate.value for fate, _ in fates).items())), withheld=withheld
        )

    def destroy(self, id_: str, reviewer: str, also: Callable[[], None] = _nothing) -> QuarantineReport:
        """Destroy a record by a reviewer's decision; ``also`` is done in the same transaction.

        Raises:
            NotFound: when it is not there, or its time is over.

        """
        item = self._store.quarantine.take(id_)

        def work() -> None:
            if not self._store.quarantine.destroy(item.id, DESTROYED):
                raise NotFound(f"quarantine {item.id} is gone")
            self._log(item, reviewer, "destroy_quarantine", {"spans": item.spans})
            also()

        together(self._store, work)
        return QuarantineReport(expired=item.spans)

    def _try(self, item: Quarantined, total: Counter[str], released: Counter[str]) -> None:
        try:
            passed = self._through_door(item, opened(self._spool, item), released=False)
            if passed.rest is not None and passed.rest.spans == item.spans and item.reason == passed.rest.reason:
                total["failed"] += item.spans
                return  # as it was
            fates, withheld = together(self._store, lambda: self._release(item, passed, ""))
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
        total["failed"] += 0 if passed.rest is None else passed.rest.spans

    def _through_door(self, item: Quarantined, held: Held, *, released: bool) -> _Passed:
        if held.feedback:
            said = self._feedback.through_door(item.tenant_id, held.feedback, released=released)
            return _Passed(
                [],
                said,
                _fresh(item, said.found),
                Aside(item.id, item.sealed, 1, said.aside[0][1]) if said.aside else None,
            )
        owners = {} if held.owner is None else {span.trace_id: held.owner for span in held.spans}
        sent = items(item.tenant_id, held.spans, self._subjects, owners)
        found: Found = Counter()
        admitted = self._door.admit(item.tenant_id, sent, found, released=released)
        pairs = zip(in_order(held.spans), admitted, strict=True)
        kept = [(span, one) for span, one in pairs if isinstance(one, Detained)]
        return _Passed(
            admitted, AdmittedFeedback(), _fresh(item, found), self._rest(item, held, kept) if kept else None
        )

    def _rest(self, item: Quarantined, held: Held, detained: list[tuple[Span, Detained]]) -> Aside:
        spans, types = [span for span, _ in detained], frozenset(kind for _, one in detained for kind in one.types)
        aside = set_aside(self._spool, f"{item.id}/{item.attempts}/rest", spans, held.owner, Detained.reason)
        return aside._replace(types=types)

    def _release(self, item: Quarantined, passed: _Passed, actor: str) -> tuple[Fates, int]:
        if not self._store.quarantine.remove(item.id):
            raise NotFound(f"quarantine {item.id} is gone")
        if passed.rest is not None:
            passed.rest.put(self._store, item.tenant_id, item.day, item.since)
        fates: Fates = [(Fate.REJECTED, one.reason) for one in passed.admitted if isinstance(one, Refusal)]
        spans = [part for one in passed.admitted for part in admitted_part(one)]
        stored, withheld = store_spans(self._store, spans)
        heard, unheard = store_feedback(self._store, passed.said)
        fates, withheld = [*fates, *stored, *heard], withheld + unheard
        if passed.admitted:
            event = self._door.admission(item.tenant_id, f"quarantine:{item.id}", tally(passed.admitted))
            self._store.audit.append(event)
        if fates:
            counts = by_channel(passed.found)
            self._store.ledger.record_release(item.tenant_id, item.day, fates, withheld, item.id, counts)
        self._log(item, actor, "release_from_quarantine", dict(Counter(fate.value for fate, _ in fates)))
        return fates, withheld

    def _log(self, item: Quarantined, actor: str, action: str, detail: dict[str, Any]) -> None:
        about = (item.tenant_id, action, f"quarantine:{item.id}", detail)
        self._store.audit.append(audited(self._ids, self._clock.now(), *about, actor=actor))


def _fresh(item: Quarantined, found: Found) -> Found:
    return Counter() if item.reason == Detained.reason else found
