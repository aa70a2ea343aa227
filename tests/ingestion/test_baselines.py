"""Baselines: what a run is compared with, from the store and as runs come."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from governance.records.outline import RunOutline
from governance.records.rights import Purpose
from governance.records.trajectory import Actor
from governance.records.usage import Usage
from ingestion.signals.baselines import Baselines
from tests.ingestion.otlp_bodies import T0, span_json
from tests.ingestion.test_drain import START, Mill, run_of
from tests.support.clock import ManualClock

AT = ManualClock().now()


def outline(number: int, seconds: float = 1.0, agent: str = "shop", tenant: str = "acme", **over: Any) -> RunOutline:
    start = AT + timedelta(minutes=number)
    fields = {"actors": (Actor.AGENT,), "incomplete": (), "usage": Usage(input_tokens=10)} | over
    return RunOutline(
        id=f"{tenant}/{number}", tenant_id=tenant, agent_name=agent, started_at=start,
        ended_at=start + timedelta(seconds=seconds), **fields,
    )  # fmt: skip


def test_a_run_is_compared_with_the_runs_of_its_agent_before_it() -> None:
    stored = [outline(1, 1), outline(2, 2), outline(9, 9), outline(3, 3, agent="other"), outline(4, 4, tenant="other")]
    asked: list[tuple[str, int]] = []

    def newest(tenant: str, most: int) -> Sequence[RunOutline]:
        asked.append((tenant, most))
        return [one for one in stored if one.tenant_id == tenant]

    baselines = Baselines(newest, window=10)
    assert baselines.before(outline(5)).seconds() == [1, 2]
    baselines.learn(outline(4, 4.5))
    assert baselines.before(outline(5)).seconds() == [1, 2, 4.5]
    assert baselines.before(outline(4)).seconds() == [1, 2]
    assert asked == [("acme", 50)]


def test_a_run_that_changed_counts_once_and_old_ones_are_forgotten() -> None:
    baselines = Baselines(lambda tenant, most: (), window=3)
    for number in range(20):
        baselines.learn(outline(number, number))
        baselines.learn(outline(number, number + 0.5))
    assert baselines.before(outline(30)).seconds() == [17.5, 18.5, 19.5]
    assert baselines.before(outline(15)).seconds() == [14.5]


def test_runs_that_say_nothing_about_time_or_cost_are_no_part_of_it() -> None:
    human, open_, paid = (
        outline(1, actors=(Actor.AGENT, Actor.HUMAN)),
        outline(2, incomplete=("open_span",)),
        outline(3, usage=Usage(input_tokens=5, cost=1.0, currency="EUR")),
    )
    part = outline(4, usage=Usage(input_tokens=5, cost=1.0, currency="EUR", uncosted_tokens=2))
    baseline = Baselines(lambda tenant, most: (human, open_, paid, part), window=9).before(outline(5))
    assert baseline.seconds() == [1, 1]
    assert baseline.tokens() == [10, 5, 5]
    assert (baseline.costs("EUR"), baseline.costs("USD")) == ([1.0], [])


def lasting(number: int, seconds: float) -> list[dict[str, Any]]:
    """A run that starts some minutes after the one before it."""
    start = T0 + number * 60_000_000_000
    times = {"startTimeUnixNano": str(start), "endTimeUnixNano": str(start + int(seconds * 1e9))}
    root = run_of(f"{number + 1:032x}")[1]
    return [root | times, span_json(2, 1, f"{number + 1:032x}") | times]


def outliers(mill: Mill) -> list[str]:
    span = timedelta(days=3650)
    found = mill.store.signals.list(Purpose.DEBUG, ["acme"], START - span, START + span)
    return [one.trajectory_id for one in found if one.kind == "latency_outlier"]


def test_outliers_are_found_as_runs_come_and_after_a_restart(tmp_path: Path) -> None:
    mill = Mill(tmp_path)
    mill.contract()
    for number in range(21):
        mill.send(*lasting(number, 1 + number % 3 / 10))
    mill.send(*lasting(30, 50))
    mill.drain.run()
    assert outliers(mill) == [f"acme/{31:032x}"]
    mill.close()
    again = Mill(tmp_path)
    again.send(*lasting(40, 40), *lasting(41, 1))
    again.drain.run()
    assert outliers(again) == [f"acme/{31:032x}", f"acme/{41:032x}"]
    again.send(*lasting(40, 40))
    again.drain.run()
    assert len(outliers(again)) == 2
    again.close()


def test_runs_that_may_not_be_read_are_no_baseline(tmp_path: Path) -> None:
    mill = Mill(tmp_path)
    for number in range(21):
        mill.send(*lasting(number, 1))
    mill.drain.run()
    assert mill.store.trajectories.outlines(Purpose.DEBUG, "acme", 100) == ()
    mill.contract()
    assert len(mill.store.trajectories.outlines(Purpose.DEBUG, "acme", 100)) == 21
    newest = mill.store.trajectories.outlines(Purpose.DEBUG, "acme", 2)
    assert [one.id for one in newest] == [f"acme/{20:032x}", f"acme/{21:032x}"]
    assert newest[-1] == RunOutline.of(mill.trajectories()[-1])
    mill.close()
