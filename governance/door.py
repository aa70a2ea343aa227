"""The door: the only way from the wire into the store.

For each span, in this order: who is it about (a keyed hash of the id that the tenant's attributes carry; a span that
carries none belongs to the one person whom its trace names in the same batch, else in the store); is that person erased
(then it is refused); does any purpose beyond running the service allow to keep what was said (else the structure alone
is kept and counted as withheld); and then every string of it is masked. Nothing is returned until everything is masked,
so a detector that fails leaves the whole batch to quarantine. Keys that only the server may set are dropped.

Feedback comes through the same door: its person is known by its own word or as the one of what it is about, and it is
masked, withheld or refused as what is said in a span.

Snapshots of worlds come through the same door: declared fields and documents are masked with the same surrogates as
texts, the field that holds a person's id becomes the subject's hash, and rows of erased people never enter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from governance import carriers
from governance.masked_drafts import Draft, masked_drafts
from governance.masking.surrogate import Surrogates
from governance.own_id import HashedId, OwnId
from governance.ports.clock import Clock, IdFactory, RandomIds
from governance.ports.keys import KeyProvider
from governance.ports.masker import Masked, Masker
from governance.records.audit import AuditEvent
from governance.records.content import AdmittedSpan, SpanContent
from governance.records.rights import Purpose, Reason
from governance.records.span import Span
from governance.records.trajectory import UNKNOWN_SUBJECT
from governance.records.world import World, WorldRef, WorldSchema, WorldSubject
from governance.store import Store

SUBJECT_ATTRIBUTES: Final = ("user.id", "enduser.id")
KEEPING: Final = tuple(purpose for purpose in Purpose if purpose not in {Purpose.SERVE, Purpose.COMPLY})
"""The purposes for which what was said may be kept at all."""
Item = tuple[Span, SpanContent, str | None]


@dataclass(frozen=True)
class Refusal:
    """A span that may not enter."""

    reason: str
    trace_id: str
    span_id: str


@dataclass(frozen=True)
class Said:
    """What somebody said beside a span: feedback. ``words`` is None where there are none, or where they wait."""

    structure: Any
    words: Any
    subject: str
    raw_id: str | None = None


@dataclass(frozen=True)
class Heard:
    """What may be kept of it, masked; ``words`` is None where no right keeps them."""

    structure: Any
    words: Any
    mentions: tuple[str, ...]


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
    ) -> None:
        """``subject_attributes`` are the keys whose value is a person's raw id."""
        self._store = store
        self._masker = masker
        self._keys = keys
        self._clock = clock
        self._attributes = tuple(subject_attributes)
        self._ids = ids or RandomIds()
        self._tenants: dict[str, Surrogates] = {}

    def subject(self, tenant_id: str, raw_id: str | None) -> str:
        """The keyed hash of a person's id, or ``unknown``."""
        if not raw_id:
            return UNKNOWN_SUBJECT
        if tenant_id not in self._tenants:
            self._tenants[tenant_id] = Surrogates(self._keys, tenant_id)
        return self._tenants[tenant_id].subject(raw_id)

    def admit(self, tenant_id: str, items: Sequence[Item]) -> list[AdmittedSpan | Refusal]:
        """Admit or refuse each span, in order.

        Raises:
            MaskingError: when a detector fails; nothing is admitted then.

        """
        now = self._clock.now()
        owners = self._owners(items)
        subjects = self._subjects(tenant_id, items, owners)
        erased = self._store.rights.suppressed(tenant_id, set(subjects))
        keeping = self._keeping(tenant_id, set(subjects) - erased, now)
        drafts = [
            None if subject in erased else _draft(item, keep=subject in keeping)
            for item, subject in zip(items, subjects, strict=True)
        ]
        masked = masked_drafts(self._masker, tenant_id, [draft for draft in drafts if draft is not None])
        own_ids = {whose: self._own_id(tenant_id, *whose) for whose in set(zip(owners, subjects, strict=True))}
        admitted: list[AdmittedSpan | Refusal] = []
        for (span, _, _), draft, owner, subject in zip(items, drafts, owners, subjects, strict=True):
            if draft is None:
                admitted.append(Refusal(Reason.SUPPRESSED.value, span.trace_id, span.span_id))
                continue
            made, content, mentions = next(masked)(own_ids[owner, subject])
            if owner:
                made = carriers.with_subject(made, draft[0], self._attributes, owner, subject)
            admitted.append(
                AdmittedSpan(
                    tenant_id=tenant_id,
                    subject=subject,
                    span=made,
                    content=content,
                    withheld_reason=Reason.CONTENT_WITHHELD.value if content is None else None,
                    mentions=mentions,
                )
            )
        return admitted

    def admission(self, tenant_id: str, where: str, admitted: Counter[str]) -> AuditEvent:
        """What the audit says of an admission, for the transaction that stores it; ``admitted`` is a ``tally``."""
        return self._event(tenant_id, "admit_spans", where, dict(sorted(admitted.items())))

    def admit_said(self, tenant_id: str, said: Sequence[Said]) -> list[Heard | None]:
        """Admit feedback, in order; None is what an erased person said, or what was said as theirs.

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
        masked = iter(self._masker.mask(tenant_id, drafts))
        heard = [None if one.subject in erased else _heard(one, next(masked)) for one in said]
        counts = Counter("suppressed" if one is None else "admitted" for one in heard)
        self._log(tenant_id, "admit_feedback", f"batch of {len(said)}", dict(sorted(counts.items())))
        return heard

    def admit_world(self, tenant_id: str, source: World, schema: WorldSchema) -> WorldRef:
        """Mask and store a snapshot; the same snapshot again gives the reference that is there.

        Raises:
            MaskingError: when a detector fails; nothing is stored then.

        """
        digest = source.digest()
        known = self._store.worlds.by_source(tenant_id, digest)
        if known is not None:
            return known
        tables, people, dropped = self._tables(tenant_id, source, schema)
        names = sorted(source.documents)
        documents = self._masker.mask(tenant_id, [source.documents[name] for name in names])
        masked = World(
            tables=tables,
            documents={name: str(one.value) for name, one in zip(names, documents, strict=True)},
            at=source.at,
        )
        ref = WorldRef(tenant_id=tenant_id, source_digest=digest, masked_digest=masked.digest(), at=source.at)
        stored = self._store.worlds.put(ref, masked, people)
        self._log(tenant_id, "admit_world", stored.masked_digest, {"rows_of_erased_people_left_out": dropped})
        return stored

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
        """Those of whom some purpose allows to keep what was said."""
        kept: set[str] = set()
        open_ = set(subjects)
        for purpose in KEEPING:
            people = [(tenant_id, subject) for subject in sorted(open_)]
            verdicts = self._store.rights.verdicts(purpose, people, now) if people else {}
            kept |= {subject for (_, subject), verdict in verdicts.items() if verdict.allowed}
            open_ -= kept
        return kept

    def _tables(
        self, tenant_id: str, source: World, schema: WorldSchema
    ) -> tuple[dict[str, tuple[dict[str, Any], ...]], list[WorldSubject], int]:
        """The masked tables, whose each row is, and how many rows of erased people were left out."""
        tables: dict[str, tuple[dict[str, Any], ...]] = {}
        people: list[WorldSubject] = []
        dropped = 0
        for table, rows in source.tables.items():
            fields, whose = _personal(schema, table), schema.subject_fields.get(table)
            made = [self._row(tenant_id, row, fields, whose) for row in rows]
            owners = {subject for _, subject in made if subject is not None}
            erased = self._store.rights.suppressed(tenant_id, owners)
            kept = [(row, subject) for row, subject in made if subject not in erased]
            dropped += len(made) - len(kept)
            tables[table] = tuple(row for row, _ in kept)
            people += _index(schema, table, kept)
        return tables, people, dropped

    def _row(
        self, tenant_id: str, row: dict[str, Any], fields: dict[str, str], whose: str | None
    ) -> tuple[dict[str, Any], str | None]:
        raw_id = row.get(whose) if whose else None
        masked = self._masker.mask_fields(
            tenant_id, row, {field: kind for field, kind in fields.items() if field != whose}
        )
        if whose is None or raw_id is None or raw_id == "":
            return masked, None
        subject = self.subject(tenant_id, str(raw_id))
        return masked | {whose: subject}, subject

    def _log(self, tenant_id: str, action: str, target: str, detail: dict[str, Any]) -> None:
        self._store.audit.append(self._event(tenant_id, action, target, detail))

    def _event(self, tenant_id: str, action: str, target: str, detail: dict[str, Any]) -> AuditEvent:
        return AuditEvent(
            id=self._ids.hex(16),
            tenant_id=tenant_id,
            actor="door",
            role="intake",
            action=action,
            target=target,
            detail=detail,
            at=self._clock.now(),
        )


def _heard(said: Said, masked: Masked) -> Heard:
    value = OwnId(said.raw_id, said.subject).hidden(masked.value)
    mentions = tuple(sorted({finding.mention for finding in masked.findings}))
    return Heard(structure=value["structure"], words=value["words"], mentions=mentions)


def _personal(schema: WorldSchema, table: str) -> dict[str, str]:
    """The declared fields of a table, with their entity types."""
    paths = ((path.partition("."), kind) for path, kind in schema.personal_fields.items())
    return {field: kind for (name, _, field), kind in paths if name == table}


def _index(schema: WorldSchema, table: str, rows: Sequence[tuple[dict[str, Any], str | None]]) -> list[WorldSubject]:
    """Whose each row is, by the key of the masked row."""
    key = schema.primary_keys[table] if table in schema.primary_keys else schema.subject_fields.get(table, "")
    return [
        WorldSubject(subject=subject, table=table, key_field=key, key=str(row.get(key)))
        for row, subject in rows
        if subject is not None
    ]


def _draft(item: Item, *, keep: bool) -> Draft:
    """What may be kept of a span: it and its content, or its structure."""
    span, content, _ = item
    bare = carriers.without_server_keys(span)
    if keep:
        return carriers.without_content(bare), content
    return carriers.with_scores(carriers.without_words(bare), content.evaluations), None


def tally(admitted: Iterable[AdmittedSpan | Refusal]) -> Counter[str]:
    """How many spans were admitted, withheld, and refused by reason."""
    return Counter(
        one.reason if isinstance(one, Refusal) else "withheld" if one.content is None else "admitted"
        for one in admitted
    )
