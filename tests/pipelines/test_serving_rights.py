"""What a tainted champion may still answer, by each policy."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from governance.records.descent import Source, SourceKind
from governance.records.erasure import ErasurePolicy
from governance.records.lineage import LineageEdge, Node, NodeKind
from governance.records.release import ReleaseBundle
from pipelines.errors import ServiceError
from pipelines.settings import load_settings
from pipelines.steps.rights import erase_subject, kept_too_long
from pipelines.unlawful import retired
from pipelines.wiring import Mill
from serving.errors import PromotionRefused
from tests.governance.store_records import adapter, bundle, manifest, trajectory
from tests.support.clock import ManualClock

SCOPE = "shop@acme"


@pytest.fixture
def mill(tmp_path: Path, clock: ManualClock, request: pytest.FixtureRequest) -> Iterator[Mill]:
    """A data home under a policy, whose champion was made in part from C-1."""
    settings = load_settings(
        data_home=tmp_path / "home", erasure_serving=request.param, erasure_keep_days=3, erasure_term_days=10
    )
    with Mill(settings, clock=clock) as made:
        champion = release()
        assert champion.release.adapter is not None
        made.store.adapters.put(champion.release.adapter, "adapters/1", {})
        made.store.releases.put(champion, None, "cycle c1")
        made.store.deployments.switch(SCOPE, 0, champion.release.digest(), "initial", "m-1")
        subject = made.door.subject("acme", "C-1")
        made.store.trajectories.put(trajectory(1, subject=subject))
        weights = Node(kind=NodeKind.ADAPTER, id=champion.release.adapter.content_digest)
        person = Node(kind=NodeKind.SUBJECT, id=f"acme/{subject}")
        made.store.lineage.add([LineageEdge(derived=weights, source=person)])
        yield made


def release() -> ReleaseBundle:
    return bundle(weights=adapter(manifest([]).root))


@pytest.mark.parametrize("mill", ["suspend"], indirect=True)
def test_suspended_from_the_moment_of_the_taint(mill: Mill) -> None:
    told = erase_subject(mill, "acme", "C-1", lambda _: None)
    digest = release().release.digest()
    assert told["tainted_releases"] == [digest]
    assert digest in mill.store.releases.tainted(), "no rollback goes there any more"
    assert mill.store.releases.suspended(digest) == f"erasure {told['request']}"
    assert (told["rollbacks"], told["serves_until"]) == ([], None)


@pytest.mark.parametrize("mill", ["keep"], indirect=True)
def test_kept_until_a_date_inside_the_term(mill: Mill, clock: ManualClock) -> None:
    told = erase_subject(mill, "acme", "C-1", lambda _: None)
    digest = release().release.digest()
    until = mill.erasure.report(told["request"]).serves_until
    assert until == clock.now() + timedelta(days=3)
    assert digest in mill.store.releases.tainted()
    assert (kept_too_long(mill), mill.store.releases.suspended(digest)) == ({}, None)
    clock.advance(days=3)
    assert kept_too_long(mill) == {SCOPE: "suspended"}
    assert "might serve until" in (mill.store.releases.suspended(digest) or "")
    assert kept_too_long(mill) == {}


@pytest.mark.parametrize("mill", ["roll_back"], indirect=True)
@pytest.mark.parametrize("fault", [PromotionRefused("the probe failed"), ServiceError("vllm: died while starting")])
def test_an_erasure_waits_for_no_engine(mill: Mill, monkeypatch: pytest.MonkeyPatch, fault: Exception) -> None:
    def refuse(_: Mill) -> None:
        raise fault

    monkeypatch.setattr("pipelines.leaving.start_engine", refuse)
    told = erase_subject(mill, "acme", "C-1", lambda _: None)
    digest = release().release.digest()
    assert told["ok"]
    assert told["held_before"]
    assert told["rollbacks"] == [{"scope": SCOPE, "release": digest, "suspended": str(fault)}]
    assert str(fault) in (mill.store.releases.suspended(digest) or "")
    (said,) = [one.detail for one in mill.erasure.report(told["request"]).artifacts if one.node.id == digest]
    assert said.startswith("suspended: erasure")
    assert str(fault) in said


def test_no_policy_keeps_a_tainted_release_beyond_the_term() -> None:
    with pytest.raises(ValueError, match="beyond the term"):
        ErasurePolicy(serving="keep", keep_days=31, term_days=30)
    with pytest.raises(ValueError, match="erasure_keep_days"):
        load_settings(erasure_keep_days=31, erasure_term_days=30)


@pytest.mark.parametrize("mill", ["roll_back"], indirect=True)
def test_an_unlawful_source_waits_for_no_engine_either(mill: Mill, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Mill) -> None:
        raise ServiceError("vllm: died while starting")

    monkeypatch.setattr("pipelines.leaving.start_engine", refuse)
    digest = release().release.digest()
    source = Source(tenant_id="acme", kind=SourceKind.SUBJECT, ids=(mill.door.subject("acme", "C-1"),))
    told = retired(mill, source, "case 7")
    assert told["rollbacks"] == [{"scope": SCOPE, "release": digest, "suspended": "vllm: died while starting"}]
    assert digest in mill.store.releases.tainted()
    assert "unlawful source: case 7: no rollback" in (mill.store.releases.suspended(digest) or "")
