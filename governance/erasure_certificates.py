"""The certificates of a store: put with their audit event, and completed when the weights were built anew."""

from __future__ import annotations

from collections import Counter
from typing import Final

from governance.certificates import certify
from governance.erasure_means import ErasureMeans
from governance.erasure_notes import ErasureNotes
from governance.errors import NotFound
from governance.records.erasure import ArtifactState, ErasedArtifact, ErasureReport
from governance.records.lineage import NodeKind
from governance.store import Store

COMPLETED: Final = ":rebuilt"
"""What a completed report's request id ends with."""


class ErasureCertificates:
    """Reports by request."""

    def __init__(self, store: Store, notes: ErasureNotes, means: ErasureMeans) -> None:
        """``means`` has the signing key and the journal."""
        self._store, self._notes, self._means = store, notes, means

    def complete(self, completed: ErasureReport) -> ErasureReport:
        """Sign and store a report whose weights were built anew, beside the first one; what stands then."""
        named = completed.model_copy(update={"request_id": completed.request_id + COMPLETED})
        self.finish(self.signed(named), "erasure_completed")
        standing = self._store.erasures.get(named.request_id)
        if self._means.journal is not None:
            self._means.journal.certify(standing)
        return standing

    def report(self, request_id: str) -> ErasureReport:
        """The last word on a request: the completed report where there is one.

        Raises:
            NotFound: when no such request was executed.

        """
        return self.find(request_id + COMPLETED) or self._store.erasures.get(request_id)

    def pending(self) -> tuple[ErasureReport, ...]:
        """The reports that still wait for weights to be built anew, oldest first."""
        reports = {one.request_id: one for one in self._store.erasures.list()}
        return tuple(
            one
            for name, one in reports.items()
            if name + COMPLETED not in reports and any(waits(artifact) for artifact in one.artifacts)
        )

    def finish(self, report: ErasureReport, action: str) -> None:
        """Certificate and audit event, together or not at all."""
        states = Counter(artifact.state.value for artifact in report.artifacts)
        detail = {"states": dict(sorted(states.items())), "remaining": report.remaining}
        with self._store.transaction():
            if not self._store.erasures.put(report):
                return  # another run was first
            self._store.requests.drop(report.request_id)
            self._store.erasures.drop_notes(report.request_id)
            self._notes.log(report.tenant_id, action, report.request_id, detail)

    def signed(self, report: ErasureReport) -> ErasureReport:
        """The report under the signing key; as it is where there is none."""
        return report if self._means.keys is None else certify(report, self._means.keys)

    def find(self, request_id: str) -> ErasureReport | None:
        """The certificate of a request; None where it has none."""
        try:
            return self._store.erasures.get(request_id)
        except NotFound:
            return None


def waits(artifact: ErasedArtifact) -> bool:
    """Whether it is pending until weights are built anew."""
    return artifact.state is ArtifactState.PENDING_REBUILD or (
        artifact.state is ArtifactState.RETIRED and artifact.node.kind is NodeKind.ADAPTER
    )
