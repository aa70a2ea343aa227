"""A turn: steps are done once for the same inputs, and an interrupted turn goes on."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from governance.records.cycle import CycleOutcome
from governance.records.scope import Scope
from governance.store import Store
from pipelines.errors import StepError
from pipelines.turn import Turn, Window
from tests.support.clock import ManualClock

SCOPE = Scope(agent_name="agent", tenants=("a", "b"))
WINDOW = Window(datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 8, tzinfo=UTC))


@pytest.fixture
def store(database_url: str, clock: ManualClock) -> Iterator[Store]:
    held = Store.open(database_url, clock=clock)
    yield held
    held.close()


def turn(store: Store, clock: ManualClock, rights: str = "r0") -> Turn:
    return Turn(store=store, clock=clock, scope=SCOPE, window=WINDOW, rights_state=rights)


def test_a_step_is_done_once_for_its_inputs(store: Store, clock: ManualClock) -> None:
    calls: list[int] = []

    def work() -> dict[str, int]:
        calls.append(1)
        return {"count": len(calls)}

    assert turn(store, clock).step("s", ["x"], work) == {"count": 1}
    assert turn(store, clock).step("s", ["x"], work) == {"count": 1}
    clock.advance(seconds=1)
    assert turn(store, clock).step("s", ["y"], work) == {"count": 2}
    assert turn(store, clock).output("s") == {"count": 2}


def test_an_interrupted_step_leaves_no_result(store: Store, clock: ManualClock) -> None:
    def broken() -> dict[str, int]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        turn(store, clock).step("s", [], broken)
    with pytest.raises(StepError, match="step s has not run"):
        turn(store, clock).output("s")
    assert turn(store, clock).step("s", [], lambda: {"ok": 1}) == {"ok": 1}


def test_a_change_of_rights_is_another_turn(store: Store, clock: ManualClock) -> None:
    first, again, other = turn(store, clock), turn(store, clock), turn(store, clock, "r1")
    assert first.id == again.id != other.id
    first.close(CycleOutcome.IMPROVED, ("better",))
    turn(store, clock)
    assert store.cycles.get(first.id).outcome is CycleOutcome.IMPROVED, "found again, a closed cycle stays closed"
