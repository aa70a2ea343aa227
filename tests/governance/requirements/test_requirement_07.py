"""Requirement 7: an objection blocks the next build at once."""

from __future__ import annotations

from datetime import timedelta

import pytest

from governance.acting import Acting, acts_as
from governance.approvals import Approvals
from governance.masking.surrogate import Surrogates
from governance.pseudonymised import DeclarationDesk
from governance.records.approval import FourEyes
from governance.records.assessment import DataCategory
from governance.records.principal import Principal, PrincipalKind, Role
from governance.records.pseudonymised import Aim
from governance.records.rights import KOREA, KOREAN_BASES, Basis, FactKind, Purpose, Reason
from governance.store import Store
from ingestion.consent.item import ConsentItem
from ingestion.consent.taking import Became, ConsentTaking
from tests.governance.store_records import T0, T1, consents, contract, manifest, rights_fact, row, trajectory
from tests.ingestion.test_consent_taking import SECRET
from tests.support.clock import ManualClock
from tests.support.ids import SeededIds

USES = (Purpose.TRAIN_WEIGHTS, Purpose.IMPROVE_CONTEXT, Purpose.IMPROVE_HARNESS, Purpose.EVALUATE)
EVER = (T0, T1 + timedelta(days=900))


def subject(tenant: str, raw: str) -> str:
    return Surrogates(SECRET, tenant).subject(raw)


@pytest.mark.parametrize("basis", Basis)
def test_requirement_07_an_objection_stops_the_next_build_on_every_basis(
    store: Store, clock: ManualClock, ids: SeededIds, basis: Basis
) -> None:
    anna, boris = subject("acme", "C-1"), subject("acme", "C-2")
    store.rights.add_contract(contract(basis=basis))
    store.rights.add_consents([*consents(anna), *consents(boris)])
    if basis in KOREAN_BASES:
        store.rights.add_facts([rights_fact(FactKind.JURISDICTION, one, value=KOREA) for one in (anna, boris)])
    if basis is Basis.PIPA_15_3:
        store.rights.add_facts([rights_fact(FactKind.COMPATIBILITY)])
    if basis is Basis.PIPA_28_2:
        desk = DeclarationDesk(store, Approvals(store, clock, ids, FourEyes()), clock, ids)
        with acts_as(Acting(Principal(name="r-1", kind=PrincipalKind.PERSON, roles=(Role.REVIEWER,)), Role.REVIEWER)):
            for purpose in USES:
                categories = (DataCategory.COMMUNICATION,)
                until = clock.now() + timedelta(days=30)
                desk.declare("acme", Aim.STATISTICS, purpose, categories, document="PLAN-3", until=until)
    runs = [trajectory(1, subject=anna), trajectory(2, subject=boris)]
    store.trajectories.put_all(runs)
    verdict = store.rights.verdict(Purpose.TRAIN_WEIGHTS, "acme", anna, clock.now())
    rows = [row(one, verdict) for one in runs]
    made = manifest(rows)
    store.datasets.put(made, rows, [])
    before, built = store.rights.state(), len(store.datasets.rows(made.root, Purpose.TRAIN_WEIGHTS))
    assert built == 2

    taking = ConsentTaking(store, subject, clock, ids)
    words = [
        ConsentItem(
            position=number, event_id=f"e-{number}", subject="C-1", purpose=purpose, status="objected", at=clock.now()
        )
        for number, purpose in enumerate(USES)
    ]
    assert {one.became for one in taking.take("acme", words, "test")} == {Became.RECORDED}

    for purpose in USES:
        found = store.trajectories.list(purpose, ["acme"], *EVER)
        assert [one.subject for one in found.rows] == [boris]
        assert [one.reason for one in found.excluded] == [Reason.OBJECTED]
    assert [one.subject for one in store.datasets.rows(made.root, Purpose.TRAIN_WEIGHTS)] == [boris]
    assert store.rights.state() != before, "the sensor that starts the next build sees it"
