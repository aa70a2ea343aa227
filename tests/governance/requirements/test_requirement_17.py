"""Requirement 17: a decision that a person contested is not a training label."""

from __future__ import annotations

from datetime import timedelta

from governance.records.rights import Basis, FactKind, Purpose, Reason
from governance.store import Store
from tests.governance.store_records import T0, T1, contract, manifest, person, rights_fact, row, trajectory
from tests.support.clock import ManualClock

EVER = (T0, T1 + timedelta(days=900))


def test_requirement_17_a_contested_run_is_read_and_never_learned_from(store: Store, clock: ManualClock) -> None:
    store.rights.add_contract(contract(basis=Basis.CONTRACT))
    contested, other = trajectory(1, subject=person(1)), trajectory(2, subject=person(1))
    store.trajectories.put_all([contested, other])
    verdict = store.rights.verdict(Purpose.TRAIN_WEIGHTS, "acme", person(1), clock.now())
    rows = [row(one, verdict) for one in (contested, other)]
    made = manifest(rows)
    store.datasets.put(made, rows, [])
    assert len(store.datasets.rows(made.root, Purpose.TRAIN_WEIGHTS)) == 2

    fact = rights_fact(
        FactKind.CONTESTED, person(1), trajectory_id=contested.id, valid_from=clock.now(), recorded_at=clock.now()
    )
    store.rights.add_facts([fact])
    found = store.trajectories.list(Purpose.TRAIN_WEIGHTS, ["acme"], *EVER)
    assert [one.id for one in found.rows] == [other.id]
    assert [(one.trajectory_id, one.reason) for one in found.excluded] == [(contested.id, Reason.CONTESTED)]
    assert [one.trajectory_id for one in store.datasets.rows(made.root, Purpose.TRAIN_WEIGHTS)] == [other.id]
    assert contested.id in {one.id for one in store.trajectories.list(Purpose.DEBUG, ["acme"], *EVER).rows}

    withdrawn = fact.model_copy(
        update={"id": "ended", "supersedes": fact.id, "valid_to": clock.now(), "recorded_at": clock.now()}
    )
    store.rights.add_facts([withdrawn])
    clock.advance(timedelta(seconds=1))
    assert len(store.datasets.rows(made.root, Purpose.TRAIN_WEIGHTS)) == 2
