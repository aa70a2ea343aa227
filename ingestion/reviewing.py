"""The review queue: what people look at and decide about masking.

1. A doubt is sealed under the spool's key, bound to the item's name, in the transaction that stores its span; nothing
   of it is in clear. It is kept for ``KEPT`` and then swept.
2. A look is written to the audit before anything is opened, under the purpose ``comply`` and the reviewer's role.
3. A decision is one transaction: the item is closed, what follows from it is done (an entry on a list, a release or a
   destruction in quarantine), and both are in the audit. Values reach a list as keyed identifiers.
4. Where the four-eyes rule asks for it, a decision waits for another person's approval of that decision on that item.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from governance.acting import audited
from governance.admissions import Detained
from governance.approvals import Approvals
from governance.doubts import Doubt
from governance.errors import NotFound, RecordError
from governance.masking.judgement import listed, require_unsaid
from governance.masking.surrogate import Surrogates
from governance.masking.walker import leaves
from governance.ports.clock import Clock, IdFactory
from governance.records.approval import ApprovedAct
from governance.records.audit import AuditEvent
from governance.records.base import canonical_json
from governance.records.masking_list import ListAct, ListEvent, ListName
from governance.records.review import DECISIONS, ReviewDecision, Reviewed, ReviewItem, ReviewKind, Spot, target_of
from governance.records.trajectory import UNKNOWN_SUBJECT
from governance.store import Store
from governance.store.quarantine import Quarantined
from ingestion.commit import together
from ingestion.errors import SpoolError
from ingestion.quarantine import Quarantine
from ingestion.setting_aside import SPECIAL_KEPT
from ingestion.spool import Spool

KEPT: Final = SPECIAL_KEPT
AROUND: Final = 80
"""Characters on each side of a value that a reviewer sees."""
_LEFT: Final = frozenset({"unsure", "kept", "allowed"})


class Verdict(NamedTuple):
    """What a reviewer says."""

    decision: ReviewDecision
    reviewer: str
    owner: str = ""
    """Who answers for the entries that follow."""
    reason: str = ""
    days: int = 0
    """How long the entries stand."""
    missed: tuple[tuple[str, str], ...] = ()
    """Types and values that masking missed."""


def put_doubts(store: Store, spool: Spool, doubts: Sequence[Doubt], now: datetime) -> None:
    """Seal doubts and put them into the queue."""
    store.reviews.put(
        [(_item(one, now), spool.seal_aside(_label(one.id), canonical_json(one.value))) for one in doubts]
    )


class Reviewing:
    """The queue, for reviewers."""

    def __init__(  # noqa: PLR0917 - the parts it stands on
        self,
        spool: Spool,
        store: Store,
        quarantine: Quarantine,
        surrogates: Callable[[str], Surrogates],
        clock: Clock,
        ids: IdFactory,
        approvals: Approvals,
    ) -> None:
        """``spool`` has the key; ``surrogates`` are a tenant's; ``approvals`` hold the four-eyes rule."""
        self._spool, self._store, self._quarantine = spool, store, quarantine
        self._surrogates, self._clock, self._ids, self._approvals = surrogates, clock, ids, approvals

    def open_items(self, tenant_id: str | None = None) -> list[dict[str, Any]]:
        """What is open: ids, kinds, types, scores and counts, never a value."""
        special = [one for one in self._store.quarantine.list() if _is_special(one, tenant_id)]
        return [*(_told(item) for item in self._store.reviews.list(tenant_id)), *(_held(one) for one in special)]

    def show(self, id_: str, reviewer: str) -> dict[str, Any]:
        """What an item is about, in clear, for the eyes of a reviewer; the audit knows who looked.

        Raises:
            NotFound: when it is not there, or its time is over.
            SpoolError: when it does not open.

        """
        if self._special(id_):
            return self._quarantine.show(id_, reviewer)
        item, sealed = self._store.reviews.take(id_)
        detail = {"kind": item.kind.value, "purpose": "comply"}
        self._store.audit.append(self._event(item.tenant_id, reviewer, "view_review", item.id, detail))
        value = self._open(item, sealed)
        told = {**_told(item), "excerpts": _excerpts(value, item.spots)}
        return {**told, "text": value} if item.kind is ReviewKind.SAMPLE else told

    def decide(self, id_: str, verdict: Verdict) -> dict[str, Any]:
        """Close an item by what a reviewer says, and do what follows.

        Raises:
            RecordError: for a decision that an item of this kind does not take, or an entry that lacks something.
            NotFound: when it is not there, or its time is over.
            ApprovalMissing: when it waits for another person.

        """
        special = self._special(id_)
        if special:
            return self._decide_special(special, verdict)
        item, sealed = self._store.reviews.take(id_)
        _check(item.kind, verdict)
        self._require(item.tenant_id, item.id, verdict)
        events = self._entries(item, self._open(item, sealed), verdict)
        decided = self._reviewed(item.tenant_id, item.kind, verdict, _types(item), len(item.spots))

        def work() -> None:
            self._store.reviews.decide(item.id, decided)
            for event in events:
                self._store.masking_lists.add(event)
            self._store.audit.append(self._decision(decided, item.id))

        together(self._store, work)
        return {**decided.plain(), "entries": [f"{one.list_name}:{one.entity_type}" for one in events]}

    def _decide_special(self, held: Quarantined, verdict: Verdict) -> dict[str, Any]:
        _check(ReviewKind.SPECIAL_CATEGORY, verdict)
        self._require(held.tenant_id, held.id, verdict)
        act = self._quarantine.release if verdict.decision is ReviewDecision.RELEASE else self._quarantine.destroy
        types = (held.types or "").split()
        decided = self._reviewed(held.tenant_id, ReviewKind.SPECIAL_CATEGORY, verdict, types, held.spans)

        def note() -> None:
            self._store.reviews.note(decided)
            self._store.audit.append(self._decision(decided, held.id))

        report = act(held.id, verdict.reviewer, note)
        return {**decided.plain(), **report.plain()}

    def _require(self, tenant_id: str, id_: str, verdict: Verdict) -> None:
        about = ApprovedAct.REVIEW, target_of(id_, verdict.decision)
        self._approvals.require(tenant_id, *about)

    def _entries(self, item: ReviewItem, value: Any, verdict: Verdict) -> list[ListEvent]:
        if verdict.decision is ReviewDecision.MISSED:
            return [self._entry(item, ListName.DENY, kind, missed, verdict) for kind, missed in verdict.missed]
        if item.kind is not ReviewKind.LOW_CONFIDENCE:
            return []
        (spot,) = item.spots
        allowed = verdict.decision is ReviewDecision.NOT_PERSONAL
        if not allowed and spot.outcome.value not in _LEFT:
            return []  # masked, and rightly
        which = ListName.ALLOW if allowed else ListName.DENY
        return [self._entry(item, which, spot.entity_type, _value(value, spot), verdict)]

    def _entry(self, item: ReviewItem, which: ListName, entity_type: str, value: str, verdict: Verdict) -> ListEvent:
        if not (verdict.owner and verdict.reason and verdict.days > 0):
            raise RecordError("an entry on a list needs an owner, a reason and a number of days")
        require_unsaid(entity_type, value, verdict.owner, verdict.reason)
        surrogates, now = self._surrogates(item.tenant_id), self._clock.now()
        mention, words = listed(surrogates.mention, entity_type, value)
        held = {
            "tenant_id": item.tenant_id,
            "list_name": which,
            "act": ListAct.ADD,
            "entity_type": entity_type,
            "mention": mention,
            "words": words,
            "subject": self._person(item, surrogates.subject(value)),
            "owner": verdict.owner,
            "reason": verdict.reason,
            "actor": verdict.reviewer,
            "at": now,
            "until": now + timedelta(days=verdict.days),
        }
        return ListEvent.parse(held, "entry")

    def _person(self, item: ReviewItem, named: str) -> str:
        """Whose erasure takes an entry away: the person whose id the value is, else the one whose text it stands in."""
        unknown = item.subject == UNKNOWN_SUBJECT or self._store.erasable().count(item.tenant_id, named)
        return named if unknown else item.subject

    def _special(self, id_: str) -> Quarantined | None:
        try:
            found = self._store.quarantine.take(id_)
        except NotFound:
            return None
        return found if _is_special(found, None) else None

    def _open(self, item: ReviewItem, sealed: bytes) -> Any:
        try:
            return json.loads(self._spool.open_aside(_label(item.id), sealed))
        except ValueError as error:
            raise SpoolError(f"review {item.id} holds something else than a text") from error

    def _reviewed(
        self, tenant_id: str, kind: ReviewKind, verdict: Verdict, types: Sequence[str], found: int
    ) -> Reviewed:
        return Reviewed(
            id=self._ids.hex(16),
            tenant_id=tenant_id,
            kind=kind,
            decision=verdict.decision,
            types=tuple(types),
            found=found,
            missed=len(verdict.missed),
            reviewer=verdict.reviewer,
            at=self._clock.now(),
        )

    def _decision(self, decided: Reviewed, target: str) -> AuditEvent:
        detail = {"kind": decided.kind.value, "types": list(decided.types), "missed": decided.missed}
        return self._event(decided.tenant_id, decided.reviewer, f"review_{decided.decision}", target, detail)

    def _event(self, tenant_id: str, actor: str, action: str, target: str, detail: dict[str, Any]) -> AuditEvent:
        return audited(self._ids, self._clock.now(), tenant_id, action, f"review:{target}", detail, actor=actor)


