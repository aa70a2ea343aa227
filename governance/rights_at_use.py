"""Rights at use: asked again before training, at the gate, at promotion, and of what serves.

Theory. A right is a fact about a moment, and weights outlive moments. Before training a row whose right ended drops,
and what is left is a dataset version of its own, which the adapter names. After training a row cannot drop any more, so
what was made of it stops at gate and promotion, or by the policy goes on until a deadline by which it must be rebuilt.
A champion has the same deadline. Each asking that decides something is recorded (``store.manifests``): of what, when,
under which policy, with which outcome.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from governance.acting import acting
from governance.errors import NotFound
from governance.policy import rebuilds
from governance.policy.rebuilds import Word
from governance.ports.clock import Clock, IdFactory
from governance.records.base import Record, UtcTime
from governance.records.dataset import DatasetRow
from governance.records.lineage import NodeKind
from governance.records.manifest import DatasetUse, JudgedRows, MadeFor, UseKind, UseOutcome
from governance.records.release import ReleaseBundle
from governance.records.rights import Purpose
from governance.store import Store
from governance.store.lineage import node
from governance.store.uses import NO_LONGER_HELD

TRAIN = Purpose.TRAIN_WEIGHTS
_GRAVITY = (UseOutcome.WENT_ON, UseOutcome.DROPPED, UseOutcome.PENDING_REBUILD, UseOutcome.STOPPED)


class ReleaseRights(Record):
    """Whether what a release learned from may be used now."""

    release: str
    outcome: UseOutcome
    dropped: dict[str, int]
    """Reason to rows, over every dataset that its adapter learned from."""
    rows: int
    """Rows that may still be used."""
    lost_at: UtcTime | None
    deadline: UtcTime | None
    datasets: tuple[str, ...]
    as_of: UtcTime

    @property
    def reasons(self) -> tuple[str, ...]:
        """In words; empty where nothing was lost."""
        if not self.dropped:
            return ()
        whole = self.rows + sum(self.dropped.values())
        why = ", ".join(f"{reason} {count}" for reason, count in self.dropped.items())
        until = f"; to be rebuilt by {self.deadline.isoformat()}" if self.deadline else ""
        return (f"{sum(self.dropped.values())} of {whole} rows may not be trained on now ({why}){until}",)


class RightsAtUse:
    """Asks again, and records what came of it."""

    def __init__(self, store: Store, clock: Clock, ids: IdFactory) -> None:
        """On one store."""
        self._store, self._clock, self._ids = store, clock, ids

    def before_training(self, root: str, target: str) -> tuple[str, tuple[DatasetRow, ...]]:
        """The version that may be trained on now, and its rows: what lost its right dropped. ``target``: the cycle."""
        found = self._store.datasets.judged(root, TRAIN)
        version = self._store.datasets.part(found, MadeFor.TRAINING)
        outcome = UseOutcome.DROPPED if found.dropped else UseOutcome.WENT_ON
        self._note(UseKind.TRAINING, found, version, target, Word(outcome))
        return version, found.rows

    def trained(self, version: str, learned: Iterable[str]) -> str:
        """The version of what was learned in the end: without rows that the trainer could not take."""
        found, kept = self._store.datasets.judged(version, TRAIN), set(learned)
        refused = {row.digest(): "rejected_by_trainer" for row in found.rows if row.digest() not in kept}
        return self._store.datasets.part(found, MadeFor.TRAINING, refused) if refused else version

    def of_candidate(self, bundle: ReleaseBundle) -> ReleaseRights:
        """Whether a release may pass the gate and be promoted now."""
        return self._of(bundle, champion=False)

    def of_champion(self, bundle: ReleaseBundle) -> ReleaseRights:
        """Whether a release may go on serving now. What left with an erased person is the erasure's to decide."""
        return self._of(bundle, champion=True)

    def note(self, kind: UseKind, rights: ReleaseRights) -> None:
        """Record what asking about a release came to, for each dataset that it learned from."""
        for root in rights.datasets:
            found = self._store.datasets.judged(root, TRAIN)
            self._note(kind, found, root, rights.release, Word(rights.outcome, rights.deadline))

    def _of(self, bundle: ReleaseBundle, *, champion: bool) -> ReleaseRights:
        now, terms = self._clock.now(), self._store.policy.rebuild
        dropped: Counter[str] = Counter()
        lost: list[datetime] = []
        words, rows = [Word(UseOutcome.WENT_ON)], 0
        found = self._judged(bundle)
        decide = rebuilds.of_champion if champion else rebuilds.of_candidate
        for one in found:
            counts = _counts(one, without=NO_LONGER_HELD if champion else "")
            words.append(decide(counts, one.lost_at, now, terms))
            dropped.update(counts)
            rows += len(one.rows)
            lost += [one.lost_at] if one.lost_at is not None else []
        deadlines = [word.deadline for word in words if word.deadline is not None]
        return ReleaseRights(
            release=bundle.release.digest(),
            outcome=max((word.outcome for word in words), key=_GRAVITY.index),
            dropped=dict(sorted(dropped.items())),
            rows=rows,
            lost_at=min(lost, default=None),
            deadline=min(deadlines, default=None),
            datasets=tuple(one.root for one in found),
            as_of=now,
        )

    def _judged(self, bundle: ReleaseBundle) -> list[JudgedRows]:
        """The datasets that a release's adapter was made from, each judged now."""
        adapter = bundle.release.adapter
        if adapter is None:
            return []
        made_from = self._store.lineage.ancestors(node(NodeKind.ADAPTER, adapter.content_digest))
        found = []
        for root in sorted({one.id for one in made_from if one.kind is NodeKind.DATASET}):
            try:
                found.append(self._store.datasets.judged(root, TRAIN))
            except NotFound:  # a manifest's other name
                continue
        return found

    def _note(self, kind: UseKind, found: JudgedRows, version: str, target: str, word: Word) -> None:
        use = DatasetUse(
            id=self._ids.hex(16),
            kind=kind,
            root=found.root,
            version=version,
            scope=self._store.datasets.manifest(found.root).scope,
            target=target,
            outcome=word.outcome,
            rows=len(found.rows),
            dropped=_counts(found),
            deadline=word.deadline,
            policy_version=self._store.policy.version,
            as_of=found.as_of,
            actor=acting().principal.name,
        )
        self._store.manifests.put_use(use)


def _counts(found: JudgedRows, without: str = "") -> dict[str, int]:
    return dict(sorted(Counter(one.reason for one in found.dropped if one.reason != without).items()))
