"""Telling recipients: who was given rows of an erased person, whether they were told, and what they said.

The certificate names the recipients and is signed; what happens after it stands in the audit. A recipient's copy is
``unknown`` until they answer, and ``vendor_asserted`` when they say that it is gone: nobody here can see it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from governance.acting import audited
from governance.errors import NotFound
from governance.ports.clock import Clock, IdFactory
from governance.records.base import Record
from governance.records.erasure import ArtifactState, ErasureReport
from governance.store import Store

TOLD: Final = "recipient_told"
CONFIRMED: Final = "recipient_confirmed"


class Notice(Record):
    """One recipient of one erasure."""

    request_id: str
    tenant_id: str
    recipient: str
    state: ArtifactState
    told_at: datetime | None = None
    confirmed_at: datetime | None = None


class ErasureNotices:
    """Notices of a store."""

    def __init__(self, store: Store, clock: Clock, ids: IdFactory) -> None:
        """In the audit of this store."""
        self._store, self._clock, self._ids = store, clock, ids

    def record(self, report: ErasureReport, recipient: str, *, confirmed: bool) -> Notice:
        """Note that a recipient was told, or that they confirmed; a second time changes nothing.

        Raises:
            NotFound: for who was given nothing.

        """
        standing = {one.recipient: one for one in self.of(report)}.get(recipient)
        if standing is None:
            known = ", ".join(sorted({one.recipient for one in report.recipients})) or "nobody"
            raise NotFound(f"erasure {report.request_id}: {recipient} was given no rows; those who were: {known}")
        if (standing.confirmed_at if confirmed else standing.told_at) is None:
            action, now = CONFIRMED if confirmed else TOLD, self._clock.now()
            detail = {"recipient": recipient}
            event = audited(self._ids, now, report.tenant_id, action, _target(report), detail)
            self._store.audit.append(event)
        return next(one for one in self.of(report) if one.recipient == recipient)

    def of(self, report: ErasureReport) -> tuple[Notice, ...]:
        """Each recipient of an erasure, with what is known of their copy."""
        return tuple(self._notices(report))

    def _notices(self, report: ErasureReport) -> Iterator[Notice]:
        names = sorted({one.recipient for one in report.recipients})
        if not names:
            return
        first: dict[tuple[str, str], datetime] = {}
        for event in self._store.audit.list(report.tenant_id):
            if event.action in {TOLD, CONFIRMED} and event.target == _target(report):
                first.setdefault((event.action, event.detail["recipient"]), event.at)
        for name in names:
            confirmed = first.get((CONFIRMED, name))
            state = ArtifactState.UNKNOWN if confirmed is None else ArtifactState.VENDOR_ASSERTED
            yield Notice(
                request_id=report.request_id, tenant_id=report.tenant_id, recipient=name, state=state,
                told_at=first.get((TOLD, name)) or confirmed, confirmed_at=confirmed,
            )  # fmt: skip


def _target(report: ErasureReport) -> str:
    return f"erasure:{report.request_id}"
