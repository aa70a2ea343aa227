"""Erasure: crash-safe at every step, idempotent, and honest about what it left."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from governance.erasure import ErasureService
from governance.errors import Conflict, NotFound, RecordError, RightsError
from governance.ports.erasable import Erasable
from governance.records.content import AdmittedSpan
from governance.records.erasure import ArtifactState, ErasedArtifact
from governance.records.lineage import LineageEdge, Node, NodeKind
from governance.records.rights import Basis, ConsentEvent, ConsentStatus, Contract, Purpose, PurposeTerm
from governance.records.span import Span
from governance.store import Store
from tests.support.clock import ManualClock
from tests.support.ids import SeededIds

PAST = datetime(2020, 1, 1, tzinfo=UTC)
ANNA, BORIS = "a" * 64, "b" * 64
ADAPTER, REBUILT, RELEASE = "c" * 64, "d" * 64, "e" * 64


class Folder(Erasable):
    """A folder of files named by subject, which can break before or after it erased."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder / name, name
        self._folder.mkdir()
        self.broken = ""
        for subject in (ANNA, BORIS):
            (self._folder / subject).write_text("made from them")

    @property
    def name(self) -> str:
        return self._name

    @property
    def claims(self) -> frozenset[str]:
        return frozenset({self._name})

    def count(self, tenant_id: str, subject: str) -> int:
        if self.broken == "count":
            raise OSError("cannot count")
        return int((self._folder / subject).exists())

    def erase(self, tenant_id: str, subject: str) -> tuple[ErasedArtifact, ...]:
        if self.broken == "before":
            raise OSError("disk gone")
        found = (self._folder / subject).exists()
        (self._folder / subject).unlink(missing_ok=True)
        if self.broken == "after":
            raise OSError("disk gone")
        node = Node(kind=NodeKind.ADAPTER, id=ADAPTER)
        return (ErasedArtifact(node=node, state=ArtifactState.PENDING_REBUILD),) if found else ()


@pytest.fixture
def store(tmp_path: Path, clock: ManualClock) -> Iterator[Store]:
    opened = Store.open(f"sqlite:///{tmp_path / 'erasure.db'}", clock=clock)
    terms = (PurposeTerm(purpose=Purpose.TRAIN_WEIGHTS, basis=Basis.CONSENT),)
    opened.rights.add_contract(Contract(id="c", tenant_id="t", terms=terms, valid_from=PAST, recorded_at=PAST))
    for number, subject in enumerate((ANNA, BORIS), start=1):
        opened.rights.add_consent(
            ConsentEvent(
                id=f"e{number}", tenant_id="t", subject=subject, purpose=Purpose.TRAIN_WEIGHTS,
                status=ConsentStatus.GIVEN, notice_digest="0" * 64, valid_from=PAST, recorded_at=PAST, actor="test",
            )
        )  # fmt: skip
        span = Span(trace_id=f"{number:032x}", span_id=f"{number:016x}", name="chat", start_unix_nano=5)
        opened.spans.merge(
            [AdmittedSpan(tenant_id="t", subject=subject, span=span, content=None)], lambda old, new: old or new
        )
    person = Node(kind=NodeKind.SUBJECT, id=f"t/{ANNA}")
    adapter, release = Node(kind=NodeKind.ADAPTER, id=ADAPTER), Node(kind=NodeKind.RELEASE, id=RELEASE)
    opened.lineage.add([LineageEdge(derived=adapter, source=person), LineageEdge(derived=release, source=adapter)])
    yield opened
    opened.close()


@pytest.fixture
def folders(tmp_path: Path) -> list[Folder]:
    return [Folder(tmp_path, "first"), Folder(tmp_path, "last")]


@pytest.fixture
def service(store: Store, folders: list[Folder], clock: ManualClock, ids: SeededIds) -> ErasureService:
    return ErasureService(store, [folders[0], store.erasable(), folders[1]], clock, ids)


def test_a_plan_counts_and_changes_nothing(service: ErasureService, store: Store) -> None:
    plan = service.plan("t", ANNA)
    assert plan.held["first"] == plan.held["last"] == 1
    assert plan.held["store"] > 0
    assert plan.tainted_releases == (RELEASE,)
    assert plan == service.plan("t", ANNA)
    assert not store.rights.is_suppressed("t", ANNA)


def test_an_erasure_leaves_suppression_and_certificate(service: ErasureService, store: Store) -> None:
    report = service.execute("r1", "t", ANNA)
    assert report.remaining == 0
    assert report.tainted_releases == (RELEASE,)
    assert store.rights.is_suppressed("t", ANNA)
    assert store.erasures.get("r1") == report
    assert service.plan("t", ANNA).total == 0
    assert service.plan("t", BORIS).total > 0
    assert all(ANNA not in event.model_dump_json() for event in store.audit.list("t"))
    assert store.audit.list("t")[-1].action == "erasure_finished"


def test_the_same_request_returns_the_same_report(service: ErasureService, clock: ManualClock) -> None:
    first = service.execute("r1", "t", ANNA)
    assert service.execute("r1", "t", ANNA) == first
    with pytest.raises(Conflict, match="another person"):
        service.execute("r1", "t", BORIS)


def test_nobody_held_gets_an_empty_report(service: ErasureService) -> None:
    report = service.execute("r2", "t", "9" * 64)
    assert (report.artifacts, report.tainted_releases, report.remaining) == ((), (), 0)
    with pytest.raises(RecordError, match="nobody"):
        service.execute("r3", "t", "unknown")


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("moment", ["before", "after", "count"])
def test_a_crash_anywhere_is_finished_by_the_same_request(
    service: ErasureService, store: Store, folders: list[Folder], place: int, moment: str
) -> None:
    folders[place].broken = moment
    with pytest.raises(OSError, match=r"disk gone|cannot count"):
        service.execute("r1", "t", ANNA)
    assert store.rights.is_suppressed("t", ANNA)
    with pytest.raises(NotFound):
        store.erasures.get("r1")
    folders[place].broken = ""
    report = service.execute("r1", "t", ANNA)
    assert report.remaining == 0
    assert report.tainted_releases == (RELEASE,)
    assert ADAPTER in {artifact.node.id for artifact in report.artifacts}
    assert service.plan("t", BORIS).held["first"] == 1


def test_a_rebuild_completes_what_waited(service: ErasureService) -> None:
    first = service.execute("r1", "t", ANNA)
    assert service.pending() == (first,)
    with pytest.raises(RightsError, match="still holds"):
        service.complete_rebuild("r1", REBUILT, [BORIS, ANNA])
    completed = service.complete_rebuild("r1", REBUILT, [BORIS])
    states = {artifact.node.id: artifact.state for artifact in completed.artifacts}
    assert states[ADAPTER] is ArtifactState.REBUILT_WITHOUT
    assert service.report("r1") == completed == service.complete_rebuild("r1", REBUILT, [BORIS])
    assert service.execute("r1", "t", ANNA) == first
    assert service.pending() == ()
    with pytest.raises(NotFound):
        service.complete_rebuild("r9", REBUILT, [])
