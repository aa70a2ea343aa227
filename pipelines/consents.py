"""What a reviewer does with consent from elsewhere: a platform's file taken in, a state looked up, a receipt made."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from governance.policy.facts import consent_state, facts_at, term_basis
from governance.records.base import digest_bytes
from governance.records.rights import CONSENT_BASES, CONSENT_IRI, NO_NOTICE, PURPOSE_IRI, Basis, FactKind, Purpose
from ingestion.consent.files import Mapped, rows
from ingestion.consent.item import FIELDS
from ingestion.consent.taking import Became, Result

if TYPE_CHECKING:
    from datetime import datetime

    from pipelines.ground import Ground

SHOWN: Final = 200
"""Rows that were not taken, named in a report; all are counted."""


class _Whole(Exception):
    """A file of which nothing is to be taken."""


def mapped_of(columns: tuple[str, ...], words: tuple[str, ...]) -> Mapped:
    """A mapping from ``field=column`` and ``field:theirs=ours``.

    Raises:
        RecordError: for one that is not of that form.

    """
    from governance.errors import RecordError

    pairs = [one.partition("=")[::2] for one in columns]
    said = [(one.rpartition("=")[0].partition(":")[::2], one.rpartition("=")[2]) for one in words]
    wrong = [name for name, column in pairs if name not in FIELDS or not column]
    wrong += [name for (name, word), ours in said if name not in {"purpose", "status"} or not word or not ours]
    if wrong:
        raise RecordError("--map is FIELD=COLUMN, --word is purpose:THEIRS=OURS or status:THEIRS=OURS; fields are "
                          + ", ".join(FIELDS))  # fmt: skip
    return Mapped(dict(pairs), dict(said))


def import_file(ground: Ground, tenant: str, path: Path, mapped: Mapped, *, whole: bool, dry: bool) -> dict[str, Any]:
    """Take a platform's file in; what became of how many rows, and each row that was not taken with the reason.

    ``whole``: all rows or none; ``dry``: say what would happen, and change nothing.

    Raises:
        DecodeError: when the file as a whole cannot be read.

    """
    now = ground.clock.now()
    source = f"file {digest_bytes(path.read_bytes())[:16]}"
    results: list[Result] = []
    counts: Counter[str] = Counter()

    def take() -> None:
        for one in ground.consents.take(tenant, rows(path, mapped, now), source):
            counts[one.became.value] += 1
            if one.became is not Became.RECORDED and one.became is not Became.DUPLICATE and len(results) < SHOWN:
                results.append(one)

    def take_all_or_none() -> None:
        with ground.store.transaction(durable=True):
            take()
            if dry or counts[Became.REJECTED.value]:
                raise _Whole

    with suppress(_Whole):
        (take_all_or_none if whole or dry else take)()
    undone = dry or (whole and counts[Became.REJECTED.value] > 0)
    return {
        "tenant": tenant,
        **{became.value: counts[became.value] for became in Became},
        "written": not undone,
        "not_taken": [one.plain() for one in results],
        "ok": not counts[Became.REJECTED.value],
    }


def state(ground: Ground, tenant: str, subject: str, purpose: Purpose, at: datetime | None) -> dict[str, Any]:
    """The consent state of a person on a purpose at a time, with the notice that it was said to."""
    events = [one for one in ground.store.rights.consent_events(tenant, subject, Purpose.COMPLY)
              if one.purpose is purpose]  # fmt: skip
    found = consent_state(events, at or ground.clock.now(), everything=at is None)
    if found.notice_digest == NO_NOTICE:
        found = found.model_copy(update={"notice_digest": None})
    text = found.notice_digest and ground.store.notices.text(tenant, found.notice_digest)
    iri = CONSENT_IRI[found.status] if found.status else None
    return {"subject": subject, "purpose": purpose.value, "purpose_iri": PURPOSE_IRI[purpose], **found.plain(),
            "status_iri": iri, "notice": text}  # fmt: skip


def receipt_of(ground: Ground, tenant: str, subject: str, purpose: Purpose) -> dict[str, Any]:
    """The receipt of a person's words on a purpose.

    Raises:
        NotFound: when they said nothing on it.

    """
    from governance.errors import NotFound
    from governance.receipts import receipt
    from pipelines.tables import controllers

    now = ground.clock.now()
    events = [one for one in ground.store.rights.consent_events(tenant, subject, Purpose.COMPLY)
              if one.purpose is purpose]  # fmt: skip
    if not events:
        raise NotFound(f"rights: this person said nothing on {purpose}, so there is no receipt")
    texts = {one.notice_digest: ground.store.notices.text(tenant, one.notice_digest) for one in events}
    kept = {digest: text for digest, text in texts.items() if text is not None}
    controller = controllers(ground.settings).get(tenant)
    status, basis = consent_state(events, now, everything=True).status, _law_of(ground, tenant, subject, purpose)
    return receipt(tenant, purpose, status, events, kept, controller, now, basis)


def _law_of(ground: Ground, tenant: str, subject: str, purpose: Purpose) -> Basis:
    """The consent of the law under which the person's counts: that of their jurisdiction's term, else the GDPR's."""
    now = ground.clock.now()
    facts = facts_at(ground.store.rights.facts(tenant), now, everything=True)
    regions = {one.value for one in facts if one.kind is FactKind.JURISDICTION and one.subject in {None, subject}}
    basis = term_basis(ground.store.rights.contract_at(tenant, now), purpose, regions)
    return basis if basis in CONSENT_BASES else Basis.CONSENT
