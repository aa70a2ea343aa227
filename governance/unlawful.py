"""A source is found unlawful: what derives from it, and the one act that retires all of it.

Theory. ``trace`` asks lineage once for everything that was made from the source in whole or in part. ``retire`` writes,
in one transaction: the facts by which every verdict denies the source's runs from now on (a person's, a run's, a
tenant's), the taint of each release, which takes it out of the rollback set and of promotion at once, and the
retirement of each adapter. A row of a dataset is then denied wherever its rights are asked again, so a dataset that
holds some goes on without them, as a version of its own. A world has no runs of its own: it goes, with the tasks and
the scores on it.

A source is one tenant's, and so is its id: another's is not found. What was made of several tenants' data goes for all
of them: each finds it in its own chain, without whose source it was, and ``seen_by`` keeps from a person what is of
tenants that they may not act on.

What serves is not decided here: a tainted champion is suspended by the gateway or rolled back, as the policy of serving
says (``pipelines.unlawful``). Scores stay on record and are named: they were measured on what may not be used.

Source: the duty to delete models and algorithms made from unlawfully obtained data (FTC, "algorithmic disgorgement";
GDPR Art. 17(1)(d); EDPB Opinion 28/2024, section 3.4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from governance.acting import acting, audited
from governance.errors import NotFound, RecordError
from governance.ports.clock import Clock, IdFactory
from governance.records.descent import Derived, Source, SourceKind, Taint, TaintedDataset
from governance.records.lineage import NodeKind
from governance.records.principal import Principal
from governance.records.rights import FactKind, RightsFact
from governance.records.scope import tenants_of
from governance.store import Store

_LISTED: Final = frozenset(
    {
        NodeKind.TRAJECTORY,
        NodeKind.DATASET,
        NodeKind.ADAPTER,
        NodeKind.RELEASE,
        NodeKind.GRADE,
        NodeKind.GATE_REPORT,
        NodeKind.SUBJECT,
    }
)


class Unlawful:
    """Traces and retires what derives from a source."""

    def __init__(self, store: Store, clock: Clock, ids: IdFactory) -> None:
        """On one store."""
        self._store, self._clock, self._ids = store, clock, ids

    def trace(self, source: Source) -> Taint:
        """What derives from the source. Nothing is changed.

        Raises:
            RecordError: for a source without an id, or a tenant with one.
            NotFound: when nothing of that source is known here.

        """
        return self._taint(source, self._found(source), retired=False)

    def retire(self, source: Source, reason: str) -> Taint:
        """Retire what derives from the source. Again, it retires what was derived since.

        ``reason`` is a case or a document by its number; never personal data.

        Raises:
            RecordError: for a source without an id, or a tenant with one.
            NotFound: when nothing of that source is known here.

        """
        found = self._found(source)
        taint = self._taint(source, found, retired=True)
        said = f"unlawful source: {reason}"
        with self._store.transaction():
            self._store.rights.add_facts(self._facts(source, _ids(found, NodeKind.TRAJECTORY), reason))
            for release in taint.releases:
                self._store.releases.taint(release, said)
            for adapter in taint.adapters:
                self._store.adapters.retire(adapter, said)
            if source.kind is SourceKind.WORLD:
                self._store.worlds.withdraw(source.tenant_id, _ids(found, NodeKind.WORLD), _ids(found, NodeKind.TASK))
            self._log(taint, found)
        return taint

    def _found(self, source: Source) -> tuple[Derived, ...]:
        if bool(source.ids) == (source.kind is SourceKind.TENANT):
            raise RecordError(f"a source of kind {source.kind} {'takes no id' if source.ids else 'needs an id'}")
        found = self._store.lineage.derived(source)
        if not any(one.sources or one.node.kind is NodeKind.TRAJECTORY for one in found):
            raise NotFound(f"nothing is known here of {source.kind} {', '.join(source.ids)} of {source.tenant_id}")
        return found

    def _facts(self, source: Source, runs: Sequence[str], reason: str) -> list[RightsFact]:
        """The facts that are not on record yet."""
        about: list[tuple[str | None, str | None]]
        match source.kind:
            case SourceKind.TENANT:
                about = [(None, None)]
            case SourceKind.SUBJECT:
                about = [(subject, None) for subject in source.ids]
            case SourceKind.WORLD:
                about = []
            case _:
                about = [(None, run) for run in runs if run.startswith(f"{source.tenant_id}/")]
        now = self._clock.now()
        standing = {
            (one.subject, one.trajectory_id)
            for one in self._store.rights.facts(source.tenant_id)
            if one.kind is FactKind.UNLAWFUL
        }
        gone = self._store.rights.suppressed(source.tenant_id, {subject for subject, _ in about if subject is not None})
        return [
            RightsFact(
                id=self._ids.hex(16), tenant_id=source.tenant_id, kind=FactKind.UNLAWFUL, subject=subject,
                trajectory_id=run, reason=reason, valid_from=now, recorded_at=now, actor=acting().principal.name,
            )
            for subject, run in about
            if (subject, run) not in standing and subject not in gone
        ]  # fmt: skip

    def _taint(self, source: Source, found: Sequence[Derived], *, retired: bool) -> Taint:
        releases = _ids(found, NodeKind.RELEASE)
        scopes = {scope: self._store.deployments.current(scope) for scope in self._store.deployments.scopes()}
        return Taint(
            source=source,
            runs=len(_ids(found, NodeKind.TRAJECTORY)),
            datasets=tuple(self._datasets(found)),
            adapters=_ids(found, NodeKind.ADAPTER),
            releases=releases,
            grades=len(_ids(found, NodeKind.GRADE)),
            gate_reports=_ids(found, NodeKind.GATE_REPORT),
            others=dict(sorted(Counter(one.node.kind for one in found if one.node.kind not in _LISTED).items())),
            champions={
                scope: now.release_digest for scope, now in scopes.items() if now and now.release_digest in releases
            },
            retired=retired,
        )

    def _datasets(self, found: Sequence[Derived]) -> Iterable[TaintedDataset]:
        """Each dataset by its root; lineage also knows datasets by the digest of their manifest."""
        roots = set(self._store.datasets.roots())
        for one in found:
            if one.node.kind is NodeKind.DATASET and one.node.id in roots:
                yield TaintedDataset(root=one.node.id, whole=one.whole, rows=one.sources, tainted=one.tainted)

    def _log(self, taint: Taint, found: Sequence[Derived]) -> None:
        source, now = taint.source, self._clock.now()
        gone = {
            "kind": source.kind.value,
            "datasets": [one.root for one in taint.datasets],
            "adapters": list(taint.adapters),
            "releases": list(taint.releases),
        }
        for tenant_id in sorted({source.tenant_id, *self._touched(taint, found)}):
            detail = gone | {"ids": list(source.ids)} if tenant_id == source.tenant_id else gone
            event = audited(self._ids, now, tenant_id, "retire_unlawful", "source:unlawful", detail)
            self._store.audit.append(event)

    def _touched(self, taint: Taint, found: Sequence[Derived]) -> set[str]:
        """Tenants whose rows or runs are in what goes, or whom a release served that goes."""
        touched = {one.node.id.partition("/")[0] for one in found if one.node.kind is NodeKind.TRAJECTORY}
        for dataset in taint.datasets:
            touched |= {row.tenant_id for row in self._store.datasets.sources(dataset.root)}
        for scope in self._store.deployments.scopes():
            if any(one.release_digest in taint.releases for one in self._store.deployments.history(scope)):
                touched |= set(tenants_of(scope))
        return touched


def seen_by(who: Principal, taint: Taint) -> Taint:
    """A taint without scopes of tenants that ``who`` may not act on, and rows that are none of the source's."""
    if who.tenants is None:
        return taint
    mine = {scope: digest for scope, digest in taint.champions.items() if all(map(who.covers, tenants_of(scope)))}
    datasets = tuple(one.model_copy(update={"rows": one.tainted}) for one in taint.datasets)
    return taint.model_copy(update={"champions": mine, "datasets": datasets})


def _ids(found: Iterable[Derived], kind: NodeKind) -> tuple[str, ...]:
    return tuple(sorted(one.node.id for one in found if one.node.kind is kind))
