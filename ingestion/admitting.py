"""A group of spans and feedback through the door, and what may not go on, set aside.

Spans go in runs of about ``_BATCH``, traces together. When a detector fails on a run, its traces go one by one, so one
trace that cannot be read costs no other. Nothing is stored here.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from governance.admissions import Detained, Refusal, tally
from governance.door import Door
from governance.doubts import Doubt, Doubter
from governance.errors import MaskingError
from governance.found import Found
from governance.records.content import AdmittedSpan
from governance.records.ledger import Fate
from governance.records.span import Span
from ingestion.batch import Group, chunks, in_order, items, lone_evaluations
from ingestion.feedback.admission import Admission, AdmittedFeedback
from ingestion.people import Subjects
from ingestion.setting_aside import Aside, set_aside, set_item_aside
from ingestion.spool import Spool
from ingestion.storing import admitted_part

_log = logging.getLogger(__name__)
_BATCH: Final = 2048


@dataclass
class AdmittedGroup:
    """A group after the door."""

    group: Group
    feedback: AdmittedFeedback
    fates: list[tuple[Fate, str]]
    """What is decided already; spans to store get theirs there."""
    found: Found
    doubter: Doubter
    spans: list[AdmittedSpan] = field(default_factory=list)
    quarantined: list[Aside] = field(default_factory=list)
    tally: Counter[str] = field(default_factory=Counter)

    @property
    def doubts(self) -> list[Doubt]:
        """What a person should look at."""
        return list(self.doubter.doubts.values())


class Admitting:
    """Takes groups through a door."""

    def __init__(self, door: Door, spool: Spool, subjects: Subjects, feedback: Admission) -> None:
        """The spool's key seals what is set aside."""
        self._door = door
        self._spool = spool
        self._subjects = subjects
        self._feedback = feedback

    def admit(self, group: Group, owners: Mapping[tuple[str, str], str], segment_id: str) -> AdmittedGroup:
        """A group of a segment; ``owners`` are the raw ids of the people of its traces."""
        theirs = {trace_id: raw_id for (tenant_id, trace_id), raw_id in owners.items() if tenant_id == group.tenant_id}
        spans, lone, faults = lone_evaluations(group, self._subjects)
        feedback = self._feedback.admit(group.tenant_id, [*group.feedback, *lone])
        doubter = self._door.doubter(group.tenant_id)
        result = AdmittedGroup(group, feedback, [*group.fates, *faults], Counter(feedback.found), doubter)
        one = _Admission(self, result, theirs, f"{segment_id}/{group.tenant_id}/{group.day}")
        for position, (item, reason) in enumerate(feedback.aside):
            aside = set_item_aside(self._spool, f"{one.place}/feedback/{position}", item, reason)
            result.quarantined.append(aside)
            result.fates.append((Fate.QUARANTINED, reason))
        for run in chunks(spans, _BATCH):
            one.admit(run)
        return result

    def through_door(self, spans: Sequence[Span], owners: Mapping[str, str], result: AdmittedGroup) -> dict[str, _Held]:
        """Spans through the door into the result; trace to the spans of it that are detained.

        Raises:
            MaskingError: when a detector fails; nothing is admitted then.

        """
        tenant_id = result.group.tenant_id
        sent = items(tenant_id, spans, self._subjects, owners)
        admitted = self._door.admit(tenant_id, sent, result.found, doubter=result.doubter)
        result.tally.update(tally(admitted))
        detained: dict[str, _Held] = {}
        for span, one in zip(in_order(spans), admitted, strict=True):
            if isinstance(one, Refusal):
                result.fates.append((Fate.REJECTED, one.reason))
            if isinstance(one, Detained):
                detained.setdefault(span.trace_id, _Held()).add(span, one)
            result.spans.extend(admitted_part(one))
        return detained

    def seal(self, place: str, spans: Sequence[Span], owner: str | None, reason: str) -> Aside:
        """Spans of one trace, sealed."""
        return set_aside(self._spool, f"{place}/{spans[0].trace_id}", spans, owner, reason)


@dataclass
class _Held:
    """What of a trace nobody may keep without a person's decision."""

    spans: list[Span] = field(default_factory=list)
    types: set[str] = field(default_factory=set)

    def add(self, span: Span, detained: Detained) -> None:
        self.spans.append(span)
        self.types.update(detained.types)


@dataclass
class _Admission:
    """The admission of one group."""

    admitting: Admitting
    result: AdmittedGroup
    owners: Mapping[str, str]
    place: str

    def admit(self, run: Sequence[Span]) -> None:
        try:
            self._detain(self.admitting.through_door(run, self.owners, self.result))
        except MaskingError:
            for of_trace in chunks(run, 1):
                self._alone(of_trace)

    def _alone(self, spans: Sequence[Span]) -> None:
        try:
            self._detain(self.admitting.through_door(spans, self.owners, self.result))
        except MaskingError as error:
            _log.error("masking failed for tenant %s, into quarantine: %s", self.result.group.tenant_id, error)
            self._aside(self._sealed(self.place, spans, error.reason))

    def _detain(self, held: dict[str, _Held]) -> None:
        for one in held.values():
            aside = self._sealed(f"{self.place}/special", one.spans, Detained.reason)
            self._aside(aside._replace(types=frozenset(one.types)))

    def _sealed(self, place: str, spans: Sequence[Span], reason: str) -> Aside:
        return self.admitting.seal(place, spans, self.owners.get(spans[0].trace_id), reason)

    def _aside(self, aside: Aside) -> None:
        self.result.quarantined.append(aside)
        self.result.fates.extend([(Fate.QUARANTINED, aside.reason)] * aside.spans)
