"""Writers that meet: threads and processes, on SQLite and on PostgreSQL."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from governance.errors import Conflict
from governance.records.rights import Purpose
from governance.store import Store
from tests.governance import store_workers
from tests.governance.store_records import bundle, contract, person, span

WRITERS = 8


def case(cases_dir: Path, name: str) -> dict[str, Any]:
    lines = (cases_dir / "bug_reports.jsonl").read_text().splitlines()
    return next(found for found in map(json.loads, lines) if found["id"] == name)


@pytest.fixture(params=["threads", "processes"])
def pool(request: pytest.FixtureRequest) -> Callable[[], Executor]:
    if request.param == "threads":
        return lambda: ThreadPoolExecutor(WRITERS)
    return lambda: ProcessPoolExecutor(3, mp_context=multiprocessing.get_context("spawn"))


def test_concurrent_writers_of_one_trace_lose_nothing(
    database_url: str, store: Store, pool: Callable[[], Executor], cases_dir: Path
) -> None:
    """ING-22."""
    assert case(cases_dir, "ING-22")["input"]["parallel"].startswith("8 POSTs")
    store.rights.add_contract(contract())
    with pool() as workers:
        fates = list(workers.map(store_workers.ingest, [database_url] * WRITERS, range(WRITERS)))
    held = store.spans.trace("acme", span(1, subject=person(1)).span.trace_id, Purpose.COMPLY)
    assert len(held) == 1 + 4 * WRITERS
    assert all(found[1:] == ["stored"] * 4 for found in fates)
    assert [found[0] for found in fates].count("stored") == 1
    root = next(item for item in held if item.span.span_id.endswith("01"))
    assert root.span.end_unix_nano == 2_000_000_000_000_000_000 + WRITERS - 1
    versions = store.spans.dirty_traces()
    again = [fate for worker in range(WRITERS) for fate in store_workers.ingest(database_url, worker)]
    assert set(again) == {"duplicate"}
    assert store.spans.dirty_traces() == versions


def test_one_promoter_wins_and_every_read_sees_one_champion(
    database_url: str, store: Store, pool: Callable[[], Executor], cases_dir: Path
) -> None:
    """REG-01."""
    assert case(cases_dir, "REG-01")["input"]["parallel"][0] == "promote v2"
    first = store.deployments.switch("shop@acme", 0, bundle().release.digest(), "first", "manager")
    with pool() as workers:
        running = [workers.submit(store_workers.promote, database_url, worker) for worker in range(WRITERS)]
        seen = set()
        while not all(future.done() for future in running):
            current = store.deployments.current("shop@acme")
            assert current is not None
            seen.add(current.version)
        outcomes = [future.result() for future in running]
    winners = [outcome for outcome in outcomes if outcome != "conflict"]
    assert len(winners) == 1
    assert seen <= {1, 2}
    assert [d.release_digest for d in store.deployments.history("shop@acme")] == [first.release_digest, winners[0]]


def test_processes_that_open_together_migrate_once(database_url: str, pool: Callable[[], Executor]) -> None:
    with pool() as workers:
        assert list(workers.map(store_workers.open_only, [database_url] * 4, range(4))) == [0, 1, 2, 3]


def test_blocks_survive_writers_that_share_them(database_url: str, store: Store) -> None:
    """One writer drops the last reference while others add one: no reference ever points at nothing."""

    def churn(worker: int) -> None:
        for turn in range(6):
            store.spans.merge([span(worker, turn % 3, subject=person(worker), content=shared)], store_workers.latest)
            if turn % 3 == worker % 3:
                store.erasable().erase("acme", person(worker))

    shared = span(99, subject=person(1)).content
    with ThreadPoolExecutor(4) as workers:
        list(workers.map(churn, range(1, 5)))
    for worker in range(1, 5):
        store.spans.trace("acme", span(worker, subject=person(worker)).span.trace_id, Purpose.COMPLY)


def test_a_transaction_is_all_or_nothing_and_re_entrant(store: Store) -> None:
    def work() -> None:
        with store.transaction():
            store.segments.finish("a")
            with store.transaction():
                store.segments.finish("b")
            store.deployments.switch("shop@acme", 7, "0" * 64, "wrong version", "manager")

    with pytest.raises(Conflict):
        work()
    assert not store.segments.done("a")
    assert not store.segments.done("b")
