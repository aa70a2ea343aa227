"""Requirement 12: an unlawful source taints every descendant; one query lists them, one action retires them."""

from __future__ import annotations

import pytest

from governance.errors import NotFound, PurposeDenied, RecordError
from governance.records.descent import Source, SourceKind
from governance.records.lineage import LineageEdge, Node, NodeKind
from governance.records.rights import Purpose, Reason
from governance.store import Store
from governance.store.lineage import edge, node
from governance.unlawful import Unlawful
from tests.governance.loop_records import ANN, BEN, CAY, Turned, turn
from tests.governance.store_records import adapter, bundle, trajectory
from tests.support.clock import ManualClock
from tests.support.ids import SeededIds

TRAIN = Purpose.TRAIN_WEIGHTS


@pytest.fixture
def turned(store: Store) -> Turned:
    return turn(store)


@pytest.fixture
def unlawful(store: Store, clock: ManualClock, ids: SeededIds) -> Unlawful:
    return Unlawful(store, clock, ids)


def source(kind: SourceKind, *ids: str, tenant: str = "acme") -> Source:
    return Source(tenant_id=tenant, kind=kind, ids=ids)


def test_12_one_query_lists_what_derives_in_whole_or_in_part(unlawful: Unlawful, turned: Turned) -> None:
    found = unlawful.trace(source(SourceKind.RUN, turned.runs[0]))
    (dataset,) = found.datasets
    assert (dataset.root, dataset.whole, dataset.rows, dataset.tainted) == (turned.dataset, False, 2, 1)
    assert (found.adapters, found.releases) == ((turned.adapter,), (turned.release,))
    assert found.champions == {"shop@acme": turned.release}
    assert (found.grades, found.gate_reports) == (1, (turned.report,)), "the release's scores"
    both = unlawful.trace(source(SourceKind.RUN, *turned.runs[:2]))
    assert both.datasets[0].whole
    assert not found.retired


def test_12_one_action_retires_them(store: Store, unlawful: Unlawful, turned: Turned, clock: ManualClock) -> None:
    done = unlawful.retire(source(SourceKind.RUN, turned.runs[0]), "case 7")
    assert done.retired
    assert store.releases.tainted() == {turned.release}, "out of the rollback set at once, the champion too"
    assert store.adapters.state(turned.adapter) == "retired"
    with pytest.raises(PurposeDenied, match="unlawful source: case 7"):
        store.deployments.switch("shop@acme", 2, turned.release, "again", "r-1")
    assert [one.subject for one in store.datasets.rows(turned.dataset, TRAIN)] == [BEN]
    asked = [("acme", ANN, turned.runs[0]), ("acme", BEN, turned.runs[1])]
    verdicts = store.rights.row_verdicts(TRAIN, asked, clock.now())
    assert [verdicts[one].reasons[0] for one in asked] == [Reason.UNLAWFUL_SOURCE, Reason.ALLOWED]
    event = store.audit.list("acme")[-1]
    assert (event.action, event.detail["releases"]) == ("retire_unlawful", [turned.release])
    facts = len(store.rights.facts("acme"))
    assert unlawful.retire(source(SourceKind.RUN, turned.runs[0]), "case 7").releases == (turned.release,)
    assert len(store.rights.facts("acme")) == facts, "again, nothing is recorded twice"


def test_12_what_is_made_of_it_later_is_retired_by_the_same_action_again(
    store: Store, unlawful: Unlawful, turned: Turned
) -> None:
    unlawful.retire(source(SourceKind.RUN, turned.runs[0]), "case 7")
    late = adapter(turned.dataset, 0xEE)
    store.adapters.put(late, "adapters/y", {})
    again = bundle(weights=late, prompt="other {tools}")
    store.releases.put(again, None, "late")
    unlawful.retire(source(SourceKind.RUN, turned.runs[0]), "case 7")
    assert store.releases.tainted() == {turned.release, again.release.digest()}


def test_12_every_kind_of_source(store: Store, unlawful: Unlawful, turned: Turned) -> None:
    imported = node(NodeKind.IMPORT, "acme", "f" * 64)
    store.lineage.add([edge(Node(kind=NodeKind.TRAJECTORY, id=turned.runs[2]), imported)])
    for one in (
        source(SourceKind.SUBJECT, ANN),
        source(SourceKind.CONTRACT, "contract-acme"),
        source(SourceKind.TENANT),
        source(SourceKind.IMPORT, "f" * 64),
        source(SourceKind.DATASET, turned.dataset),
    ):
        assert unlawful.trace(one).releases == (turned.release,), one
    world = unlawful.trace(source(SourceKind.WORLD, turned.world))
    assert (world.releases, world.grades, world.gate_reports) == ((), 1, (turned.report,))
    assert unlawful.trace(source(SourceKind.IMPORT, "f" * 64)).datasets == ()


def test_12_a_world_goes_with_its_tasks_and_scores(store: Store, unlawful: Unlawful, turned: Turned) -> None:
    unlawful.retire(source(SourceKind.WORLD, turned.world), "case 8")
    with pytest.raises(NotFound):
        store.worlds.get(turned.world, Purpose.COMPLY)
    with pytest.raises(NotFound):
        store.tasks.get(turned.task, Purpose.COMPLY)
    assert store.grades.get(turned.release, turned.task) is None
    assert store.releases.tainted() == set()


def test_12_a_contract_denies_what_was_collected_under_it(
    store: Store, unlawful: Unlawful, turned: Turned, clock: ManualClock
) -> None:
    unlawful.retire(source(SourceKind.CONTRACT, "contract-acme"), "case 9")
    assert store.datasets.rows(turned.dataset, TRAIN) == ()
    assert {one.trajectory_id for one in store.rights.facts("acme")} == set(turned.runs)
    assert store.rights.verdict(TRAIN, "acme", CAY, clock.now()).allowed, "what comes later is judged by itself"


def test_12_a_tenant_denies_all_of_it_and_nothing_of_another(
    store: Store, unlawful: Unlawful, turned: Turned, clock: ManualClock
) -> None:
    other = trajectory(9, subject=BEN, tenant="bolt")
    store.trajectories.put(other)
    store.lineage.add(
        [LineageEdge(derived=node(NodeKind.PATTERN, "c9", "q"), source=node(NodeKind.TRAJECTORY, other.id))]
    )
    found = unlawful.retire(source(SourceKind.TENANT), "case 10")
    assert found.others[NodeKind.PATTERN] == 1
    assert store.rights.verdict(TRAIN, "acme", CAY, clock.now()).reasons == (Reason.UNLAWFUL_SOURCE,)
    assert store.rights.facts("bolt") == ()


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        (source(SourceKind.RUN), RecordError),
        (source(SourceKind.TENANT, "x"), RecordError),
        (source(SourceKind.TENANT, tenant="nobody"), NotFound),
        (source(SourceKind.CONTRACT, "none"), NotFound),
        (source(SourceKind.IMPORT, "0" * 64), NotFound),
        (source(SourceKind.WORLD, "0" * 64), NotFound),
    ],
)
def test_12_a_source_that_is_not_known_is_told(unlawful: Unlawful, asked: Source, error: type[Exception]) -> None:
    with pytest.raises(error):
        unlawful.trace(asked)
