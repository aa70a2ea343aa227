"""Requirement 9: the record of processing is generated from live tables."""

from __future__ import annotations

from typing import Any

from governance.documents.page import Document
from governance.documents.processing_record import processing_record
from governance.records.manifest import DatasetUse, UseKind, UseOutcome
from governance.records.rights import Basis, ConsentStatus, Purpose
from governance.store import Store
from tests.governance.store_records import consent, contract
from tests.governance.test_store_manifests import ANN, DAY, filled
from tests.support.clock import ManualClock


def of(made: Document, section: str, name: str) -> Any:
    (found,) = [field.value for field in made.fields if field.section.startswith(section) and field.name == name]
    return found


def test_requirement_09_the_record_follows_the_tables(store: Store, clock: ManualClock) -> None:
    empty = processing_record(store, "acme", clock.now())
    assert of(empty, "Controller", "contract") is None
    assert of(empty, "Purpose train_weights", "legal basis") is None
    assert "Controller (Art. 30(1)(a)): contract" in empty.json_form()["missing"]
    root, _ = filled(store)
    made = processing_record(store, "acme", clock.now())
    assert of(made, "Controller", "contract")["id"] == "contract-acme"
    assert of(made, "Categories", "people with stored runs") == 3
    assert of(made, "Purpose train_weights", "legal basis")["basis"] == "consent"
    assert of(made, "Purpose train_weights", "purpose") == "https://w3id.org/dpv/ai#ModelFineTuning"
    assert of(made, "Purpose train_weights", "runs that may be used now") == {"allowed": 3}
    clock.advance(DAY)
    store.rights.add_consent(consent(ANN, status=ConsentStatus.WITHDRAWN, at=clock.now()))
    store.manifests.put_use(
        DatasetUse(
            id="u",
            kind=UseKind.EXPORT,
            root=root,
            version=root,
            scope="shop@acme",
            target="lab-7",
            rows=3,
            dropped={},
            outcome=UseOutcome.WENT_ON,
            policy_version="1",
            as_of=clock.now(),
            actor="r-1",
        )
    )
    after = processing_record(store, "acme", clock.now())
    assert of(after, "Purpose train_weights", "runs that may be used now") == {"allowed": 2, "consent_withdrawn": 1}
    assert of(after, "Recipients", "recipients of exports") == {"lab-7": clock.now().isoformat()}
    assert of(processing_record(store, "bolt", clock.now()), "Recipients", "recipients of exports") == {}


def test_requirement_09_every_purpose_and_every_table_is_in_it(store: Store, clock: ManualClock) -> None:
    store.rights.add_contract(contract(basis=Basis.CONTRACT, purposes=(Purpose.SERVE,)))
    made = processing_record(store, "acme", clock.now())
    sections = {field.section for field in made.fields}
    assert {f"Purpose {purpose.value} (Art. 30(1)(b))" for purpose in Purpose} <= sections
    assert set(of(made, "Time limits", "by table")) == set(store.tables())
    assert ANN not in made.markdown()
    assert of(made, "Security", "audit chain")["events"] == len(store.audit.list("acme"))
