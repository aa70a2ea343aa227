"""The drain: from the spool through the door into the store, and from dirty traces to trajectories and signals.

1. A segment is decoded, read by its dialects, admitted by the door (masked), and then, in one transaction: merged,
   its traces assembled, counted into the ledger, marked done. Only then is it destroyed. A crash before the commit
   leaves nothing, a crash after it leaves a segment that the next run only destroys. So nothing is lost, doubled or
   counted twice.
2. A trace that cannot be assembled, and one that something else changed, is remembered by the store as dirty and
   assembled by a later run.
3. What masking cannot read is sealed into quarantine, trace by trace, inside the same transaction.
   Feedback goes the same way in the same transaction, item by item, and joins its run in assembly
   (``ingestion.feedback``); the ledger counts an item as it counts a span.
4. Several processes may drain one spool, each its share of the segments: what one has stored, the others find there.
5. The day of a ledger line is the UTC day on which the receiver had the body.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from functools import partial
from typing import Final, NamedTuple

from governance.door import Door, Refusal, tally
from governance.errors import MaskingError
from governance.ports.clock import Clock, SystemClock
from governance.records.base import Record
from governance.records.content import AdmittedSpan
from governance.records.ledger import Fate
from governance.records.process_rule import ProcessRule
from governance.records.rights import Purpose
from governance.records.span import Span
from governance.store import Store
from ingestion.assembler import Assembler, Drafts
from ingestion.batch import Group, chunks, items, read_groups
from ingestion.commit import together
from ingestion.errors import SpoolError
from ingestion.feedback.admission import Admission, AdmittedFeedback
from ingestion.feedback.joining import Joining
from ingestion.garbage import rarely_collected
from ingestion.merge import normal
from ingestion.owners import Owners, Summary, TraceKey, summarise
from ingestion.people import DEFAULT_ATTRIBUTES, Subjects
from ingestion.prices import PriceTable
from ingestion.quarantine import MASKING_FAILED, Aside, set_aside, set_item_aside
from ingestion.share import WHOLE, Share
from ingestion.signals import Thresholds
from ingestion.signals.baselines import Baselines
from ingestion.spool import Spool
from ingestion.storing import store_feedback, store_spans
from ingestion.tokens import NO_PRICES

_log = logging.getLogger(__name__)
_BATCH: Final = 512
Progress = Callable[[str], None]


class DrainReport(Record):
    """What one run did."""

    segments: int = 0
    waiting: int = 0
    """Sealed segments that wait for the roots of their traces."""
    corrupt: int = 0
    """Segments that fail their checks, or whose key is another, and were left where they are."""
    received: int = 0
    fates: dict[str, int] = {}
    """Fate to count."""
    withheld: int = 0
    trajectories: int = 0
    """How often one was assembled: a trace that came in two segments counts twice."""
    signals: int = 0

    @property
    def balances(self) -> bool:
        """Whether every received span has a fate."""
        return self.received == sum(self.fates.values())


class _Counted(NamedTuple):
    """A group in the store."""

    received: int
    fates: list[tuple[Fate, str]]
    withheld: int


class _Admitted(NamedTuple):
    """A group after the door."""

    group: Group
    spans: list[AdmittedSpan]
    fates: list[tuple[Fate, str]]
    quarantined: list[Aside]
    feedback: AdmittedFeedback
    tally: Counter[str]


class Drain:
    """Empties the spool into the store."""

    def __init__(
        self,
        spool: Spool,
        door: Door,
        store: Store,
        subject_attributes: Sequence[str] | Subjects = DEFAULT_ATTRIBUTES,
        clock: Clock | None = None,
        *,
        hold: timedelta = timedelta(seconds=30),
        prices: PriceTable = NO_PRICES,
        rules: Sequence[ProcessRule] = (),
    ) -> None:
        """``subject_attributes`` name the keys that carry a raw id; ``hold`` is how long a root may be late."""
        self._spool = spool
        self._door = door
        self._store = store
        self._clock = clock or SystemClock()
        self._hold = hold
        baselines = Baselines(partial(store.trajectories.outlines, Purpose.DEBUG), Thresholds().outlier_window)
        self._assembler = Assembler(baselines, prices, rules, Joining(store))
        self._warned: set[str] = set()
        self._feedback = Admission(door, spool, store)
        self._subjects = (
            subject_attributes
            if isinstance(subject_attributes, Subjects)
            else Subjects(door.subject, subject_attributes)
        )

    def run(self, progress: Progress | None = None, share: Share = WHOLE) -> DrainReport:
        """Drain every sealed segment of the share that does not wait, then assemble what else changed."""
        with rarely_collected():
            return self._run(progress or (lambda _: None), share)

    def _run(self, tell: Progress, share: Share) -> DrainReport:
        self._spool.seal()
        total: Counter[str] = Counter()
        fates: Counter[str] = Counter()
        segment_ids = list(self._spool.sealed())
        owners = Owners(segment_ids, self._summary)
        mine = [segment_id for segment_id in segment_ids if share.holds(segment_id)]
        for position, segment_id in enumerate(mine, 1):
            try:
                self._segment(segment_id, owners, total, fates)
            except SpoolError:
                total["corrupt"] += 1
                _log.exception("segment %s cannot be read and stays in the spool", segment_id)
            tell(f"segment {position}/{len(mine)}")
        self._feedback.settle()
        self._assemble(total, tell)
        if self._feedback.settle():  # of those whose run came in this very drain
            self._assemble(total, tell)
        return DrainReport(**total, fates=dict(sorted(fates.items())))

    # Segments

    def _segment(self, segment_id: str, owners: Owners, total: Counter[str], fates: Counter[str]) -> None:
        if self._store.segments.done(segment_id):
            self._spool.destroy(segment_id)
            return
        try:
            groups = read_groups(self._spool.read(segment_id))
        except SpoolError:
            if self._store.segments.done(segment_id):
                return  # another drain finished it in between
            raise
        summary = summarise(groups, self._subjects)
        owners.learn(segment_id, summary)
        elsewhere, unsettled = owners.find(segment_id)
        if unsettled and self._young(segment_id) and not self._known(unsettled):
            total["waiting"] += 1
            return
        named = summary.named | elsewhere
        admitted = [self._admit(group, named, segment_id) for group in groups]
        counted = self._commit(segment_id, admitted, total)
        self._spool.destroy(segment_id)
        total["segments"] += 1
        for group in counted:
            total["received"] += group.received
            total["withheld"] += group.withheld
            fates.update(fate.value for fate, _ in group.fates)

    def _summary(self, segment_id: str) -> Summary:
        try:
            return summarise(read_groups(self._spool.read(segment_id)), self._subjects)
        except SpoolError:
            return Summary()

    def _known(self, traces: Iterable[TraceKey]) -> bool:
        """Whether the store knows whose all of the traces are."""
        by_tenant: dict[str, set[str]] = {}
        for tenant_id, trace_id in traces:
            by_tenant.setdefault(tenant_id, set()).add(trace_id)
        people = self._store.spans.people
        return all(people(tenant_id, trace_ids).keys() == trace_ids for tenant_id, trace_ids in by_tenant.items())

    def _young(self, segment_id: str) -> bool:
        """Whether a segment is newer than ``hold``; its id tells when it was opened."""
        opened = int(segment_id.partition("-")[0]) / 1e9
        return self._clock.now().timestamp() - opened < self._hold.total_seconds()

    def _admit(self, group: Group, owners: dict[tuple[str, str], str], segment_id: str) -> _Admitted:
        self._warn(group.tenant_id)
        theirs = {trace_id: raw_id for (tenant_id, trace_id), raw_id in owners.items() if tenant_id == group.tenant_id}
        feedback = self._feedback.admit(group.tenant_id, group.feedback)
        result = _Admitted(group, [], list(group.fates), [], feedback, Counter())
        for position, item in enumerate(feedback.failed):
            place = f"{segment_id}/{group.tenant_id}/{group.day}/feedback/{position}"
            result.quarantined.append(set_item_aside(self._spool, place, item))
            result.fates.append((Fate.QUARANTINED, MASKING_FAILED))
        for run in chunks(group.spans, _BATCH):
            try:
                self._through_door(run, theirs, result)
            except MaskingError:
                for of_trace in chunks(run, 1):
                    try:
                        self._through_door(of_trace, theirs, result)
                    except MaskingError as error:
                        self._set_aside(of_trace, segment_id, theirs, error, result)
        return result

    def _through_door(self, spans: list[Span], owners: dict[str, str], result: _Admitted) -> None:
        tenant_id = result.group.tenant_id
        admitted = self._door.admit(tenant_id, items(tenant_id, spans, self._subjects, owners))
        result.tally.update(tally(admitted))
        for one in admitted:
            if isinstance(one, Refusal):
                result.fates.append((Fate.REJECTED, one.reason))
            else:
                result.spans.append(normal(one))

    def _set_aside(
        self, spans: list[Span], segment_id: str, owners: dict[str, str], error: MaskingError, result: _Admitted
    ) -> None:
        group = result.group
        place = f"{segment_id}/{group.tenant_id}/{group.day}/{spans[0].trace_id}"
        result.quarantined.append(set_aside(self._spool, place, spans, owners.get(spans[0].trace_id)))
        result.fates.extend((Fate.QUARANTINED, MASKING_FAILED) for _ in spans)
        _log.error(
            "masking failed for %d spans of tenant %s, now in quarantine: %s", len(spans), group.tenant_id, error
        )

    def _commit(self, segment_id: str, admitted: list[_Admitted], total: Counter[str]) -> list[_Counted]:
        """Everything of a segment, together or not at all."""
        drafts = [self._assembler.draft(group.spans) for group in admitted]

        def work() -> tuple[list[_Counted], Counter[str]]:
            made: Counter[str] = Counter()
            if self._store.segments.done(segment_id):
                return [], made
            counted = [self._store_group(segment_id, *group, made) for group in zip(admitted, drafts, strict=True)]
            self._store.segments.finish(segment_id)
            return counted, made

        counted, made = together(self._store, work)
        total.update(made)
        return counted

    def _store_group(self, segment_id: str, admitted: _Admitted, drafts: Drafts, total: Counter[str]) -> _Counted:
        group = admitted.group
        for aside in admitted.quarantined:
            aside.put(self._store, group.tenant_id, group.day, self._clock.now())
        heard, unheard = store_feedback(self._store, admitted.feedback)  # first: its traces may be in this segment
        stored, withheld = store_spans(self._store, admitted.spans, self._assembler.counting(total, drafts))
        fates, withheld = [*admitted.fates, *stored, *heard], withheld + unheard
        if admitted.tally:
            event = self._door.admission(group.tenant_id, f"segment {segment_id}", admitted.tally)
            self._store.audit.append(event)
        self._store.ledger.record(group.tenant_id, group.day, group.received, fates, withheld, segment_id)
        return _Counted(group.received, fates, withheld)

    def _warn(self, tenant_id: str) -> None:
        if tenant_id in self._warned:
            return
        self._warned.add(tenant_id)
        if self._store.rights.contract_at(tenant_id, self._clock.now()) is None:
            _log.warning(
                "tenant %s has no contract: its spans are kept as structure, what was said in them is withheld",
                tenant_id,
            )

    # Traces

    def _assemble(self, total: Counter[str], tell: Progress) -> None:
        """Traces that something else changed, or that could not be assembled when they came."""
        dirty = self._store.spans.dirty_traces()
        for position, trace in enumerate(dirty, 1):
            total.update(together(self._store, partial(self._assemble_one, trace)))
            if position % 100 == 0 or position == len(dirty):
                tell(f"trace {position}/{len(dirty)}")

    def _assemble_one(self, trace: TraceKey) -> Counter[str]:
        made: Counter[str] = Counter()
        self._store.spans.assemble((trace[0], trace[1]), self._assembler.counting(made))
        return made
