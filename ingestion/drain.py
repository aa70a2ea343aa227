"""The drain: from the spool through the door into the store, and from dirty traces to trajectories and signals.

1. A segment is decoded, read by its dialects, admitted by the door (masked), and then, in one transaction: merged,
   its traces assembled, counted into the ledger, marked done. Only then is it destroyed. A crash before the commit
   leaves nothing, a crash after it leaves a segment that the next run only destroys. So nothing is lost, doubled or
   counted twice.
2. A trace that cannot be assembled, and one that something else changed, is remembered by the store as dirty and
   assembled by a later run.
3. What masking cannot read, and what the door detains, is sealed into quarantine in the same transaction. Feedback goes
   the same way and joins its run in assembly (``ingestion.feedback``); the ledger counts an item as it counts a span.
4. Several processes may drain one spool, each segment claimed by one (``ingestion.share``): what one has stored, the
   others find there.
5. The day of a ledger line is the UTC day on which the receiver had the body.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from functools import partial
from typing import NamedTuple

from governance.door import Door
from governance.found import by_channel
from governance.ports.clock import Clock, SystemClock
from governance.records.base import Record
from governance.records.ledger import Fate
from governance.records.process_rule import ProcessRule
from governance.records.rights import Purpose
from governance.store import Store
from governance.store.spans import Assemble
from ingestion.admitting import AdmittedGroup, Admitting
from ingestion.assembler import Assembler, Drafts
from ingestion.batch import read_groups
from ingestion.commit import together
from ingestion.errors import SpoolError
from ingestion.feedback.admission import Admission
from ingestion.feedback.joining import Joining
from ingestion.garbage import rarely_collected
from ingestion.owners import Owners, Summary, TraceKey, summarise
from ingestion.people import DEFAULT_ATTRIBUTES, Subjects
from ingestion.prices import PriceTable
from ingestion.reviewing import put_doubts
from ingestion.segment import claimed
from ingestion.share import WHOLE, Share
from ingestion.signals import Thresholds
from ingestion.signals.baselines import Baselines
from ingestion.spool import Spool
from ingestion.storing import rejected, store_feedback, store_spans
from ingestion.tokens import NO_PRICES

_log = logging.getLogger(__name__)
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
        self._admitting = Admitting(door, spool, self._subjects, self._feedback)

    def run(self, progress: Progress | None = None, share: Share = WHOLE) -> DrainReport:
        """Drain every sealed segment of the share that does not wait, then assemble what else changed."""
        with rarely_collected():
            return self._run(progress or (lambda _: None), share)

    @property
    def assemble(self) -> Assemble:
        """What follows from traces, for who changes them elsewhere."""
        return self._assembler.counting(Counter())

    def _run(self, tell: Progress, share: Share) -> DrainReport:
        self._spool.seal()
        total: Counter[str] = Counter()
        fates: Counter[str] = Counter()
        segment_ids = list(self._spool.sealed())
        owners = Owners(segment_ids, self._summary)
        for position, (segment_id, own) in enumerate(share.take(segment_ids, partial(claimed, self._spool.folder)), 1):
            try:
                total["waiting"] += not self._segment(segment_id, owners, total, fates) and own
            except SpoolError:
                if own:
                    total["corrupt"] += 1
                    _log.exception("segment %s cannot be read and stays in the spool", segment_id)
            tell(f"segment {position}/{len(segment_ids)}")
        self._feedback.settle()
        self._assemble(total, tell)
        if self._feedback.settle():  # of those whose run came in this very drain
            self._assemble(total, tell)
        return DrainReport(**total, fates=dict(sorted(fates.items())))

    # Segments

    def _segment(self, segment_id: str, owners: Owners, total: Counter[str], fates: Counter[str]) -> bool:
        """Whether everything of it is in the store; it waits else."""
        if self._store.segments.done(segment_id):
            self._spool.destroy(segment_id)
            return True
        groups = read_groups(self._spool.read(segment_id))
        summary = summarise(groups, self._subjects)
        owners.learn(segment_id, summary)
        elsewhere, unsettled = owners.find(segment_id)
        if unsettled and self._young(segment_id) and not self._known(unsettled):
            return False
        named = summary.named | elsewhere
        for group in groups:
            self._warn(group.tenant_id)
        admitted = [self._admitting.admit(group, named, segment_id) for group in groups]
        counted = self._commit(segment_id, admitted, total)
        self._spool.destroy(segment_id)
        total["segments"] += 1
        for done in counted:
            total["received"] += done.received
            total["withheld"] += done.withheld
            fates.update(fate.value for fate, _ in done.fates)
        return True

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

    def _commit(self, segment_id: str, admitted: list[AdmittedGroup], total: Counter[str]) -> list[_Counted]:
        """Everything of a segment, together or not at all."""
        drafts = [self._assembler.draft(group.spans) for group in admitted]

        def work() -> tuple[list[_Counted], Counter[str]]:
            made: Counter[str] = Counter()
            if self._store.segments.done(segment_id):
                return [], made
            counted = [self._store_group(segment_id, *group, made) for group in zip(admitted, drafts, strict=True)]
            self._store.segments.finish(segment_id)
            return counted, made

        counted, made = together(self._store, work, durable=True)  # the segment is destroyed after it
        total.update(made)
        return counted

    def _store_group(self, segment_id: str, admitted: AdmittedGroup, drafts: Drafts, total: Counter[str]) -> _Counted:
        group = admitted.group
        for aside in admitted.quarantined:
            aside.put(self._store, group.tenant_id, group.day, self._clock.now())
        heard, unheard = store_feedback(self._store, admitted.feedback)  # first: its traces may be in this segment
        stored, withheld = store_spans(self._store, admitted.spans, self._assembler.counting(total, drafts))
        gone = rejected(admitted.spans, stored)
        doubts = [one for one in admitted.doubts if (one.trace_id, one.span_id) not in gone]
        put_doubts(self._store, self._spool, doubts, self._clock.now())
        fates, withheld = [*admitted.fates, *stored, *heard], withheld + unheard
        if admitted.tally:
            event = self._door.admission(group.tenant_id, f"segment:{segment_id}", admitted.tally)
            self._store.audit.append(event)
        found = by_channel(admitted.found)
        self._store.ledger.record(group.tenant_id, group.day, group.received, fates, withheld, segment_id, found)
        return _Counted(group.received, fates, withheld)

    def _warn(self, tenant_id: str) -> None:
        if tenant_id in self._warned:
            return
        self._warned.add(tenant_id)
        if self._store.rights.contract_at(tenant_id, self._clock.now()) is None:
            _log.warning(
                "tenant %s has no contract: its spans are kept as structure, what was said in them is withheld (an "
                "agent's contracts are recorded by `tidemill up`)",
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
