"""Erasure: crash-safe at every step, idempotent, and honest about what it left."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from governance.erasure import ErasureService
from governance.errors import Conflict, HeldError, NotFound, RecordError
from governance.ports.erasable import Content, Erasable
from governance.records.content import AdmittedSpan, SpanContent
from governance.records.erasure import ArtifactState, ErasedArtifact
from governance.records.lineage import LineageEdge, Node, NodeKind
from governance.records.rights import (
    Basis,
    ConsentEvent,
    ConsentStatus,
    Contract,
    FactKind,
    Purpose,
    PurposeTerm,
    Reason,
    RightsFact,
)
from governance.records.span import Span
from governance.store import Store
from tests.support.clock import ManualClock
from tests.support.ids import SeededIds

PAST = datetime(2020, 1, 1, tzinfo=UTC)
ANNA, BORIS = "a" * 64, "b" * 64
ADAPTER, RELEASE = "c" * 64, "e" * 64


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

    def contents(self) -> Iterator[Content]:
        yield from (Content(path.name, path) for path in sorted(self._folder.iterdir()))


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


@pytest.mark.parametrize("whom", [ANNA, None])
def test_a_legal_hold_stops_the_deletion_and_every_use(
    service: ErasureService, store: Store, clock: ManualClock, whom: str | None
) -> None:
    now = clock.now()
    hold = RightsFact(
        id="h", tenant_id="t", kind=FactKind.HOLD, subject=whom, reason="case 7", valid_from=now, recorded_at=now,
        actor="counsel",
    )  # fmt: skip
    store.rights.add_facts([hold])
    with pytest.raises(HeldError, match="case 7"):
        service.execute("r1", "t", ANNA)
    assert service.plan("t", ANNA).total > 0
    assert store.rights.verdict(Purpose.TRAIN_WEIGHTS, "t", ANNA, clock.now()).reasons == (Reason.RESTRICTED,)
    assert not store.rights.is_suppressed("t", ANNA), "what still comes of her must be kept"
    with pytest.raises(HeldError):
        service.execute("r1", "t", ANNA)
    assert store.audit.list("t")[-1].action == "erasure_held"
    ended_at = clock.advance(days=1)
    ended = hold.model_copy(update={"id": "e", "supersedes": "h", "valid_to": ended_at, "recorded_at": ended_at})
    store.rights.add_facts([ended])
    assert service.execute("r1", "t", ANNA).remaining == 0


def test_a_hold_on_somebody_else_stops_an_erasure_that_would_take_their_data(
    service: ErasureService, store: Store, clock: ManualClock
) -> None:
    now = clock.now()
    span = Span(trace_id="9" * 32, span_id="9" * 16, name="chat", start_unix_nano=5)
    mentioning = AdmittedSpan(
        tenant_id="t", subject=BORIS, span=span, content=SpanContent(operation="chat"), mentions=(ANNA,)
    )
    store.spans.merge([mentioning], lambda old, new: old or new)
    hold = RightsFact(
        id="h", tenant_id="t", kind=FactKind.HOLD, subject=BORIS, reason="case 7", valid_from=now, recorded_at=now,
        actor="counsel",
    )  # fmt: skip
    store.rights.add_facts([hold])
    with pytest.raises(HeldError, match="case 7"):
        service.execute("r1", "t", ANNA)
    assert store.spans.trace("t", "9" * 32, Purpose.COMPLY)


def test_a_hold_on_one_run_stops_only_what_would_delete_that_run(
    service: ErasureService, store: Store, clock: ManualClock
) -> None:
    now = clock.now()
    hold = RightsFact(
        id="h", tenant_id="t", kind=FactKind.HOLD, trajectory_id=f"t/{1:032x}", reason="case 7", valid_from=now,
        recorded_at=now, actor="counsel",
    )  # fmt: skip
    store.rights.add_facts([hold])
    assert service.execute("r2", "t", BORIS).remaining == 0
    with pytest.raises(HeldError):
        service.execute("r1", "t", ANNA)


def test_a_hold_that_comes_while_an_erasure_is_broken_off_is_kept_and_stops_it(
    service: ErasureService, store: Store, folders: list[Folder], clock: ManualClock
) -> None:
    folders[0].broken = "before"
    with pytest.raises(OSError, match="disk gone"):
        service.execute("r1", "t", ANNA)
    folders[0].broken = ""
    now = clock.now()
    hold = RightsFact(
        id="h", tenant_id="t", kind=FactKind.HOLD, subject=ANNA, reason="case 7", valid_from=now, recorded_at=now,
        actor="counsel",
    )  # fmt: skip
    with pytest.raises(RecordError, match="is being erased"):
        store.rights.add_facts([hold.model_copy(update={"id": "x", "kind": FactKind.RESTRICTION})])
    store.rights.add_facts([hold])
    left = folders[0].count("t", ANNA)
    assert left
    with pytest.raises(HeldError, match="case 7"):
        service.execute("r1", "t", ANNA)
    assert folders[0].count("t", ANNA) == left
    ended_at = clock.advance(days=1)
    ended = hold.model_copy(update={"id": "e", "supersedes": "h", "valid_to": ended_at, "recorded_at": ended_at})
    store.rights.add_facts([ended])
    assert service.execute("r1", "t", ANNA).remaining == 0
    with pytest.raises(RecordError, match="was erased"):
        store.rights.add_facts([hold.model_copy(update={"id": "late"})])


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
