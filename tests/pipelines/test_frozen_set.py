"""RET-03: what retention takes out of a frozen set of tasks is told, and missing on both sides of a comparison."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from governance.records.gate import GateVerdict
from governance.records.retention import RETENTION, RetentionClass
from governance.records.rights import Basis
from governance.records.task import Split
from governance.store import Store
from pipelines.settings import load_settings
from pipelines.steps.gating import compared
from tests.governance.store_records import contract, grade, person, task, trajectory
from tests.support.clock import ManualClock

CYCLE = "c1"
ARMS = ("a" * 64, "b" * 64)
OLD, FROZEN = 4, 12
"""Tasks of the set that die first, and all of it."""


@pytest.fixture
def store(tmp_path: Path, clock: ManualClock) -> Iterator[Store]:
    """A frozen set of which some tasks were stored earlier, with the grades of both arms on all of them."""
    with closing(Store.open(f"sqlite:///{tmp_path / 'x.db'}", clock=clock)) as opened:
        opened.rights.add_contract(contract(basis=Basis.CONTRACT))
        made = [task(trajectory(n, subject=person(n)), split=Split.EVAL) for n in range(FROZEN)]
        opened.tasks.put_all(CYCLE, made[:OLD])
        clock.advance(days=30)
        opened.tasks.put_all(CYCLE, made[OLD:])
        for number, release in enumerate(ARMS):
            for item in made:
                opened.grades.put(CYCLE, f"arm {number}", item.digest(), *grade(item, release))
        yield opened


def report(store: Store, clock: ManualClock) -> Any:
    mill: Any = SimpleNamespace(store=store, settings=load_settings(gate_tasks=1), clock=clock)
    turn: Any = SimpleNamespace(
        id=CYCLE, scope=SimpleNamespace(name="shop@acme"), output=lambda step: {"tasks": {"eval": FROZEN}}[step]
    )
    return compared(mill, turn, *ARMS)


def test_ret_03_a_score_on_a_set_that_shrank_says_so(store: Store, clock: ManualClock) -> None:
    whole = report(store, clock)
    assert whole.tasks == FROZEN
    assert not [reason for reason in whole.reasons if reason.startswith("set_shrunken")]
    clock.advance(RETENTION[RetentionClass.DERIVED] - timedelta(days=15))
    store.sweep(clock.now())
    shrunken = report(store, clock)
    assert (shrunken.tasks, shrunken.errors) == (FROZEN - OLD, 0), "no case counts as failed for having left"
    assert f"set_shrunken:{FROZEN - OLD}_of_{FROZEN}" in shrunken.reasons
    assert shrunken.verdict is not GateVerdict.PASS
