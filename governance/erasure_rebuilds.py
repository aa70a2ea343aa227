"""Rebuilds: what an erasure left ``pending_rebuild`` becomes ``rebuilt_without`` when weights without the person serve.

Each artifact belongs to the scope whose dataset or adapter it is; what belongs to none goes with the scope that asks.
It is rebuilt when the champion of its scope has an adapter that is not retired, trained on a dataset of that very scope
which was made after the certificate and in which the person does not stand. A report is completed as a whole, so it
waits for each of its scopes, and for as long as any tainted release of it is champion anywhere. First the old weights
are destroyed, then the completed certificate is stored: a run that breaks off between is taken up by the next one.
"""

from __future__ import annotations

from collections.abc import Sequence

from governance.erasure_certificates import ErasureCertificates, waits
from governance.errors import NotFound
from governance.ports.clock import Clock
from governance.ports.erasable import Erasable
from governance.records.erasure import ArtifactState, ErasedArtifact, ErasureReport
from governance.records.lineage import Node, NodeKind
from governance.records.scope import Scope
from governance.store import Store


class ErasureRebuilds:
    """Completes erasures and destroys the weights that they left in service."""

    def __init__(
        self, store: Store, places: Sequence[Erasable], clock: Clock, certificates: ErasureCertificates
    ) -> None:
        """``places`` are all; those that hold weights drop them."""
        self._store, self._places, self._clock, self._certificates = store, places, clock, certificates

    def complete(self, scope: Scope) -> tuple[ErasureReport, ...]:
        """Complete what waited for weights of a scope, after a promotion there; the completed reports."""
        waiting = [one for one in self._certificates.pending() if one.tenant_id in scope.tenants]
        completed = (self._completed(report, scope) for report in waiting)
        return tuple(one for one in completed if one is not None)

    def destroy(self) -> tuple[ErasedArtifact, ...]:
        """Destroy the weights that any certificate names and that serve nowhere any more."""
        named = {one.node.id: one.node for report in self._store.erasures.list() for one in _adapters(report)}
        return self._drop([named[id_] for id_ in sorted(named)])

    def _completed(self, report: ErasureReport, scope: Scope) -> ErasureReport | None:
        champions = self._champions()
        if set(champions.values()) & set(report.tainted_releases):
            return None
        successors = {name: new for name, digest in champions.items() if (new := self._new_in(name, digest, report))}
        rebuilt = []
        for artifact in report.artifacts:
            if not waits(artifact):
                rebuilt.append(artifact)
                continue
            mine = self._scope_of(artifact.node) or scope.name
            new = next((new for name, new in successors.items() if _goes_on(name, mine, report.tenant_id)), None)
            if new is None:
                return None
            said = f"rebuilt as adapter {new}"
            rebuilt.append(artifact.model_copy(update={"state": ArtifactState.REBUILT_WITHOUT, "detail": said}))
        left = self._drop([one.node for one in _adapters(report)])
        if any(one.state is not ArtifactState.DELETED for one in left):
            return None
        changed = {
            "artifacts": tuple(rebuilt), "at": self._clock.now(), "weights": ArtifactState.REBUILT_WITHOUT,
        }  # fmt: skip
        return self._certificates.complete(report.model_copy(update=changed))

    def _champions(self) -> dict[str, str]:
        """Scope to the release that is champion there."""
        scopes = self._store.deployments.scopes()
        found = {scope: self._store.deployments.current(scope) for scope in scopes}
        return {scope: one.release_digest for scope, one in found.items() if one is not None}

    def _new_in(self, scope: str, release: str, report: ErasureReport) -> str | None:
        """The champion's adapter, where it was built for this scope, since the erasure, and without the person."""
        adapter = self._store.releases.get(release).release.adapter
        if adapter is None or self._store.adapters.state(adapter.content_digest) == "retired":
            return None
        try:
            version = self._store.manifests.version(adapter.dataset_digest)
        except NotFound:
            return None
        person = (report.tenant_id, report.subject)
        learned = {(row.tenant_id, row.subject) for row in self._store.datasets.sources(version.root)}
        fits = version.scope == scope and version.at >= report.at and person not in learned
        return adapter.content_digest if fits else None

    def _scope_of(self, node: Node) -> str | None:
        """The scope that an adapter, a dataset or a release was made for; None where nothing says so."""
        try:
            if node.kind is NodeKind.RELEASE:
                adapter = self._store.releases.get(node.id).release.adapter
                dataset = None if adapter is None else adapter.dataset_digest
            elif node.kind is NodeKind.ADAPTER:
                dataset = self._store.adapters.get(node.id)[0].dataset_digest
            else:
                dataset = node.id if node.kind is NodeKind.DATASET else None
            return None if dataset is None else self._store.manifests.version(dataset).scope
        except NotFound:
            return None

    def _drop(self, made: Sequence[Node]) -> tuple[ErasedArtifact, ...]:
        return tuple(one for place in self._places for one in place.drop(made))


def _adapters(report: ErasureReport) -> list[ErasedArtifact]:
    return [one for one in report.artifacts if one.node.kind is NodeKind.ADAPTER]


def _goes_on(scope: str, earlier: str, tenant: str) -> bool:
    """Whether a scope serves the tenant by the same agent as an earlier one, alone or among others."""
    agent, _, tenants = scope.rpartition("@")
    before, _, of = earlier.rpartition("@")
    return agent == before and tenant in tenants.split("+") and tenant in of.split("+")
