"""Erasure: a person's data leaves, and each thing that was made from it ends in a named state.

Theory. The order makes a crash harmless: first the suppression is recorded, from which moment nothing of the person
enters and no purpose but ``comply`` reads them; then each place erases what it holds (each is idempotent); then a
rescan counts what is left; and only then is the certificate stored. A run that breaks off leaves the person
suppressed and no certificate, and running the same request again finishes it. A request that has its certificate
returns it unchanged. Which releases are tainted is read from lineage before anything is deleted, and recorded as
taint at once, so it survives a crash after the deletion; what each place erased is noted in the audit as it happens,
so the certificate of a run that was taken up again names the work of the run before. A recorded withdrawal would be
one more row about the person: the suppression says more, and is the only entry that stays beside the certificate.

Weights are not edited. An adapter whose dataset held the person is retired where it does not serve, and
``pending_rebuild`` where it does; ``complete_rebuild`` turns pending into ``rebuilt_without`` after it has checked
that nobody whom the request names stands in the new dataset.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

from governance.errors import Conflict, NotFound, RecordError, RightsError
from governance.ports.clock import Clock, IdFactory
from governance.ports.erasable import Erasable
from governance.records.audit import AuditEvent
from governance.records.base import Record
from governance.records.erasure import ArtifactState, ErasedArtifact, ErasureReport
from governance.records.lineage import Node, NodeKind
from governance.records.rights import Suppression
from governance.records.trajectory import UNKNOWN_SUBJECT
from governance.store import Store

NOTED: Final = "erasure_noted"
COMPLETED: Final = ":rebuilt"
"""What a completed report's request id ends with."""


class ErasurePlan(Record):
    """What an erasure would find: nothing is changed by asking."""

    tenant_id: str
    subject: str
    held: dict[str, int]
    """Place to count; places that hold nothing are left out."""
    tainted_releases: tuple[str, ...]
    deployed: dict[str, str]
    """Scope to the tainted release that is champion there."""

    @property
    def total(self) -> int:
        """How many rows and files are held."""
        return sum(self.held.values())


