"""Requirement 4: a special-category finding without a basis of its own goes to quarantine, not to masking."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from governance.records.rights import Basis, FactKind, Purpose, Reason
from governance.store import Store
from tests.governance.store_records import T1, contract, person, rights_fact
from tests.ingestion.test_special_quarantine import SAID, Ward


@pytest.fixture
def ward(tmp_path: Path) -> Iterator[Ward]:
    ward = Ward(tmp_path)
    yield ward
    ward.mill.close()


def test_requirement_04_what_was_said_is_sealed_and_stands_nowhere_masked(ward: Ward) -> None:
    ward.fill()
    (held,) = ward.mill.store.quarantine.list()
    assert held.types == "HEALTH"
    assert SAID.encode() not in held.sealed
    assert "diabetes" not in ward.said()
    assert "says" not in ward.said(), "nothing of the sentence is stored, masked or not"
    assert ward.balanced()


def test_requirement_04_what_was_found_later_is_used_only_with_a_basis_of_its_own(store: Store) -> None:
    store.rights.add_contract(contract(basis=Basis.CONTRACT))
    store.rights.add_facts([rights_fact(FactKind.SPECIAL_CATEGORY, person(1))])
    asked = (Purpose.TRAIN_WEIGHTS, "acme", person(1), T1)
    assert store.rights.verdict(*asked).reasons == (Reason.SPECIAL_CATEGORY,)
    store.rights.add_facts([rights_fact(FactKind.SPECIAL_BASIS, person(1))])
    assert store.rights.verdict(*asked).allowed
