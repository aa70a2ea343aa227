"""Ledger, segments, cycles, steps, gates, erasure reports, quarantine."""

from __future__ import annotations

import itertools
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance.errors import NotFound
from governance.records.cycle import Cycle, CycleOutcome, StepResult
from governance.records.erasure import ErasureReport
from governance.records.gate import GateReport, GateVerdict, Interval
from governance.records.ledger import Fate
from governance.store import Store
from tests.governance.store_records import T0, T1, person
from tests.support.clock import ManualClock

EXAMPLE = itertools.count()
"""Examples share a database, so each has names of its own."""
batches = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["acme", "bolt"]), st.lists(st.sampled_from(Fate), max_size=4)),
    max_size=8,
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(recorded=batches)
def test_the_ledger_counts_each_segment_once(store: Store, recorded: list[tuple[int, str, list[Fate]]]) -> None:
    name = f"example{next(EXAMPLE)}"
    first: dict[tuple[int, str], list[Fate]] = {}
    for _ in range(2):
        for segment, tenant, fates in recorded:
            first.setdefault((segment, tenant), fates)
            store.ledger.record(
                f"{tenant}-{name}", "2026-03-01", len(fates), [(f, "") for f in fates], 1, f"{name}/{segment}"
            )
    lines = [line for line in store.ledger.lines() if line.tenant_id.endswith(f"-{name}")]
    assert all(line.balances for line in lines)
    for line in lines:
        mine = [fates for (_, tenant), fates in first.items() if line.tenant_id == f"{tenant}-{name}"]
        assert (line.received, line.withheld) == (sum(map(len, mine)), len(mine))
        assert line.fates == {
            fate: {"": number} for fate in Fate if (number := sum(fates.count(fate) for fates in mine))
        }


def test_segments(store: Store) -> None:
    assert not store.segments.done("a")
    store.segments.finish("a")
    store.segments.finish("a")
    assert store.segments.done("a")


def test_cycles_and_steps(store: Store) -> None:
    running = Cycle(id="c1", scope="shop@acme", window_start=T0, window_end=T1)
    store.cycles.put(running)
    ended = running.model_copy(update={"outcome": CycleOutcome.IMPROVED})
    store.cycles.put(ended)
    assert store.cycles.get("c1") == ended
    assert store.cycles.list() == store.cycles.list("shop@acme") == (ended,)
    assert store.cycles.list("other") == ()
    with pytest.raises(NotFound):
        store.cycles.get("c2")
    result = StepResult(cycle_id="c1", step="route", input_digest="0" * 64, output={"n": 1}, seconds=1.5, at=T1)
    assert store.steps.get("c1", "route", "0" * 64) is None
    store.steps.put(result)
    store.steps.put(result.model_copy(update={"output": {"n": 2}}))
    assert store.steps.get("c1", "route", "0" * 64) == result
    assert store.steps.list("c1") == (result,)


def test_gates_and_erasure_reports(store: Store) -> None:
    report = GateReport(
        scope="shop@acme",
        champion="1" * 64,
        candidate="2" * 64,
        verdict=GateVerdict.PASS,
        tasks=1,
        errors=0,
        champion_success=0.5,
        candidate_success=1.0,
        difference=0.5,
        interval=Interval(low=0.1, high=0.9, confidence=0.95),
        p_value=0.01,
        method="test",
        families=(),
        reasons=(),
        at=T1,
    )
    store.gates.put("c1", report)
    store.gates.put("c1", report)
    assert store.gates.list("shop@acme") == (report,)
    done = ErasureReport(
        request_id="r", tenant_id="acme", subject=person(1), artifacts=(), tainted_releases=(), remaining=0, at=T1
    )
    store.erasures.put(done)
    store.erasures.put(done.model_copy(update={"remaining": 9}))
    assert store.erasures.get("r") == done
    assert store.erasures.list() == (done,)
    with pytest.raises(NotFound):
        store.erasures.get("x")


def aside(store: Store, clock: ManualClock, name: str, spans: int = 2, day: str = "2026-03-01") -> None:
    expires_at = clock.now() + timedelta(hours=1)
    store.quarantine.put(name, "acme", b"\x00sealed", "masking_failed", expires_at, day=day, spans=spans)


def test_quarantine(store: Store, clock: ManualClock) -> None:
    aside(store, clock, "q")
    aside(store, clock, "q", spans=9)
    held = store.quarantine.take("q")
    assert (held.sealed, held.spans, held.attempts, held.since) == (b"\x00sealed", 2, 0, clock.now())
    aside(store, clock, "p", day="2026-03-02")
    store.quarantine.postpone("q", clock.now() + timedelta(minutes=5))
    later = store.quarantine.take("q")
    assert (later.attempts, later.retry_at) == (1, clock.now() + timedelta(minutes=5))
    assert store.quarantine.held() == {("acme", "2026-03-01"): 2, ("acme", "2026-03-02"): 2}
    assert [item.id for item in store.quarantine.list()] == ["p", "q"]
    assert [store.quarantine.remove("q") for _ in range(2)] == [True, False]
    with pytest.raises(NotFound):
        store.quarantine.take("q")


def test_what_leaves_quarantine_is_an_entry_of_its_own(store: Store, clock: ManualClock) -> None:
    day = "2026-03-01"
    fates = [(Fate.STORED, ""), *[(Fate.QUARANTINED, "masking_failed")] * 7]
    store.ledger.record("acme", day, 8, fates, 0, "s")
    for name, spans in (("a", 3), ("b", 2), ("c", 2)):
        aside(store, clock, name, spans)
    (line,) = store.ledger.lines()
    assert (line.waiting, store.quarantine.held()) == (7, {("acme", day): 7})
    out = [(Fate.STORED, ""), (Fate.DUPLICATE, ""), (Fate.REJECTED, "suppressed")]
    for _ in range(2):
        store.ledger.record_release("acme", day, out, 1, "a")
        store.quarantine.remove("a")
    clock.advance(hours=2)
    with pytest.raises(NotFound):
        store.quarantine.take("b")
    assert [store.quarantine.expire(clock.now()) for _ in range(2)] == [4, 0]
    (line,) = store.ledger.lines()
    assert (line.received, line.fates) == (8, {"stored": {"": 1}, "quarantined": {"masking_failed": 7}})
    assert line.released == {"stored": {"": 1}, "duplicate": {"": 1}, "rejected": {"suppressed": 1}}
    assert (line.expired, line.waiting, line.withheld) == ({"masking_failed": 4}, 0, 1)
    assert line.balances
    assert store.quarantine.held() == {}


def test_lines_since_a_day(store: Store) -> None:
    for day in ("2026-02-28", "2026-03-01", "2026-03-02"):
        store.ledger.record("acme", day, 1, [(Fate.STORED, "")], 0, day)
    assert [line.day for line in store.ledger.lines("2026-03-01")] == ["2026-03-01", "2026-03-02"]


@pytest.mark.parametrize(
    ("received", "fates", "released"),
    [(2, [Fate.STORED], []), (1, [Fate.STORED, Fate.STORED], []), (1, [Fate.STORED], [Fate.STORED])],
)
def test_a_line_that_does_not_balance_says_so(
    store: Store, received: int, fates: list[Fate], released: list[Fate]
) -> None:
    store.ledger.record("acme", "2026-03-01", received, [(fate, "") for fate in fates], 0, "s")
    if released:
        store.ledger.record_release("acme", "2026-03-01", [(fate, "") for fate in released], 0, "q")
    (line,) = store.ledger.lines()
    assert not line.balances
