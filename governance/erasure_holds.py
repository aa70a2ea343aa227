"""Legal holds before an erasure: what is held stays, and nothing of the person is used."""

from __future__ import annotations

from datetime import datetime

from governance.erasure_notes import ErasureNotes
from governance.errors import HeldError
from governance.records.rights import FactKind, RightsFact
from governance.records.rights_request import RightsRequest
from governance.store import Store


def refuse_under_hold(store: Store, notes: ErasureNotes, now: datetime, asked: RightsRequest) -> None:
    """Under a hold the person is restricted, not suppressed: what comes of them is kept, and used for nothing.

    Who is suppressed already, by a run that broke off, stays so; nothing more of them is deleted.

    Raises:
        HeldError: while a legal hold covers anything that would go.

    """
    holds = store.rights.holds_over_erasure(asked.tenant_id, asked.subject, now)
    if not holds:
        return
    name = f"erasure {asked.tenant_id}/{asked.id}"
    out = store.rights.is_suppressed(asked.tenant_id, asked.subject)
    if not out and name not in {fact.id for fact in store.rights.facts(asked.tenant_id, asked.subject)}:
        restriction = RightsFact(
            id=name, tenant_id=asked.tenant_id, kind=FactKind.RESTRICTION, subject=asked.subject, valid_from=now,
            recorded_at=now, reason=f"erasure {asked.id}", actor="erasure",
        )  # fmt: skip
        store.rights.add_facts([restriction])
    notes.log(asked.tenant_id, "erasure_held", asked.id, {"holds": sorted(hold.id for hold in holds)})
    reasons = ", ".join(sorted({hold.reason for hold in holds}))
    raise HeldError(
        f"erasure {asked.id}: a legal hold covers what would be deleted ({reasons}): nothing more is, and nothing of "
        "the person is used; run the same request again when the hold has ended"
    )
