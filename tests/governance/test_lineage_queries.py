"""Lineage both ways: from a release to people and clauses, from a person to everything made of them; exports."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import pytest

from governance.errors import NotFound
from governance.lineage_graph import Graph, graph_of
from governance.openlineage import events
from governance.prov import document
from governance.records.lineage import NodeKind
from governance.records.rights import Basis, Purpose
from governance.store import Store
from tests.governance.loop_records import ANN, BEN, CAY, Turned, turn
from tests.governance.store_records import person, span, trajectory
from tests.governance.store_workers import latest

COMPLY = Purpose.COMPLY


@pytest.fixture
def turned(store: Store) -> Turned:
    return turn(store)


def test_from_a_release_to_rows_people_bases_and_clauses(store: Store, turned: Turned) -> None:
    found = store.lineage.of_release(turned.release, COMPLY)
    assert {(row.subject, row.trajectory_id) for row in found.rows} == {(ANN, turned.runs[0]), (BEN, turned.runs[1])}
    for row in found.rows:
        assert (row.dataset, row.tenant_id, row.basis) == (turned.dataset, "acme", Basis.CONSENT)
        assert (row.clause, row.policy_version) == ("contract-acme/train_weights", store.policy.version)
        assert row.basis_iri == "https://w3id.org/dpv/legal/eu/gdpr#A6-1-a"
    assert [(run.id, run.subject) for run in found.runs] == list(zip(turned.runs, (ANN, BEN, CAY), strict=True))
    assert found.subjects == tuple(f"acme/{who}" for who in sorted((ANN, BEN, CAY)))
    assert found.made_from[NodeKind.DATASET] == (turned.dataset,)
    assert found.made_from[NodeKind.ADAPTER] == (turned.adapter,)
    assert found.made_from[NodeKind.FACT] == (turned.fact,)
    assert found.made_from[NodeKind.PATTERN] == ("c1/p",)
    assert [event.target for event in store.audit.list("acme")][-1] == f"release:{turned.release}"
    assert store.lineage.of_release(turned.lean, COMPLY).subjects == ()
    with pytest.raises(NotFound):
        store.lineage.of_release("0" * 64, COMPLY)


def test_from_a_person_to_everything_made_of_them(store: Store, turned: Turned) -> None:
    store.spans.merge([span(7, subject=person(9), mentions=(ANN,))], latest)
    store.trajectories.put(trajectory(7, subject=person(9)))
    ann = store.lineage.of_subject("acme", ANN, COMPLY).made
    assert ann[NodeKind.RELEASE] == (turned.release,)
    assert ann[NodeKind.ADAPTER] == (turned.adapter,)
    assert set(ann[NodeKind.TRAJECTORY]) == {turned.runs[0], f"acme/{8:032x}"}, "theirs, and what names them"
    assert NodeKind.TASK not in ann
    ben = store.lineage.of_subject("acme", BEN, COMPLY).made
    assert (ben[NodeKind.TASK], ben[NodeKind.WORLD]) == ((turned.task,), (turned.world,))
    assert ben[NodeKind.GRADE] == (f"{turned.release}/{turned.task}",)
    assert ben[NodeKind.GATE_REPORT] == (turned.report,)
    cay = store.lineage.of_subject("acme", CAY, COMPLY).made
    assert cay[NodeKind.FACT] == (turned.fact,)
    assert cay[NodeKind.RELEASE] == (turned.release,)
    assert NodeKind.DATASET not in cay
    assert store.lineage.of_subject("bolt", ANN, COMPLY).made == {}
    assert all(ANN not in event.model_dump_json() for event in store.audit.list("acme"))


def test_what_left_with_a_person_is_in_no_lineage(store: Store, turned: Turned) -> None:
    store.erasable().erase("acme", ANN)
    found = store.lineage.of_release(turned.release, COMPLY)
    assert {row.subject for row in found.rows} == {BEN}
    assert f"acme/{ANN}" not in found.subjects
    assert store.lineage.of_subject("acme", ANN, COMPLY).made == {}


# For other catalogues


@pytest.fixture
def graph(store: Store, turned: Turned) -> Graph:
    return graph_of(store, store.lineage.of_release(turned.release, COMPLY))


def names_nobody(told: Any, turned: Turned) -> bool:
    text = str(told)
    return not any(secret in text for secret in (ANN, BEN, CAY, *turned.runs))


def test_openlineage_events(graph: Graph, turned: Turned) -> None:
    """Shapes of spec 2-0-2: required keys, formats, one START and one COMPLETE a run, the same events again."""
    told = events(graph)
    assert told == events(graph)
    assert names_nobody(told, turned)
    states: dict[str, list[str]] = {}
    made: set[str] = set()
    for event in told:
        assert event.keys() >= {"eventTime", "producer", "schemaURL", "run", "job"}
        assert event["schemaURL"].endswith("OpenLineage.json#/$defs/RunEvent")
        assert datetime.fromisoformat(event["eventTime"]).tzinfo is not None
        states.setdefault(str(UUID(event["run"]["runId"])), []).append(event["eventType"])
        assert event["job"].keys() >= {"namespace", "name"}
        for one in (*event["inputs"], *event["outputs"]):
            assert one.keys() >= {"namespace", "name"}
            assert all({"_producer", "_schemaURL"} <= facet.keys() for facet in one["facets"].values())
        assert {one["name"] for one in event["inputs"]} <= made | {"traces/acme", "pattern/c1/p"}
        made |= {one["name"] for one in event["outputs"]}
    assert set(map(tuple, states.values())) == {("START", "COMPLETE")}
    jobs = [event["job"]["name"] for event in told if event["eventType"] == "COMPLETE"]
    assert jobs.index("build_dataset") < jobs.index("train_adapter") < jobs.index("make_release")
    (built,) = [one for one in told if one["job"]["name"] == "build_dataset" and one["outputs"]]
    rights = built["inputs"][0]["facets"]["tidemill_rights"]
    assert (rights["rows"], rights["people"]) == (2, 2)
    assert rights["bases"] == {"https://w3id.org/dpv/legal/eu/gdpr#A6-1-a": 2}
    assert rights["clauses"] == {"contract-acme/train_weights": 2}


def test_prov_document(graph: Graph, turned: Turned) -> None:
    """PROV-JSON: prefixes of every name, both ends of every relation declared."""
    told = document(graph)
    assert names_nobody(told, turned)
    known = {*told["entity"], *told["agent"]}
    for name in known:
        assert name.partition(":")[0] in told["prefix"]
    ends = {
        "wasDerivedFrom": ("prov:generatedEntity", "prov:usedEntity"),
        "wasInfluencedBy": ("prov:influencee", "prov:influencer"),
        "wasAttributedTo": ("prov:entity", "prov:agent"),
    }
    for relation, keys in ends.items():
        assert told[relation]
        for name, one in told[relation].items():
            assert name.startswith("_:")
            assert {one[key] for key in keys} <= known
    adapter = told["entity"][f"tm:adapter.{turned.adapter}"]
    assert adapter["ai:hasTrainingData"] == [{"$": f"tm:dataset.{turned.dataset}", "type": "prov:QUALIFIED_NAME"}]
    derived = {tuple(one.values()) for one in told["wasDerivedFrom"].values()}
    assert (f"tm:release.{turned.release}", f"tm:adapter.{turned.adapter}") in derived
