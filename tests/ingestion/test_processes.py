"""Several processes drain one spool."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.drain import Drain, DrainReport
from ingestion.processes import drain_with, together
from ingestion.share import WHOLE, Share
from tests.ingestion.otlp_bodies import span_json
from tests.ingestion.test_drain import Mill, run_of

TRACES = 8


@contextmanager
def opened(folder: str) -> Iterator[Drain]:
    mill = Mill(Path(folder))
    yield mill.drain
    mill.close()


def sent(folder: Path) -> None:
    """Each trace in two segments, the root in the second one."""
    mill = Mill(folder)
    mill.contract()
    for number in range(TRACES):
        child, root = run_of(f"{number + 1:032x}", user=f"person-{number}@example.org")
        for span in (child, root, span_json(900 + number) | {"traceId": "0" * 32}):
            mill.send(span)
            mill.spool.seal()
    mill.close()


@pytest.mark.parametrize("workers", [1, 3])
def test_processes_share_the_segments_and_count_each_span_once(tmp_path: Path, workers: int) -> None:
    sent(tmp_path)
    report = drain_with(partial(opened, str(tmp_path)), workers, 3 * TRACES)
    assert report.balances
    assert (report.segments, report.received) == (3 * TRACES, 3 * TRACES)
    assert report.fates == {"rejected": TRACES, "stored": 2 * TRACES}
    again = Mill(tmp_path)
    assert list(again.spool.sealed()) == []
    assert again.line().withheld == 0, "a child whose root another process stored belongs to the root's person"
    runs = again.trajectories()
    assert sorted(len(run.calls) for run in runs) == [1] * TRACES
    assert len({run.subject for run in runs}) == TRACES
    again.close()


def test_every_segment_is_in_one_share() -> None:
    ids = [f"{number:020d}-{number:016x}" for number in range(200)]
    assert all(WHOLE.holds(one) for one in ids)
    for of in (2, 3, 7):
        assert all(sum(Share(number, of).holds(one) for number in range(of)) == 1 for one in ids)


@contextmanager
def _claims(taken: set[str], segment_id: str, *, wait: bool = False) -> Iterator[bool]:
    """A claim that nobody else has, or that another process has until it is waited for."""
    yield wait or segment_id not in taken


@given(st.integers(1, 5), st.sets(st.integers(0, 10**6), max_size=30), st.data())
def test_a_process_takes_what_nobody_has_and_looks_again_at_its_own(of: int, numbers: set[int], data: Any) -> None:
    ids = [f"{number:020d}-0" for number in sorted(numbers)]
    elsewhere = set(data.draw(st.lists(st.sampled_from(ids)))) if ids else set[str]()
    share = Share(data.draw(st.integers(0, of - 1)), of)
    taken = list(share.take(ids, partial(_claims, elsewhere)))
    own = {one for one in ids if share.holds(one)}
    assert {one.segment_id for one in taken if one.own} == own
    assert {one.segment_id for one in taken if not one.own} == set(ids) - own - elsewhere
    assert len(taken) == len({one.segment_id for one in taken})


def test_the_shares_of_a_process_that_never_came_are_drained_by_the_other(tmp_path: Path) -> None:
    sent(tmp_path)
    mill = Mill(tmp_path)
    report = mill.drain.run(None, Share(0, 2))
    assert (report.segments, report.waiting, report.balances) == (3 * TRACES, 0, True)
    assert list(mill.spool.sealed()) == []
    mill.close()


def test_reports_add_up() -> None:
    one = DrainReport(segments=1, received=3, fates={"stored": 2, "rejected": 1}, trajectories=1)
    other = DrainReport(segments=2, received=2, fates={"stored": 1, "duplicate": 1}, corrupt=1)
    assert together([one, other]) == DrainReport(
        segments=3, received=5, fates={"duplicate": 1, "rejected": 1, "stored": 3}, trajectories=1, corrupt=1
    )
