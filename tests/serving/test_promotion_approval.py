"""A promotion waits for another person: nothing changes without the approval, and the same step goes on with it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest

from governance.acting import Acting, acts_as
from governance.approvals import Approvals
from governance.erasure import ErasureService
from governance.errors import RoleDenied
from governance.records.approval import ApprovedAct, Decision, FourEyes
from governance.records.cycle import CycleOutcome
from governance.records.principal import Principal, PrincipalKind, Role
from governance.records.scope import Scope
from governance.rights_at_use import RightsAtUse
from governance.store import Store
from pipelines.settings import load_settings
from pipelines.steps import releasing
from pipelines.turn import Turn, Window
from pipelines.wiring import Mill
from serving.vllm_admin import VllmAdmin
from tests.serving.conftest import Upstream
from tests.serving.test_promotion import SCOPE, Bench, passing
from tests.support.clock import ManualClock
from tests.support.ids import SeededIds

WINDOW = Window(datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 8, tzinfo=UTC))


def by(name: str, role: Role) -> Acting:
    return Acting(Principal(name=name, kind=PrincipalKind.PERSON, roles=(role,)), role)


class Waiting:
    """A candidate that passed its gate, under the settings' four-eyes rule."""

    def __init__(self, bench: Bench, store: Store, clock: ManualClock, ids: SeededIds, required: str) -> None:
        self.bench, self.store, self.clock = bench, store, clock
        policy = FourEyes(required=load_settings(approval_required=required).to_approve)
        self.approvals = Approvals(store, clock, ids, policy)
        parts: dict[str, Any] = {"store": store, "approvals": self.approvals, "promoter": bench.promoter}
        parts |= {"erasure": ErasureService(store, [store.erasable()], clock, ids)}
        self.mill = cast(Mill, SimpleNamespace(**parts, rights_at_use=RightsAtUse(store, clock, ids)))
        self.before = bench.champion
        with acts_as(by("e-1", Role.ENGINEER)):
            bundle = bench.known(bench.upstream.bundle("alpha"))
        self.release = bundle.release.digest()
        turn = self.turn()
        turn.step("candidate", [], lambda: {"release": self.release})
        turn.step("gate_report", [], lambda: passing(SCOPE, self.before, self.release).plain())

    def turn(self) -> Turn:
        scope = Scope(agent_name="shop", tenants=("acme",))
        return Turn(store=self.store, clock=self.clock, scope=scope, window=WINDOW, rights_state="r0")

    def promote(self) -> dict[str, Any]:
        self.clock.advance(seconds=1)
        with acts_as(by("e-1", Role.ENGINEER)):
            return releasing.promotion(self.mill, self.turn())

    def decide(self, name: str, said: Decision, role: Role = Role.RELEASE_MANAGER, release: str = "") -> None:
        about = ("acme", ApprovedAct.PROMOTION, release or self.release)
        with acts_as(by(name, role)):
            self.approvals.decide(*about, said, reason="board 3")


@pytest.fixture
def bench(double: Upstream, store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setattr(releasing, "start_engine", lambda _: None)  # the stand-in runs already
    with VllmAdmin(double.url) as admin:
        yield Bench(double, admin, store)


def test_a_promotion_waits_for_another_person_and_goes_on_with_the_approval(
    bench: Bench, store: Store, clock: ManualClock, ids: SeededIds
) -> None:
    waiting = Waiting(bench, store, clock, ids, "promotion")
    told = waiting.promote()
    assert (told["promoted"], told["outcome"]) == (False, "blocked")
    assert f"promotion {waiting.release} of acme waits for the approval" in told["reasons"][0]
    with pytest.raises(RoleDenied, match="is approved by"):
        waiting.decide("e-2", Decision.APPROVED, Role.ENGINEER)
    with pytest.raises(RoleDenied, match="another person"):
        waiting.decide("e-1", Decision.APPROVED, Role.RELEASE_MANAGER)
    waiting.decide("m-1", Decision.APPROVED, release=waiting.before)
    assert not waiting.promote()["promoted"], "another release was approved"
    assert bench.champion == waiting.before
    assert not bench.admin.adapters(), "nothing was loaded for it"
    waiting.decide("m-1", Decision.APPROVED)
    told = waiting.promote()
    assert (told["promoted"], told["outcome"]) == (True, "improved")
    assert bench.champion == waiting.release
    assert store.cycles.get(waiting.turn().id).outcome is CycleOutcome.IMPROVED
    assert waiting.promote() == told, "once"


def test_an_approval_that_was_taken_back_or_ended_promotes_nothing(
    bench: Bench, store: Store, clock: ManualClock, ids: SeededIds
) -> None:
    waiting = Waiting(bench, store, clock, ids, "promotion")
    waiting.decide("m-1", Decision.APPROVED)
    clock.advance(seconds=1)
    waiting.decide("m-2", Decision.REFUSED)
    assert not waiting.promote()["promoted"]
    waiting.decide("m-1", Decision.APPROVED)
    clock.advance(days=30)
    assert not waiting.promote()["promoted"]
    assert bench.champion == waiting.before


def test_without_the_rule_a_pass_is_enough(bench: Bench, store: Store, clock: ManualClock, ids: SeededIds) -> None:
    assert Waiting(bench, store, clock, ids, "erasure").promote()["promoted"]
