"""A source is its tenant's: another's id is not found, and what it touches of others stays out of who may not see."""

from __future__ import annotations

import pytest

from governance.acting import Acting, acts_as
from governance.errors import NotFound
from governance.records.descent import Source, SourceKind
from governance.records.lineage import NodeKind
from governance.records.principal import Principal, PrincipalKind, Role
from governance.records.rights import Purpose
from governance.store import Store
from governance.store.lineage import edge, node
from governance.unlawful import Unlawful, seen_by
from tests.governance.loop_records import ANN, Turned, turn
from tests.governance.store_records import T1, consents, contract, manifest, row, trajectory
from tests.support.clock import ManualClock
from tests.support.ids import SeededIds

BOUND = Principal(name="r-globex", kind=PrincipalKind.PERSON, roles=(Role.REVIEWER,), tenants=("globex",))
KINDS = ("run", "dataset", "world", "contract", "import", "subject")


@pytest.fixture
def turned(store: Store) -> Turned:
    store.rights.add_contract(contract("globex"))
    made = turn(store)
    store.lineage.add([edge(node(NodeKind.TRAJECTORY, made.runs[0]), node(NodeKind.IMPORT, "acme", "f" * 64))])
    return made


@pytest.fixture
def unlawful(store: Store, clock: ManualClock, ids: SeededIds) -> Unlawful:
    return Unlawful(store, clock, ids)


def ids_of(kind: str, turned: Turned) -> str:
    found = {"run": turned.runs[0], "dataset": turned.dataset, "world": turned.world, "contract": "contract-acme"}
    return (found | {"import": "f" * 64, "subject": ANN})[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_another_tenants_id_is_not_found_and_nothing_is_retired(
    store: Store, unlawful: Unlawful, turned: Turned, kind: str
) -> None:
    asked = {"kind": SourceKind(kind), "ids": (ids_of(kind, turned),)}
    with acts_as(Acting(BOUND, Role.REVIEWER)):
        for act in (unlawful.trace, lambda source: unlawful.retire(source, "case 1")):
            with pytest.raises(NotFound):
                act(Source(tenant_id="globex", **asked))
    assert store.releases.tainted() == set()
    assert store.adapters.state(turned.adapter) == "active"
    assert unlawful.trace(Source(tenant_id="acme", **asked)), "its own tenant finds it"


def test_an_id_of_another_tenant_among_own_ones_is_not_found(store: Store, unlawful: Unlawful, turned: Turned) -> None:
    own = trajectory(7, subject=ANN, tenant="globex")
    store.trajectories.put(own)
    with pytest.raises(NotFound, match=turned.runs[0]):
        unlawful.trace(Source(tenant_id="globex", kind=SourceKind.RUN, ids=(own.id, turned.runs[0])))


@pytest.mark.parametrize("kind", ["dataset", "world"])
def test_what_was_retired_is_found_again_by_its_own_tenant(unlawful: Unlawful, turned: Turned, kind: str) -> None:
    source = Source(tenant_id="acme", kind=SourceKind(kind), ids=(ids_of(kind, turned),))
    unlawful.retire(source, "case 1")
    assert unlawful.retire(source, "case 1").retired


def shared(store: Store) -> str:
    """A dataset of both tenants' rows; its root."""
    store.rights.add_consents(consents(ANN, "globex"))
    runs = [trajectory(20, subject=ANN, tenant=tenant) for tenant in ("acme", "globex")]
    store.trajectories.put_all(runs)
    judged = [store.rights.verdict(Purpose.TRAIN_WEIGHTS, run.tenant_id, run.subject, T1) for run in runs]
    rows = [row(run, verdict) for run, verdict in zip(runs, judged, strict=True)]
    made = manifest(rows, "shop@acme+globex")
    store.datasets.put(made, rows, [], {})
    return made.root


def test_each_tenant_that_is_touched_finds_it_in_its_own_chain(
    store: Store, unlawful: Unlawful, turned: Turned
) -> None:
    root = shared(store)
    run = trajectory(20, subject=ANN, tenant="globex").id
    unlawful.retire(Source(tenant_id="globex", kind=SourceKind.RUN, ids=(run,)), "case 1")
    mine, theirs = store.audit.list("globex")[-1], store.audit.list("acme")[-1]
    assert mine.action == theirs.action == "retire_unlawful"
    assert mine.detail["datasets"] == theirs.detail["datasets"] == [root]
    assert "ids" in mine.detail
    assert "ids" not in theirs.detail, "whose source it was stays with them"


def test_who_is_bound_to_a_tenant_sees_no_scope_and_no_row_of_another(
    store: Store, unlawful: Unlawful, turned: Turned
) -> None:
    root = shared(store)
    release = store.deployments.current("shop@acme")
    assert release is not None
    store.lineage.add([edge(node(NodeKind.RELEASE, release.release_digest), node(NodeKind.DATASET, root))])
    run = trajectory(20, subject=ANN, tenant="globex").id
    found = unlawful.trace(Source(tenant_id="globex", kind=SourceKind.RUN, ids=(run,)))
    assert (found.champions, [one.rows for one in found.datasets]) == ({"shop@acme": turned.release}, [2])
    seen = seen_by(BOUND, found)
    assert (seen.champions, [one.rows for one in seen.datasets]) == ({}, [1])
    assert seen_by(BOUND.model_copy(update={"tenants": None}), found) == found
