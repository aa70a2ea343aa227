"""A champion that learned from what may not be used any more: listed, and out of service past its deadline."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from governance.erasure import ErasureService
from governance.policy.rights import DEFAULT
from governance.records.gate import GateReport, GateVerdict, Interval
from governance.records.manifest import UseKind, UseOutcome
from governance.records.rights import ConsentStatus, Reason
from governance.records.rights_policy import RebuildTerms, RightsPolicy, WhenOver
from governance.rights_at_use import RightsAtUse
from governance.store import Store
from pipelines import leaving
from pipelines.rebuilds import rebuilds
from pipelines.steps import gating, rights
from pipelines.wiring import Mill
from serving.errors import PromotionRefused, RouteUnavailable
from serving.route import Routes
from tests.governance.conftest import block_key
from tests.governance.store_records import adapter, bundle, consent
from tests.governance.test_store_manifests import ANN, DAY, filled
from tests.support.clock import ManualClock
from tests.support.ids import SeededIds

SCOPE = "shop@acme"


class Rollbacks:
    """Goes back to a release, or refuses."""

    def __init__(self, target: str | None) -> None:
        self.asked: list[str] = []
        self._target = target

    def rollback(self, scope: str, reason: str, actor: str) -> Any:
        self.asked.append(scope)
        if self._target is None:
            raise PromotionRefused("there is no earlier release that may serve")
        return SimpleNamespace(deployment=SimpleNamespace(release_digest=self._target), seconds=0.0)


class Served:
    """A champion that learned from three people, under a policy."""

    def __init__(self, folder: Path, clock: ManualClock, ids: SeededIds, terms: RebuildTerms) -> None:
        policy: RightsPolicy = DEFAULT.model_copy(update={"rebuild": terms})
        url = f"sqlite:///{folder / 'served.db'}"
        self.clock = clock
        self.store = Store.open(url, clock=clock, block_key=block_key, ids=ids, policy=policy)
        root, _ = filled(self.store)
        weights = adapter(root)
        self.store.adapters.put(weights, "adapters/1", {})
        made = bundle(weights=weights)
        self.store.releases.put(made, None, "cycle c1")
        self.release = made.release.digest()
        self.store.deployments.switch(SCOPE, 0, self.release, "initial", "r-1")
        self.promoter = Rollbacks("e" * 64)
        erasure = ErasureService(self.store, [self.store.erasable()], clock, ids)
        parts = {"store": self.store, "clock": clock, "promoter": self.promoter, "erasure": erasure, "scopes": tuple}
        self.mill = cast(Mill, SimpleNamespace(**parts, rights_at_use=RightsAtUse(self.store, clock, ids)))

    def withdraw(self) -> None:
        self.store.rights.add_consent(consent(ANN, status=ConsentStatus.WITHDRAWN, at=self.clock.now()))

    def check(self) -> dict[str, Any]:
        return rights.check_service(self.mill, lambda _: None)


@pytest.fixture
def opened(tmp_path: Path, clock: ManualClock, ids: SeededIds, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setattr(leaving, "start_engine", lambda _: None)
    made: list[Served] = []

    def under(**terms: Any) -> Served:
        made.append(Served(tmp_path, clock, ids, RebuildTerms(**terms)))
        return made[-1]

    yield under
    for one in made:
        one.store.close()


def test_a_deadline_is_listed_and_then_the_champion_is_rolled_back(opened: Any) -> None:
    served = opened()
    assert rebuilds(served.mill) == served.check()["rebuilds"] == {}
    served.clock.advance(DAY)
    left = served.clock.now()
    served.withdraw()
    listed = rebuilds(served.mill)[SCOPE]
    assert (listed["dropped"], listed["overdue"]) == ({"consent_withdrawn": 1}, False)
    assert (listed["since"], listed["deadline"]) == (left.isoformat(), (left + 30 * DAY).isoformat())
    assert served.check()["left_service"] == {}
    assert [one.outcome for one in served.store.manifests.uses(kind=UseKind.SERVICE)] == [UseOutcome.PENDING_REBUILD]
    served.clock.advance(30 * DAY)
    assert served.check()["left_service"] == {SCOPE: f"rolled back to {'e' * 64}"}
    assert served.store.releases.tainted() == {served.release}
    assert served.promoter.asked == [SCOPE]


def test_suspended_it_answers_nobody(opened: Any) -> None:
    served = opened(when_over=WhenOver.SUSPEND, days=1)
    routes = Routes(served.store.deployments, served.store.releases, lambda: [SCOPE], served.clock)
    assert routes.resolve(SCOPE).release_digest == served.release
    served.withdraw()
    served.clock.advance(DAY)
    assert served.check()["left_service"] == {SCOPE: "suspended"}
    assert served.promoter.asked == []
    with pytest.raises(RouteUnavailable, match="suspended: rights ended"):
        routes.resolve(SCOPE)
    assert rebuilds(served.mill)[SCOPE]["suspended"].startswith("rights ended")


def test_without_a_way_back_it_is_suspended(opened: Any) -> None:
    served = opened(days=1)
    served.mill.promoter = served.promoter = Rollbacks(None)
    served.withdraw()
    served.clock.advance(DAY + timedelta(seconds=1))
    assert served.check()["left_service"][SCOPE].startswith("suspended: there is no earlier release")
    assert served.store.releases.suspended(served.release)


@pytest.mark.parametrize("goes_on", [(), (Reason.CONSENT_WITHDRAWN,)])
def test_a_gate_does_not_pass_what_may_not_be_used_now(opened: Any, goes_on: tuple[Reason, ...]) -> None:
    served = opened(goes_on=goes_on)
    passed = GateReport(
        scope=SCOPE, champion="c" * 64, candidate=served.release, verdict=GateVerdict.PASS, tasks=90, errors=0,
        champion_success=0.1, candidate_success=0.9, difference=0.8, p_value=0.01, method="m", families=(),
        interval=Interval(low=0.5, high=0.9, confidence=0.95), reasons=("better",), at=served.clock.now(),
    )  # fmt: skip
    assert gating._with_rights(served.mill, passed) == passed
    served.withdraw()
    made = gating._with_rights(served.mill, passed)
    assert made.verdict is (GateVerdict.PASS if goes_on else GateVerdict.FAIL)
    assert "consent_withdrawn 1" in made.reasons[-1]
    assert rights.why_not_now(served.mill, served.store.releases.get(served.release)) == (
        () if goes_on else served.mill.rights_at_use.of_candidate(served.store.releases.get(served.release)).reasons
    )
    outcomes = [one.outcome for one in served.store.manifests.uses(kind=UseKind.GATE)]
    assert outcomes == [UseOutcome.WENT_ON, UseOutcome.PENDING_REBUILD if goes_on else UseOutcome.STOPPED]
