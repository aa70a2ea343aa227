"""Erasure: a person's data leaves, and each thing that was made from it ends in a named state.

Theory. The order makes a crash harmless: first the suppression is recorded (in the journal outside of the database,
then in it), from which moment nothing of the person enters and no purpose but ``comply`` reads them; then it is written
down, sealed, what a search has to look for; then each place erases what it holds (each is idempotent), what only a
search finds is removed, and what deleting left in files is scrubbed; then a rescan searches every place again; and only
then is the certificate signed and stored. A run that breaks off leaves the person suppressed and no certificate, and
running the same request again finishes it, to the same certificate. A request that has its certificate returns it
unchanged. A legal hold over anything that would go stops it: the person is restricted until it ends, so that nothing of
them is used and what still comes of them is kept. Which releases are tainted is read from lineage before anything is
deleted, and recorded as taint at once, so it survives a crash after the deletion; what each place erased is noted in
the audit as it happens, so the certificate of a run that was taken up again names the work of the run before. A
recorded withdrawal would be one more row about the person: the suppression says more, and is the only entry that stays
beside the certificate.

The rescan proves something only because the same search found what was there before: the certificate says both.

Weights are not edited. An adapter that lineage leads to from the person, also from a row that only mentions them, is
destroyed where it does not serve, and ``pending_rebuild`` where it does; ``ErasureRebuilds`` turns pending into
``rebuilt_without`` when weights without them took over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from datetime import timedelta

from governance.acting import acting, complying
from governance.erasure_certificates import ErasureCertificates, waits
from governance.erasure_holds import refuse_under_hold
from governance.erasure_means import NO_MEANS, ErasureMeans
from governance.erasure_notes import ErasureNotes
from governance.erasure_plan import ErasurePlan
from governance.erasure_rebuilds import ErasureRebuilds
from governance.erasure_rescan import ErasureRescan
from governance.erasure_work import Work
from governance.errors import Conflict, RecordError
from governance.ports.clock import Clock, IdFactory
from governance.ports.erasable import Erasable
from governance.records.approval import ApprovedAct
from governance.records.descent import Source, SourceKind
from governance.records.erasure import (
    ArtifactState,
    ErasedArtifact,
    ErasurePolicy,
    ErasureReport,
    OutlastingPlace,
)
from governance.records.lineage import Node, NodeKind
from governance.records.rights import Suppression
from governance.records.rights_request import RequestKind, RightsRequest
from governance.records.trajectory import UNKNOWN_SUBJECT
from governance.rescan.needles import Needles
from governance.store import Store


class ErasureService:
    """Plans and executes erasures over every place that holds data made from people."""

    def __init__(
        self,
        store: Store,
        erasables: Sequence[Erasable],
        clock: Clock,
        ids: IdFactory,
        *,
        policy: ErasurePolicy | None = None,
        means: ErasureMeans = NO_MEANS,
    ) -> None:
        """``erasables`` are all places, the store's own among them."""
        self._store = store
        self._erasables = tuple(erasables)
        self._clock = clock
        self._ids = ids
        self.policy = policy or ErasurePolicy()
        self._means = means
        self._notes = ErasureNotes(store, clock, ids)
        self._rescan = ErasureRescan(store, self._erasables, means)
        self.certificates = ErasureCertificates(store, self._notes, means)
        self.rebuilds = ErasureRebuilds(store, self._erasables, clock, self.certificates)

    def plan(self, tenant_id: str, subject: str) -> ErasurePlan:
        """Where the person is, what was made in part from them, and where releases made so serve."""
        made = self._made(tenant_id, subject)
        tainted = tuple(sorted(node.id for node in made if node.kind is NodeKind.RELEASE))
        return ErasurePlan(
            tenant_id=tenant_id,
            subject=subject,
            held=self._held(tenant_id, subject),
            tainted_releases=tainted,
            deployed=self._deployed(tainted),
            made=dict(sorted(Counter(node.kind.value for node in made).items())),
        )

    def request(self, request_id: str, tenant_id: str, subject: str) -> RightsRequest:
        """Take an erasure in, with its deadline; taken in again, it keeps the first one.

        Raises:
            Conflict: when the request id was used for another person.

        """
        now = self._clock.now()
        asked = RightsRequest(
            id=request_id, tenant_id=tenant_id, subject=subject, kind=RequestKind.ERASURE, requested_at=now,
            due_at=now + self.policy.term, actor=acting().principal.name,
        )  # fmt: skip
        with self._store.transaction():
            standing = self._store.requests.put(asked)
            if standing == asked:
                self._notes.log(tenant_id, "erasure_requested", request_id, {"due_at": asked.due_at.isoformat()})
        if (standing.tenant_id, standing.subject) != (tenant_id, subject):
            raise Conflict(f"erasure {request_id}: this request was made for another person; use a new id")
        return standing

    def execute(self, request_id: str, tenant_id: str, subject: str) -> ErasureReport:
        """Erase the person; the same request again returns its report.

        Raises:
            Conflict: when the request id was used for another person.
            RecordError: for the subject of records that identify nobody: suppressing it would suppress everyone.
            ApprovalMissing: when it needs an approval that is not there; the request waits.
            HeldError: while a legal hold covers what would go; the person is restricted, and nothing is deleted.

        """
        if subject == UNKNOWN_SUBJECT:
            raise RecordError(f"erasure {request_id}: {UNKNOWN_SUBJECT!r} is nobody; name the person's hash")
        done = self.certificates.find(request_id)
        if done is not None:
            if (done.tenant_id, done.subject) != (tenant_id, subject):
                raise Conflict(f"erasure {request_id}: this request was made for another person; use a new id")
            self._settle(done)
            return done
        asked = self.admit(request_id, tenant_id, subject)
        with complying(f"erasure {request_id}"):
            return self._run(asked)

    def _run(self, asked: RightsRequest) -> ErasureReport:
        self.suppress(asked)
        work = self._rescan.look(asked)
        tainted = self._taint(asked)
        self._leave(asked, work.needles)
        report = self._certificate(asked, work, tainted)
        self.certificates.finish(report, "erasure_finished")
        self._means.reached("certified")
        standing = self._store.erasures.get(asked.id)  # of two runs at once the first one's
        self._settle(standing)
        return standing

    def admit(self, request_id: str, tenant_id: str, subject: str) -> RightsRequest:
        """Take a request in and let it pass where nothing stands against it; see ``execute``."""
        asked = self.request(request_id, tenant_id, subject)
        self._means.reached("requested")
        if self._means.approvals is not None:
            self._means.approvals.require(tenant_id, ApprovedAct.ERASURE, request_id)
        refuse_under_hold(self._store, self._notes, self._clock.now(), asked)
        return asked

    def report(self, request_id: str) -> ErasureReport:
        """The last word on a request; see ``ErasureCertificates``."""
        return self.certificates.report(request_id)

    def pending(self) -> tuple[ErasureReport, ...]:
        """The reports that still wait for weights to be built anew, oldest first."""
        return self.certificates.pending()

    def _approver(self, asked: RightsRequest) -> str | None:
        """Who approved; None where nobody had to."""
        means = self._means.approvals
        found = None if means is None else means.standing(asked.tenant_id, ApprovedAct.ERASURE, asked.id)
        return None if found is None else found.approver

    def suppress(self, asked: RightsRequest) -> None:
        """Into the journal first: a database that loses the suppression is told of it when it is opened."""
        since = self._clock.now()
        suppression = Suppression(tenant_id=asked.tenant_id, subject=asked.subject, since=since, request_id=asked.id)
        if self._means.journal is not None:
            self._means.journal.suppress(suppression, asked)
        self._means.reached("journalled")
        self._store.rights.suppress(suppression)
        self._means.reached("suppressed")

    def _leave(self, asked: RightsRequest, needles: Needles) -> None:
        """Erase in every place, remove what only a search finds, and scrub what deleting left behind."""
        for place in self._erasables:
            refuse_under_hold(self._store, self._notes, self._clock.now(), asked)  # one may come at any moment
            self._erase(place, asked)
            self._means.reached(f"erased {place.name}")
        made = [one.node for one in self._notes.artifacts(asked)]  # of a run that broke off too: lineage forgets
        before = self._store.erasures.of_person(asked.tenant_id, asked.subject)
        made += [one.node for report in before for one in report.artifacts]
        for place in self._erasables:
            gone = (*place.drop(made), *place.purge(needles))
            self._notes.note(asked.id, asked.tenant_id, place.name, gone)
        self._means.reached("purged")
        for place in self._erasables:
            place.scrub()
        self._means.reached("scrubbed")

    def _certificate(self, asked: RightsRequest, work: Work, tainted: tuple[str, ...]) -> ErasureReport:
        searched = self._rescan.again(asked, work)
        artifacts = tuple(self._as_served(one) for one in self._notes.artifacts(asked, searched))
        learned = any(waits(one) or one.node.kind is NodeKind.DATASET_ROW for one in artifacts)
        now = self._clock.now()
        needles, serves = work.needles, timedelta(days=self.policy.keep_days)
        keeps = self.policy.serving == "keep" and self._deployed(tainted)
        report = ErasureReport(
            request_id=asked.id,
            tenant_id=asked.tenant_id,
            subject=asked.subject,
            artifacts=artifacts,
            tainted_releases=tainted,
            remaining=sum(one.held_after + one.found_after for one in searched),
            at=now,
            requested_at=asked.requested_at,
            due_at=asked.due_at,
            approved_by=self._approver(asked),
            weights=ArtifactState.PENDING_REBUILD if learned else ArtifactState.NEVER_TRAINED,
            serves_until=asked.requested_at + serves if keeps else None,
            looked_for=needles.counts,
            searched=searched,
            recipients=work.recipients,
            outlasting=tuple(
                OutlastingPlace(place=place, until=now + timedelta(days=self.policy.backup_days))
                for place in self._store.outlasting()
            ),
        )
        return self.certificates.signed(report)

    def _as_served(self, artifact: ErasedArtifact) -> ErasedArtifact:
        """A release that answers nobody says why."""
        is_release = artifact.node.kind is NodeKind.RELEASE
        why = self._store.releases.suspended(artifact.node.id) if is_release else None
        return artifact if why is None else artifact.model_copy(update={"detail": f"suspended: {why}"})

    def _settle(self, report: ErasureReport) -> None:
        """What follows a certificate: the journal knows it, and nothing is left of the work."""
        if self._means.journal is not None:
            self._means.journal.certify(report)
        self._means.reached("journalled certificate")
        if self._means.work is not None:
            self._means.work.drop(report.request_id)
        self._store.settle()
        self._means.reached("settled")

    def _taint(self, asked: RightsRequest) -> tuple[str, ...]:
        """Take every release made from the person out of promotion; noted, since lineage forgets the person later."""
        found = self._tainted(asked.tenant_id, asked.subject)
        for release in found:
            self._store.releases.taint(release, f"erasure {asked.id}")
        champions = set(self._deployed(found).values())
        states = [
            ErasedArtifact(
                node=Node(kind=NodeKind.RELEASE, id=release),
                state=ArtifactState.PENDING_REBUILD if release in champions else ArtifactState.RETIRED,
                detail="champion until the rebuilt release takes over" if release in champions else "",
            )
            for release in found
        ]
        self._notes.note(asked.id, asked.tenant_id, "lineage", states)
        self._means.reached("tainted")
        noted = self._notes.artifacts(asked)
        return tuple(sorted({one.node.id for one in noted if one.node.kind is NodeKind.RELEASE}))

    def _erase(self, place: Erasable, asked: RightsRequest) -> None:
        """Erase in one place and note what became of it: in one transaction, where the place is the store itself."""
        together = self._store.transaction() if place.claims & self._store.tables().keys() else nullcontext()
        with together:
            artifacts = place.erase(asked.tenant_id, asked.subject)
            self._notes.note(asked.id, asked.tenant_id, place.name, artifacts)

    def _deployed(self, releases: Iterable[str]) -> dict[str, str]:
        wanted = set(releases)
        champions = {scope: self._store.deployments.current(scope) for scope in self._store.deployments.scopes()}
        return {
            scope: champion.release_digest
            for scope, champion in champions.items()
            if champion is not None and champion.release_digest in wanted
        }

    def _held(self, tenant_id: str, subject: str) -> dict[str, int]:
        counts = {place.name: place.count(tenant_id, subject) for place in self._erasables}
        return {name: count for name, count in sorted(counts.items()) if count}

    def _made(self, tenant_id: str, subject: str) -> list[Node]:
        """What lineage leads to from the person's data and from runs that mention them."""
        person = Source(tenant_id=tenant_id, kind=SourceKind.SUBJECT, ids=(subject,))
        found = (one.node for one in self._store.lineage.derived(person))
        return [one for one in found if one.kind is not NodeKind.SUBJECT]

    def _tainted(self, tenant_id: str, subject: str) -> tuple[str, ...]:
        return tuple(sorted({one.id for one in self._made(tenant_id, subject) if one.kind is NodeKind.RELEASE}))
