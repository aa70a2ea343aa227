"""The door: the only way from the wire into the store.

For each span, in this order: who is it about (a keyed hash of the id that the tenant's attributes carry; a span that
carries none belongs to the one person whom its trace names in the same batch, else in the store); is that person erased
(then it is refused); does any purpose beyond running the service allow to keep what was said (else the structure alone
is kept and counted as withheld); and then every string of it is masked. Nothing is returned until everything is masked,
so a detector that fails leaves the whole batch to quarantine. Keys that only the server may set are dropped.

What holds a category that the tenant's policy quarantines (GDPR Articles 9 and 10) is detained: of the span its
structure alone is admitted, as of one that no right covers, so its run is known not to be whole; its neighbours go on.
A person who decides to release it lets it through, masked.

Feedback comes through the same door: its person is known by its own word or as the one of what it is about, and it is
masked, withheld or refused as what is said in a span.

Snapshots of worlds come through the same door: declared fields and documents are masked with the same surrogates as
texts, the field that holds a person's id becomes the subject's hash, and rows of erased people never enter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from governance import carriers
from governance.acting import audited
from governance.admissions import Detained, Heard, Refusal, Said
from governance.doubts import Doubter
from governance.found import Found, in_feedback
from governance.masked_drafts import Finished, draft_of, masked_drafts
from governance.masked_world import masked_world
from governance.masking.surrogate import Surrogates
from governance.own_id import HashedId, OwnId
from governance.ports.clock import Clock, IdFactory, RandomIds
from governance.ports.keys import KeyName, KeyProvider
from governance.ports.masker import Masked, Masker
from governance.records.audit import AuditEvent
from governance.records.content import AdmittedSpan, SpanContent
from governance.records.rights import FactKind, Purpose, Reason
from governance.records.span import Span
from governance.records.trajectory import UNKNOWN_SUBJECT
from governance.records.world import World, WorldRef, WorldSchema
from governance.store import Store

SUBJECT_ATTRIBUTES: Final = ("user.id", "enduser.id")
KEEPING: Final = tuple(purpose for purpose in Purpose if purpose not in {Purpose.SERVE, Purpose.COMPLY})
"""The purposes for which what was said may be kept at all."""
NOTHING: Final[frozenset[FactKind]] = frozenset()
HELD_BACK: Final = frozenset({FactKind.RESTRICTION, FactKind.HOLD})
"""What keeps from use, and is no reason to lose what a legal hold covers."""
Item = tuple[Span, SpanContent, str | None]


class _Whose(NamedTuple):
    """Whose a span is."""

    tenant_id: str
    owner: str | None
    """Their raw id."""
    subject: str
    own_id: OwnId | HashedId
    version: str
    """Of the masking policy."""


class Door:
    """Admits spans, feedback and worlds of tenants."""

    def __init__(
        self,
        store: Store,
        masker: Masker,
        keys: KeyProvider,
        clock: Clock,
        *,
        subject_attributes: Sequence[str] = SUBJECT_ATTRIBUTES,
        ids: IdFactory | None = None,
        review_share: float = 0.0,
    ) -> None:
        """``subject_attributes`` hold a person's raw id; ``review_share`` of the texts is drawn for a person's eyes."""
        self._store = store
        self._masker = masker
        self._keys = keys
        self._clock = clock
        self._attributes = tuple(subject_attributes)
        self._ids = ids or RandomIds()
        self._review_share = review_share
        self._tenants: dict[str, Surrogates] = {}

    def subject(self, tenant_id: str, raw_id: str | None) -> str:
        """The keyed hash of a person's id, or ``unknown``."""
        if not raw_id:
            return UNKNOWN_SUBJECT
        if tenant_id not in self._tenants:
            self._tenants[tenant_id] = Surrogates(self._keys, tenant_id)
        return self._tenants[tenant_id].subject(raw_id)

    def admit(
        self,
        tenant_id: str,
        items: Sequence[Item],
        counted: Found | None = None,
        *,
        released: bool = False,
        doubter: Doubter | None = None,
    ) -> list[AdmittedSpan | Refusal | Detained]:
        """Admit, refuse or detain each span, in order; ``released``: a person decided that none is detained.

        What masking found in them is added to ``counted``, and what a person should look at to ``doubter``.

        Raises:
            MaskingError: when a detector fails; nothing is admitted then.

        """
        now = self._clock.now()
        owners = self._owners(items)
        subjects = self._subjects(tenant_id, items, owners)
        erased = self._store.rights.suppressed(tenant_id, set(subjects))
        keeping = self._keeping(tenant_id, set(subjects) - erased, now)
        drafts = [
            None if subject in erased else draft_of(item[0], item[1], keep=subject in keeping)
            for item, subject in zip(items, subjects, strict=True)
        ]
        found: Found = Counter()
        version = self._masker.version(tenant_id)  # before the masking: what changes meanwhile is masked again
        masked = masked_drafts(self._masker, tenant_id, [draft for draft in drafts if draft is not None], found)
        own_ids = {whose: self._own_id(tenant_id, *whose) for whose in set(zip(owners, subjects, strict=True))}
        admitted: list[AdmittedSpan | Refusal | Detained] = []
        for item, draft, owner, subject in zip(items, drafts, owners, subjects, strict=True):
            span = item[0]
            if draft is None:
                admitted.append(Refusal(Reason.SUPPRESSED.value, span.trace_id, span.span_id))
                continue
            whose = _Whose(tenant_id, owner, subject, own_ids[owner, subject], version)
            finished = next(masked)(whose.own_id)
            if finished.special and not released:
                admitted.append(self._detained(item, whose, finished.special))
            else:
                one = self._admitted(draft[0], whose, finished, Reason.CONTENT_WITHHELD.value)
                admitted.append(one)
                if doubter is not None:
                    doubter.look(one, finished)
        if counted is not None:
            counted.update(found)
        return admitted

    def doubter(self, tenant_id: str) -> Doubter:
        """Draws what of a tenant's content a person should look at."""
        return Doubter(tenant_id, self._keys.for_tenant(KeyName.SUBJECT, tenant_id), self._review_share)

    def _detained(self, item: Item, whose: _Whose, types: tuple[str, ...]) -> Detained:
        """A span of which only the structure is kept."""
        draft = draft_of(item[0], item[1], keep=False)
        (finishes,) = masked_drafts(self._masker, whose.tenant_id, [draft], Counter())
        return Detained(types, self._admitted(draft[0], whose, finishes(whose.own_id), Detained.reason))

    def _admitted(self, source: Span, whose: _Whose, finished: Finished, without: str) -> AdmittedSpan:
        """A masked span; ``without`` says why it has no content, if it has none."""
        span = finished.span
        if whose.owner:
            span = carriers.with_subject(span, source, self._attributes, whose.owner, whose.subject)
        return AdmittedSpan.proven(
            tenant_id=whose.tenant_id,
            subject=whose.subject,
            span=span,
            content=finished.content,
            withheld_reason=None if finished.content is not None else without,
            mentions=finished.mentions,
            marks=finished.marks,
            masked_under=whose.version,
            epoch=self._masker.epoch(),
        )

    def admission(self, tenant_id: str, where: str, admitted: Counter[str]) -> AuditEvent:
        """What the audit says of an admission, for the transaction that stores it; ``admitted`` is a ``tally``."""
        return self._event(tenant_id, "admit_spans", where, dict(sorted(admitted.items())))

    def admit_said(
        self, tenant_id: str, said: Sequence[Said], counted: Found | None = None, *, released: bool = False
    ) -> list[Heard | Detained | None]:
        """Admit or detain feedback, in order; None is what an erased person said, or what was said as theirs.

        What masking found is added to ``counted``.

        Raises:
            MaskingError: when a detector fails; nothing is admitted then.

        """
        subjects = {one.subject for one in said}
        erased = self._store.rights.suppressed(tenant_id, subjects)
        keeping = self._keeping(tenant_id, subjects - erased, self._clock.now())
        drafts = [
            {"structure": one.structure, "words": one.words if one.subject in keeping else None}
            for one in said
            if one.subject not in erased
        ]
        made = self._masker.mask(tenant_id, drafts)
        masked = iter(made)
        heard = [
            None if one.subject in erased else _heard(one, next(masked), released=released or one.words is None)
            for one in said
        ]
        if counted is not None:
            counted.update(in_feedback(finding for one in made for finding in one.findings))
        counts = Counter(
            "suppressed" if one is None else "quarantined" if isinstance(one, Detained) else "admitted" for one in heard
        )
        self._log(tenant_id, "admit_feedback", f"batch of {len(said)}", dict(sorted(counts.items())))
        return heard

    def admit_world(self, tenant_id: str, source: World, schema: WorldSchema) -> WorldRef:
        """Mask and store a snapshot; the same snapshot again gives the reference that is there.

        After a rotation of the surrogate key it is masked again, and what is made from then on finds the new one.

        Raises:
            MaskingError: when a detector fails; nothing is stored then.

        """
        digest = source.digest()
        known = self._store.worlds.by_source(tenant_id, digest)
        epoch = self._masker.epoch()
        if known is not None and known.epoch in {epoch, ""}:
            return known
        made = masked_world(self._masker, tenant_id, source, schema, self)
        masked = made.world
        ref = WorldRef(
            tenant_id=tenant_id, source_digest=digest, masked_digest=masked.digest(), at=source.at, epoch=epoch
        )
        stored = self._store.worlds.put(ref, masked, made.people)
        self._log(tenant_id, "admit_world", stored.masked_digest, {"rows_of_erased_people_left_out": made.dropped})
        return stored

    def erased(self, tenant_id: str, subjects: Iterable[str]) -> set[str]:
        """Those of the people who were erased."""
        return self._store.rights.suppressed(tenant_id, subjects)

    def _owners(self, items: Sequence[Item]) -> list[str | None]:
        """Each span's raw id; a span without one has that of the one person whom its trace names."""
        named: dict[str, set[str]] = {}
        for span, _, raw_id in items:
            if raw_id:
                named.setdefault(span.trace_id, set()).add(raw_id)
        heirs = {trace_id: next(iter(found)) for trace_id, found in named.items() if len(found) == 1}
        return [raw_id or heirs.get(span.trace_id) for span, _, raw_id in items]

    def _own_id(self, tenant_id: str, owner: str | None, subject: str) -> OwnId | HashedId:
        """How a person's own id is taken out of texts; of one whom only the store knows, by its hash."""
        if owner is None and subject != UNKNOWN_SUBJECT:
            return HashedId(subject, lambda raw_id: self.subject(tenant_id, raw_id))
        return OwnId(owner, subject)

    def _subjects(self, tenant_id: str, items: Sequence[Item], owners: Sequence[str | None]) -> list[str]:
        """Each span's person; of a span without an owner, the one whom the stored spans of its trace identify."""
        hashed = {owner: self.subject(tenant_id, owner) for owner in set(owners)}
        nobodys = {span.trace_id for (span, _, _), owner in zip(items, owners, strict=True) if owner is None}
        known = self._store.spans.people(tenant_id, nobodys) if nobodys else {}
        return [
            known.get(span.trace_id, UNKNOWN_SUBJECT) if owner is None else hashed[owner]
            for (span, _, _), owner in zip(items, owners, strict=True)
        ]

    def _keeping(self, tenant_id: str, subjects: Iterable[str], now: datetime) -> set[str]:
        """Those of whom some purpose allows to keep what was said; under a legal hold no restriction loses it."""
        open_ = set(subjects)
        held = self._store.rights.held(tenant_id, open_, now) if open_ else set()
        kept: set[str] = set()
        for group, without in ((open_ - held, NOTHING), (held, HELD_BACK)):
            for purpose in KEEPING:
                people = [(tenant_id, subject) for subject in sorted(group - kept)]
                found = self._store.rights.verdicts(purpose, people, now, without=without) if people else {}
                kept |= {subject for (_, subject), verdict in found.items() if verdict.allowed}
        return kept

    def _log(self, tenant_id: str, action: str, target: str, detail: dict[str, Any]) -> None:
        self._store.audit.append(self._event(tenant_id, action, target, detail))

    def _event(self, tenant_id: str, action: str, target: str, detail: dict[str, Any]) -> AuditEvent:
        return audited(self._ids, self._clock.now(), tenant_id, action, target, detail)


def _heard(said: Said, masked: Masked, *, released: bool) -> Heard | Detained:
    if masked.quarantine and not released:
        return Detained(masked.quarantine)
    value = OwnId(said.raw_id, said.subject).hidden(masked).value
    mentions = tuple(sorted({finding.mention for finding in masked.findings}))
    return Heard(structure=value["structure"], words=value["words"], mentions=mentions)
