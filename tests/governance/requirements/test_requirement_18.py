"""Requirement 18: a contract can forbid training, sharing between tenants, regions, and use after its end."""

from __future__ import annotations

from datetime import timedelta

import pytest

from governance.policy.sharing import scopes
from governance.records.rights import Basis, FactKind, Purpose, Reason
from governance.store import Store
from tests.governance.store_records import T0, T1, contract, manifest, person, rights_fact, row, trajectory
from tests.support.clock import ManualClock

TRAIN = Purpose.TRAIN_WEIGHTS
EVER = (T0, T1 + timedelta(days=900))


def reasons(store: Store, *tenants: str, purpose: Purpose = TRAIN) -> list[Reason]:
    return [Reason(one.reason) for one in store.trajectories.list(purpose, tenants, *EVER).excluded]


def run(store: Store, number: int, tenant: str = "acme") -> None:
    store.trajectories.put(trajectory(number, subject=person(number), tenant=tenant))


def test_requirement_18_a_contract_forbids_training_and_allows_the_rest(store: Store) -> None:
    allowed = set(Purpose) - {Purpose.COMPLY, TRAIN}
    store.rights.add_contract(contract(basis=Basis.CONTRACT, purposes=allowed))
    run(store, 1)
    assert reasons(store, "acme") == [Reason.CONTRACT_FORBIDS_PURPOSE]
    assert reasons(store, "acme", purpose=Purpose.EVALUATE) == []


def test_requirement_18_an_adapter_mixes_tenants_only_where_every_contract_allows_it(store: Store) -> None:
    both = {"acme": contract("acme", basis=Basis.CONTRACT, shared=True), "bolt": contract("bolt", basis=Basis.CONTRACT)}
    assert [scope.tenants for scope in scopes("shop", both)] == [("acme",), ("bolt",)]
    for number, (tenant, agreed) in enumerate(both.items(), start=1):
        store.rights.add_contract(agreed)
        run(store, number, tenant)
    assert reasons(store, "acme", "bolt") == [Reason.CONTRACT_FORBIDS_SHARED_ADAPTER]
    assert reasons(store, "bolt") == [], "alone it may be trained on"
    shared = {name: contract(name, basis=Basis.CONTRACT, shared=True) for name in both}
    assert [scope.tenants for scope in scopes("shop", shared)] == [("acme", "bolt")]


@pytest.mark.parametrize(
    ("region", "expected"), [("DE", []), ("KR", [Reason.REGION_FORBIDDEN]), (None, [Reason.REGION_FORBIDDEN])]
)
def test_requirement_18_a_contract_forbids_regions_and_the_unknown_one(
    store: Store, region: str | None, expected: list[Reason]
) -> None:
    store.rights.add_contract(contract(basis=Basis.CONTRACT, regions=("DE", "FR")))
    run(store, 1)
    if region is not None:
        store.rights.add_facts([rights_fact(FactKind.JURISDICTION, person(1), value=region)])
    assert reasons(store, "acme") == expected


def test_requirement_18_nothing_is_used_after_a_contracts_end(store: Store, clock: ManualClock) -> None:
    ends = clock.now() + timedelta(days=1)
    store.rights.add_contract(contract(basis=Basis.CONTRACT, valid_to=ends))
    run(store, 1)
    verdict = store.rights.verdict(TRAIN, "acme", person(1), clock.now())
    rows = [row(trajectory(1, subject=person(1)), verdict)]
    made = manifest(rows)
    store.datasets.put(made, rows, [])
    assert reasons(store, "acme") == []
    assert len(store.datasets.rows(made.root, TRAIN)) == 1
    clock.set(ends)
    assert reasons(store, "acme") == [Reason.NO_CONTRACT]
    assert store.datasets.rows(made.root, TRAIN) == ()
