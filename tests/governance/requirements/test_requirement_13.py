"""Requirements 13 and 15: the page of a dataset, and the documents of a release, from live tables alone."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from governance.acting import Acting, acts_as
from governance.approvals import Approvals
from governance.documents.bill import bill, bill_page
from governance.documents.dataset_card import dataset_card
from governance.documents.dataset_facts import DatasetFacts
from governance.documents.page import Document, Field, escaped
from governance.documents.provenance import provenance
from governance.documents.training_summary import training_summary
from governance.records.approval import ApprovedAct, Decision, FourEyes
from governance.records.manifest import DatasetUse, MadeFor, UseKind, UseOutcome
from governance.records.principal import Principal, PrincipalKind, Role
from governance.records.release import ReleaseBundle
from governance.records.rights import ConsentStatus, FactKind
from governance.records.row_review import RowReview
from governance.store import Store
from tests.governance.store_records import T0, adapter, bundle, consent, rights_fact
from tests.governance.test_store_manifests import ANN, BEN, CAY, DAY, TRAIN, filled
from tests.support.clock import ManualClock
from tests.support.ids import SeededIds

SCHEMAS = Path(__file__).parents[1] / "cyclonedx"


def facts(store: Store, clock: ManualClock, root: str) -> DatasetFacts:
    return DatasetFacts(store, clock, root)


def value(made: Document, name: str) -> Any:
    (found,) = [field.value for field in made.fields if field.name == name]
    return found


def approved(store: Store, clock: ManualClock, ids: SeededIds, root: str) -> None:
    who = Principal(name="r-2", kind=PrincipalKind.PERSON, roles=(Role.REVIEWER,))
    with acts_as(Acting(who, Role.REVIEWER)):
        Approvals(store, clock, ids, FourEyes()).decide(
            "acme", ApprovedAct.DATASET, root, Decision.APPROVED, reason="board 3"
        )


def released(store: Store, root: str) -> ReleaseBundle:
    weights = adapter(root)
    store.adapters.put(weights, "adapters/1", {})
    made = bundle(weights=weights)
    store.releases.put(made, None, "cycle c1")
    return made


def test_requirement_13_the_page_shows_what_the_list_asks_for(store: Store, clock: ManualClock, ids: SeededIds) -> None:
    root, rows = filled(store)
    approved(store, clock, ids, root)
    clock.advance(DAY)
    now = clock.now()
    store.rights.add_consent(consent(ANN, status=ConsentStatus.WITHDRAWN, at=now))
    store.rights.add_consent(consent(BEN, status=ConsentStatus.RENEWED, at=now, valid_to=now + 9 * DAY))
    store.rights.add_facts([rights_fact(FactKind.JURISDICTION, BEN, value="DE")])
    part = store.datasets.part(store.datasets.judged(root, TRAIN), MadeFor.TRAINING)
    store.rights.add_facts([rights_fact(FactKind.HOLD, CAY, valid_from=now, recorded_at=now, reason="case 9")])
    made = released(store, part)
    store.deployments.switch("shop@acme", 0, made.release.digest(), "initial", "r-1")
    digest = rows[1].digest()
    for row, leaks in ((digest, {"PERSON": 1}), (rows[2].digest(), {})):
        said = RowReview(root=part, row=row, tenant_id="acme", reviewer="r-2", leaks=leaks, at=now)
        store.row_reviews.put(said)
    store.manifests.put_use(
        DatasetUse(
            id="u",
            kind=UseKind.EXPORT,
            root=part,
            version=part,
            scope="shop@acme",
            target="lab-7",
            rows=2,
            dropped={},
            outcome=UseOutcome.WENT_ON,
            policy_version="1",
            as_of=now,
            actor="r-1",
        )
    )
    approved(store, clock, ids, part)
    card = dataset_card(facts(store, clock, part))
    assert value(card, "origin") == {"takeover": 2}
    assert value(card, "original purpose")["contract-acme"]["collected_for"]["train_weights"].startswith("https://")
    assert value(card, "preparation") == {"harness": "h1"}
    assert value(card, "subjects") == 2
    assert value(card, "legal bases")["consent"] == {"iri": "https://w3id.org/dpv/legal/eu/gdpr#A6-1-a", "rows": 2}
    assert value(card, "exclusions by reason") == {"consent_withdrawn": 1}
    assert value(card, "people without a known jurisdiction") == 1
    assert (value(card, "leak rate"), value(card, "sample size")) == (0.5, 2)
    assert value(card, "interval")["low"] <= 0.5 <= value(card, "interval")["high"]
    assert value(card, "live releases") == {"shop@acme": made.release.digest()}
    assert value(card, "adapters") == [f"{1:064x}"]
    assert value(card, "earliest expiry")["consent_events"] == (now + 9 * DAY).isoformat()
    assert value(card, "holds") == {"case 9": 1}
    assert value(card, "recipients of exports") == {"lab-7": now.isoformat()}
    changed = value(card, "diff to the last approved version")
    assert (changed["since"], changed["removed"], changed["people_removed"]) == (root, 1, 1)
    assert [one["by"] for one in value(card, "sign-off")] == ["r-2"]
    told = json.dumps(card.json_form()) + card.markdown()
    assert not any(who in told for who in (ANN, BEN, CAY)), "a card names nobody"
    assert all(field.tables for field in card.fields)


def test_requirement_13_what_is_not_there_is_said_as_missing(store: Store, clock: ManualClock) -> None:
    root, _ = filled(store)
    form = dataset_card(facts(store, clock, root)).json_form()
    for where in ("Residual PII risk: leak rate", "Sign-off: sign-off", "Sign-off: diff to the last approved version"):
        assert where in form["missing"]
    assert form["sections"]["Residual PII risk"]["leak rate"]["value"] is None
    assert "no row was looked at" in form["sections"]["Residual PII risk"]["leak rate"]["note"]


def test_requirement_15_summary_provenance_and_card_are_filled(store: Store, clock: ManualClock) -> None:
    root, rows = filled(store)
    made, told = released(store, root), facts(store, clock, root)
    summary = training_summary(made, [told], clock.now())
    assert {field.section[0] for field in summary.fields} == {"1", "2", "3"}
    tokens = sum(len(row.input_ids) for row in rows)
    assert f"({tokens})" in value(summary, "1.3 size of the text")
    assert value(summary, "2.4 user data")["people"] == 3
    assert [field.name for field in summary.gaps if field.name.startswith("1.1")] == ["1.1 provider"]
    fields = provenance(told)
    assert [sum(one.section == name for one in fields.fields) for name in ("Source", "Provenance", "Use")] == [6, 8, 8]
    assert value(fields, "Consent documentation location")["rows"] == 3
    assert value(fields, "License to use")["contract-acme"]["tenant"] == "acme"
    assert {"Dataset issuer", "Proprietary data presence"} <= {field.name for field in fields.gaps}
    for one in (summary, fields, dataset_card(told)):
        assert not any(who in one.markdown() for who in (ANN, BEN, CAY))


def test_a_release_without_an_adapter_was_trained_on_nothing(clock: ManualClock) -> None:
    summary = training_summary(bundle(), [], clock.now())
    assert {"1.3 modality", "2.4 user data"} <= {field.name for field in summary.gaps}


@cache
def validator() -> Any:
    jsonschema = pytest.importorskip("jsonschema")
    from referencing import Registry, Resource

    held = {name: json.loads((SCHEMAS / name).read_text()) for name in
            ("bom-1.6.schema.json", "jsf-0.82.schema.json", "spdx.schema.json")}  # fmt: skip
    resources = [(schema["$id"], Resource.from_contents(schema)) for schema in held.values()]
    return jsonschema.Draft7Validator(held["bom-1.6.schema.json"], registry=Registry().with_resources(resources))


def test_the_bill_of_a_release_is_cyclonedx(store: Store, clock: ManualClock) -> None:
    root, _ = filled(store)
    made = released(store, root)
    written = bill(made, [facts(store, clock, root)], clock.now())
    assert [error.message for error in validator().iter_errors(written)] == []
    assert list(validator().iter_errors(written | {"specVersion": 1}))
    assert list(validator().iter_errors(written | {"components": [{"type": "nothing", "name": "x"}]}))
    refs = {one["bom-ref"] for one in written["components"]} | {written["metadata"]["component"]["bom-ref"]}
    assert {ref for one in written["dependencies"] for ref in (one["ref"], *one["dependsOn"])} <= refs
    assert f"dataset:{root}" in refs
    (learned,) = [one for one in written["components"] if one["bom-ref"] == f"dataset:{root}"]
    said = {one["name"]: one["value"] for one in learned["properties"]}
    assert said["tidemill:merkleRoot"] == store.manifests.version(root).merkle_root
    assert written == bill(made, [facts(store, clock, root)], clock.now())
    assert root in bill_page(made, [facts(store, clock, root)], clock.now()).markdown()


HOSTILE = "# evil\n| a | [x](javascript:1) <img src=x onerror=1> ![i](http://x) `c` **b**"


def test_texts_of_others_are_nothing_but_text() -> None:
    fields = (Field(section=HOSTILE, name=HOSTILE, value={HOSTILE: [HOSTILE]}, tables=(HOSTILE,), note=HOSTILE),)
    page = Document(kind="k", title=HOSTILE, about=HOSTILE, as_of=T0, fields=fields).markdown()
    markdown = pytest.importorskip("markdown_it")
    html = markdown.MarkdownIt("commonmark", {"html": True}).enable("table").render(page)
    assert html.count("<h1>") == html.count("<h2>") == html.count("<table>") == 1
    assert not any(tag in html for tag in ("<img", "<a ", "<strong", "<code", "onerror=1>\n"))
    assert "&lt;img src=x onerror=1&gt;" in html
    assert "\n" not in escaped("a\nb\u2028c\x00d")


def test_nothing_said_is_missing_and_zero_is_not() -> None:
    def shown(said: Any) -> bool:
        return Field(section="s", name="n", value=said, tables=("t",)).missing

    said: list[Any] = [None, "", [], {}, 0, False, 0.0]
    assert [shown(one) for one in said] == [True] * 4 + [False] * 3