class ErasureService:
    """Plans and executes erasures over every place that holds data made from people."""

    def __init__(self, store: Store, erasables: Sequence[Erasable], clock: Clock, ids: IdFactory) -> None:
        """``erasables`` are all places, the store's own among them."""
        self._store = store
        self._erasables = tuple(erasables)
        self._clock = clock
        self._ids = ids

    def plan(self, tenant_id: str, subject: str) -> ErasurePlan:
        """Where the person is, which releases were made in part from them, and where those serve."""
        tainted = self._tainted(tenant_id, subject)
        return ErasurePlan(
            tenant_id=tenant_id,
            subject=subject,
            held=self._held(tenant_id, subject),
            tainted_releases=tainted,
            deployed=self._deployed(tainted),
        )

    def execute(self, request_id: str, tenant_id: str, subject: str) -> ErasureReport:
        """Erase the person; the same request again returns its report.

        Raises:
            Conflict: when the request id was used for another person.
            RecordError: for the subject of records that identify nobody: suppressing it would suppress everyone.

        """
        if subject == UNKNOWN_SUBJECT:
            raise RecordError(f"erasure {request_id}: {UNKNOWN_SUBJECT!r} is nobody; name the person's hash")
        done = self._stored(request_id)
        if done is not None:
            if (done.tenant_id, done.subject) != (tenant_id, subject):
                raise Conflict(f"erasure {request_id}: this request was made for another person; use a new id")
            return done
        self._store.rights.suppress(
            Suppression(tenant_id=tenant_id, subject=subject, since=self._clock.now(), request_id=request_id)
        )
        tainted = self._taint(request_id, tenant_id, subject)
        for place in self._erasables:
            self._erase(place, request_id, tenant_id, subject)
        report = ErasureReport(
            request_id=request_id,
            tenant_id=tenant_id,
            subject=subject,
            artifacts=self._noted(request_id, tenant_id),
            tainted_releases=tainted,
            remaining=sum(self._held(tenant_id, subject).values()),
            at=self._clock.now(),
        )
        self._finish(report, "erasure_finished")
        return report

    def complete_rebuild(
        self, request_id: str, new_adapter_digest: str, new_manifest_subjects: Iterable[str]
    ) -> ErasureReport:
        """Record that the weights were built anew without the person; returns the completed report.

        The first certificate stands as it was; the completed one is stored beside it.

        Raises:
            RightsError: when the person stands in the new dataset.
            NotFound: when no such request was executed.

        """
        report = self.report(request_id)
        if report.subject in set(new_manifest_subjects):
            raise RightsError(f"erasure {request_id}: the dataset of {new_adapter_digest} still holds the person")
        rebuilt = tuple(_rebuilt(artifact, new_adapter_digest) for artifact in report.artifacts)
        if rebuilt == report.artifacts:
            return report
        name = request_id + COMPLETED
        completed = report.model_copy(update={"request_id": name, "artifacts": rebuilt, "at": self._clock.now()})
        self._finish(completed, "erasure_completed")
        return completed

    def report(self, request_id: str) -> ErasureReport:
        """The last word on a request: the completed report where there is one.

        Raises:
            NotFound: when no such request was executed.

        """
        return self._stored(request_id + COMPLETED) or self._store.erasures.get(request_id)

    def pending(self) -> tuple[ErasureReport, ...]:
        """The reports that still wait for weights to be built anew, oldest first."""
        reports = {one.request_id: one for one in self._store.erasures.list()}
        return tuple(
            one
            for name, one in reports.items()
            if name + COMPLETED not in reports and any(_waits(artifact) for artifact in one.artifacts)
        )

    def _taint(self, request_id: str, tenant_id: str, subject: str) -> tuple[str, ...]:
        """Take every release made from the person out of promotion; noted, since lineage forgets the person later."""
        found = self._tainted(tenant_id, subject)
        for release in found:
            self._store.releases.taint(release, f"erasure {request_id}")
        champions = set(self._deployed(found).values())
        states = [
            ErasedArtifact(
                node=Node(kind=NodeKind.RELEASE, id=release),
                state=ArtifactState.PENDING_REBUILD if release in champions else ArtifactState.RETIRED,
                detail="champion until the rebuilt release takes over" if release in champions else "",
            )
            for release in found
        ]
        self._note(request_id, tenant_id, "lineage", states)
        noted = self._noted(request_id, tenant_id)
        return tuple(sorted({one.node.id for one in noted if one.node.kind is NodeKind.RELEASE}))

    def _erase(self, place: Erasable, request_id: str, tenant_id: str, subject: str) -> None:
        """Erase in one place and note what became of it: in one transaction, where the place is the store itself."""
        if place.claims & self._store.tables().keys():
            with self._store.transaction():
                self._note(request_id, tenant_id, place.name, place.erase(tenant_id, subject))
        else:
            self._note(request_id, tenant_id, place.name, place.erase(tenant_id, subject))

    def _note(self, request_id: str, tenant_id: str, place: str, artifacts: Sequence[ErasedArtifact]) -> None:
        named = [one.plain() for one in artifacts if one.node.kind is not NodeKind.SUBJECT]
        if named:
            self._log(tenant_id, NOTED, request_id, {"place": place, "artifacts": named})

    def _noted(self, request_id: str, tenant_id: str) -> tuple[ErasedArtifact, ...]:
        """What every run of the request did, each artifact once, in the state that it was last given."""
        events = self._store.audit.list(tenant_id)
        found = [
            ErasedArtifact.parse(one, f"erasure {request_id}")
            for event in events
            if event.action == NOTED and event.target == request_id
            for one in event.detail["artifacts"]
        ]
        last = {(one.node.kind, one.node.id): one for one in found}
        return tuple(last[key] for key in sorted(last))

    def _stored(self, request_id: str) -> ErasureReport | None:
        try:
            return self._store.erasures.get(request_id)
        except NotFound:
            return None

    def _deployed(self, releases: Iterable[str]) -> dict[str, str]:
        wanted = set(releases)
        champions = {scope: self._store.deployments.current(scope) for scope in self._store.deployments.scopes()}
        return {
            scope: champion.release_digest
            for scope, champion in champions.items()
            if champion is not None and champion.release_digest in wanted
        }

    def _finish(self, report: ErasureReport, action: str) -> None:
        """Certificate and audit event, together or not at all."""
        states = Counter(artifact.state.value for artifact in report.artifacts)
        detail = {"states": dict(sorted(states.items())), "remaining": report.remaining}
        with self._store.transaction():
            self._store.erasures.put(report)
            self._log(report.tenant_id, action, report.request_id, detail)

    def _log(self, tenant_id: str, action: str, target: str, detail: dict[str, Any]) -> None:
        event = AuditEvent(
            id=self._ids.hex(16),
            tenant_id=tenant_id,
            actor="erasure",
            role="compliance",
            action=action,
            target=target,
            detail=detail,
            at=self._clock.now(),
        )
        self._store.audit.append(event)

    def _held(self, tenant_id: str, subject: str) -> dict[str, int]:
        counts = {place.name: place.count(tenant_id, subject) for place in self._erasables}
        return {name: count for name, count in sorted(counts.items()) if count}

    def _tainted(self, tenant_id: str, subject: str) -> tuple[str, ...]:
        person = Node(kind=NodeKind.SUBJECT, id=f"{tenant_id}/{subject}")
        found = self._store.lineage.descendants(person)
        return tuple(sorted({node.id for node in found if node.kind is NodeKind.RELEASE}))


def _waits(artifact: ErasedArtifact) -> bool:
    return artifact.state is ArtifactState.PENDING_REBUILD or (
        artifact.state is ArtifactState.RETIRED and artifact.node.kind is NodeKind.ADAPTER
    )


def _rebuilt(artifact: ErasedArtifact, adapter_digest: str) -> ErasedArtifact:
    if not _waits(artifact):
        return artifact
    detail = f"rebuilt as adapter {adapter_digest}"
    return artifact.model_copy(update={"state": ArtifactState.REBUILT_WITHOUT, "detail": detail})
