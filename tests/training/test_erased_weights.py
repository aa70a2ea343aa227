"""The weights of erased people: destroyed once they serve nowhere, and rebuilt in their own scope alone."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from governance.erasure import ErasureService
from governance.records.erasure import ArtifactState, ErasureReport
from governance.records.lineage import NodeKind
from governance.records.rights import Purpose
from governance.records.scope import Scope
from governance.store import Store
from tests.governance import store_records as records
from tests.governance.loop_records import ANN, BEN, CAY, Turned, turn
from tests.support.clock import ManualClock
from tests.support.ids import SeededIds
from training.adapters import ROWS, SOURCES, WEIGHTS, WORK, AdapterShelf, write_json

SHOP = Scope(agent_name="shop", tenants=("acme",))
HELP = Scope(agent_name="help", tenants=("acme",))


class Place(NamedTuple):
    """A store with one turn of the loop, the folder of its adapters, and what erases in both."""

    store: Store
    shelf: AdapterShelf
    turned: Turned
    erasure: ErasureService
    clock: ManualClock

    def weights(self) -> Path:
        """Where the turn's adapter lies."""
        return self.shelf.folder / self.turned.adapter

    def serve(self, scope: Scope, number: int, people: tuple[str, ...] = (BEN,)) -> str:
        """Make a release with a new adapter of those people's rows champion of a scope; its adapter."""
        runs = [records.trajectory(40 + number * 8 + i, subject=who) for i, who in enumerate(people)]
        self.store.trajectories.put_all(runs)
        verdict = self.store.rights.verdict(Purpose.TRAIN_WEIGHTS, "acme", people[0], self.clock.now())
        rows = [records.row(run, verdict) for run in runs]
        made = records.manifest(rows, scope.name)
        self.store.datasets.put(made, rows, [])
        weights = records.adapter(made.root, number)
        self.store.adapters.put(weights, "adapters/y", {})
        bundle = records.bundle(weights=weights)
        self.store.releases.put(bundle, None, "rebuilt")
        current = self.store.deployments.current(scope.name)
        seen = 0 if current is None else current.version
        self.store.deployments.switch(scope.name, seen, bundle.release.digest(), "cycle", "r-1")
        return weights.content_digest


@pytest.fixture
def place(tmp_path: Path, clock: ManualClock, ids: SeededIds) -> Place:
    store = Store.open(f"sqlite:///{tmp_path / 't.db'}", clock=clock, block_key=lambda _: b"k" * 32, ids=ids)
    turned = turn(store)

    def in_service(digest: str) -> bool:
        current = (store.deployments.current(scope) for scope in store.deployments.scopes())
        served = [store.releases.get(one.release_digest).release.adapter for one in current if one is not None]
        return digest in {one.content_digest for one in served if one is not None}

    shelf = AdapterShelf(tmp_path / "adapters", in_service)
    made = Place(store, shelf, turned, ErasureService(store, [store.erasable(), shelf], clock, ids), clock)
    made.weights().mkdir(parents=True)
    (made.weights() / WEIGHTS).write_bytes(b"weights")
    write_json(made.weights() / SOURCES, [("acme", ANN), ("acme", BEN)])
    return made


def back_to_the_base(place: Place) -> None:
    current = place.store.deployments.current(SHOP.name)
    assert current is not None
    place.store.deployments.switch(SHOP.name, current.version, place.turned.lean, "rollback", "r-1")


def of_adapter(report: ErasureReport) -> list[tuple[str, str]]:
    return [(one.state.value, one.detail) for one in report.artifacts if one.node.kind is NodeKind.ADAPTER]


def mention(place: Place, who: str) -> None:
    named = records.span(0, subject=ANN, mentions=(who,))
    place.store.spans.merge([named], lambda old, new: new or old)


def test_idle_weights_that_learned_a_row_naming_somebody_go_with_them(place: Place) -> None:
    mention(place, CAY)
    running = place.shelf.folder / WORK / "k"
    running.mkdir(parents=True)
    (running / ROWS).write_text(f'{{"trajectory_id":"{place.turned.runs[0]}"}}\n')
    write_json(running / SOURCES, [("acme", ANN)])
    assert place.turned.release in place.erasure.plan("acme", CAY).tainted_releases
    back_to_the_base(place)
    report = place.erasure.execute("r1", "acme", CAY)
    assert not place.weights().exists()
    assert not running.exists()
    assert ("deleted", "weights removed") in of_adapter(report)
    assert (report.remaining, report.tainted_releases) == (0, (place.turned.release,))


def test_weights_that_served_at_the_erasure_are_destroyed_when_they_serve_no_longer(place: Place) -> None:
    report = place.erasure.execute("r1", "acme", ANN)
    assert of_adapter(report) == [("pending_rebuild", "in service until it is rebuilt")]
    assert place.erasure.rebuilds.destroy()[0].state is ArtifactState.PENDING_REBUILD
    assert place.weights().exists()
    back_to_the_base(place)
    assert [one.node.id for one in place.erasure.rebuilds.destroy()] == [place.turned.adapter]
    assert not place.weights().exists()
    assert place.erasure.rebuilds.destroy() == ()


def test_a_new_request_finds_the_weights_that_an_earlier_one_left(place: Place) -> None:
    place.erasure.execute("r1", "acme", ANN)
    back_to_the_base(place)
    assert of_adapter(place.erasure.execute("r2", "acme", ANN)) == [("deleted", "weights removed")]
    assert not place.weights().exists()


def test_a_rebuild_counts_in_its_own_scope_and_after_the_switch_alone(place: Place) -> None:
    first = place.erasure.execute("r1", "acme", ANN)
    place.clock.advance(hours=1)
    assert place.erasure.rebuilds.complete(SHOP) == (), "the tainted release is champion still"
    place.serve(HELP, 7)
    assert place.erasure.rebuilds.complete(HELP) == (), "another agent's weights"
    back_to_the_base(place)
    assert place.erasure.rebuilds.complete(SHOP) == (), "nothing was built"
    assert place.erasure.rebuilds.complete(Scope(agent_name="shop", tenants=("globex",))) == ()
    assert place.erasure.pending() == (first,)
    new = place.serve(SHOP, 8)
    (done,) = place.erasure.rebuilds.complete(SHOP)
    assert ("rebuilt_without", f"rebuilt as adapter {new}") in of_adapter(done)
    assert done.weights is ArtifactState.REBUILT_WITHOUT
    assert not place.weights().exists(), "the old weights went before the certificate"
    assert place.erasure.report("r1") == done
    assert (place.erasure.pending(), place.erasure.rebuilds.complete(SHOP)) == ((), ())
    assert place.erasure.execute("r1", "acme", ANN) == first


def test_weights_built_before_the_erasure_are_no_rebuild(place: Place) -> None:
    place.serve(SHOP, 7)
    place.clock.advance(hours=1)
    place.erasure.execute("r1", "acme", ANN)
    assert not place.weights().exists()
    assert place.erasure.rebuilds.complete(SHOP) == ()
    assert len(place.erasure.pending()) == 1


def test_a_tainted_champion_of_another_scope_keeps_a_report_open(place: Place) -> None:
    tainted = place.turned.release
    place.store.deployments.switch(HELP.name, 0, tainted, "shared", "r-1")
    place.erasure.execute("r1", "acme", ANN)
    place.clock.advance(hours=1)
    place.serve(SHOP, 8)
    assert place.erasure.rebuilds.complete(SHOP) == ()
    assert place.weights().exists()
    place.serve(HELP, 9)
    assert len(place.erasure.rebuilds.complete(HELP)) == 1
    assert not place.weights().exists()