def _check(kind: ReviewKind, verdict: Verdict) -> None:
    if verdict.decision not in DECISIONS[kind]:
        raise RecordError(f"a {kind} takes {' or '.join(sorted(DECISIONS[kind]))}, not {verdict.decision}")
    if (verdict.decision is ReviewDecision.MISSED) != bool(verdict.missed):
        raise RecordError("what was missed belongs to the decision `missed`, and it needs at least one value")


def _item(doubt: Doubt, now: datetime) -> ReviewItem:
    names = ("id", "tenant_id", "kind", "subject", "trace_id", "span_id", "spots")
    held = {name: getattr(doubt, name) for name in names}
    return ReviewItem(**held, since=now, expires_at=now + KEPT)


def _types(item: ReviewItem) -> list[str]:
    return sorted({spot.entity_type for spot in item.spots})


def _told(item: ReviewItem) -> dict[str, Any]:
    scores = [spot.score for spot in item.spots]
    return {
        "id": item.id,
        "tenant": item.tenant_id,
        "kind": item.kind.value,
        "types": _types(item),
        "found": len(scores),
        "scores": [min(scores), max(scores)] if scores else [],
        "trace": item.trace_id,
        "span": item.span_id,
        "expires_at": item.expires_at.isoformat(),
    }


def _held(one: Quarantined) -> dict[str, Any]:
    return {
        "id": one.id,
        "tenant": one.tenant_id,
        "kind": ReviewKind.SPECIAL_CATEGORY.value,
        "types": (one.types or "").split(),
        "found": one.spans,
        "expires_at": one.expires_at.isoformat(),
    }


def _is_special(one: Quarantined, tenant_id: str | None) -> bool:
    return one.reason == Detained.reason and tenant_id in {None, one.tenant_id}


def _value(value: Any, spot: Spot) -> str:
    return _leaf(value, spot)[spot.start : spot.end]


def _leaf(value: Any, spot: Spot) -> str:
    texts = (leaf.text for leaf in leaves(value) if leaf.pointer == spot.pointer and len(leaf.text) >= spot.end)
    return next(texts, "")


def _excerpts(value: Any, spots: Sequence[Spot]) -> list[dict[str, Any]]:
    """Each value with the words around it."""
    told = []
    for spot in spots:
        text = _leaf(value, spot)
        told.append(
            {
                "type": spot.entity_type, "score": spot.score, "outcome": spot.outcome.value,
                "before": text[max(0, spot.start - AROUND) : spot.start], "value": text[spot.start : spot.end],
                "after": text[spot.end : spot.end + AROUND],
            }
        )  # fmt: skip
    return told


def _label(name: str) -> str:
    return f"tidemill review {name}"
