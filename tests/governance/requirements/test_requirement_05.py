"""Requirement 5: every stored object has an expiry or a hold, one clock per purpose, and nothing is overdue."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.policy.retention import earlier
from governance.records.retention import RETENTION, PurposeTerm, RetentionClass, RetentionPolicy
from governance.records.rights import Basis, ConsentStatus, FactKind, Purpose
from governance.store import Store, schema
from tests.governance.conftest import block_key
from tests.governance.store_records import (
    consent,
    contract,
    person,
    rights_fact,
    signal,
    span,
    task,
    trace_id,
    trajectory,
)  # fmt: skip
from tests.governance.store_workers import latest
from tests.support.clock import ManualClock
from tests.support.ids import SeededIds

POLICY = RetentionPolicy(
    default={
        Purpose.DEBUG: PurposeTerm(content=30),
        Purpose.EVALUATE: PurposeTerm(content=60, derived=90),
        Purpose.TRAIN_WEIGHTS: PurposeTerm(content=90, derived=120),
    }
)
USED = tuple(POLICY.default)
ALICE, BOB = person(1), person(2)


@pytest.fixture
def clocked(database_url: str, clock: ManualClock, ids: SeededIds) -> Iterator[Store]:
    """A store whose purposes have clocks of their own; Alice and Bob gave consent to three."""
    opened = Store.open(database_url, clock=clock, block_key=block_key, ids=ids, retention=POLICY)
    with closing(opened) as store:
        store.rights.add_contract(contract(basis=Basis.CONSENT, purposes=USED))
        store.rights.add_consents([consent(who, purpose=purpose) for who in (ALICE, BOB) for purpose in USED])
        for number, who in ((1, ALICE), (2, BOB)):
            store.spans.merge([span(number, subject=who), span(number, 1, subject="unknown")], latest)
            run = trajectory(number, subject=who)
            store.trajectories.put(run)
            store.signals.put_all([signal(run)])
            store.tasks.put_all("c1", [task(run)])
        yield store


def left(store: Store) -> list[int]:
    """Whose runs are still there, and whole: both spans and the trajectory, or nothing."""
    found = []
    for number in (1, 2):
        spans = store.spans.people("acme", [trace_id(number)])
        run = f"acme/{trace_id(number)}" in store.trajectories.subjects([f"acme/{trace_id(number)}"])
        assert bool(spans) is run, "never half"
        found += [number] if run else []
    return found


def withdraw(store: Store, who: str, clock: ManualClock, *purposes: Purpose) -> None:
    at = clock.now()
    status = ConsentStatus.WITHDRAWN
    store.rights.add_consents(
        [consent(who, purpose=purpose, at=at, recorded_at=at, status=status) for purpose in purposes]
    )


def test_requirement_05_every_table_says_when_its_rows_die_or_why_they_do_not() -> None:
    assert all(info.expiry == "expires_at" or info.expiry.startswith("none: ") for info in schema.table_info().values())


def test_requirement_05_a_run_dies_when_the_last_lawful_clock_stops(clocked: Store, clock: ManualClock) -> None:
    withdraw(clocked, ALICE, clock, Purpose.TRAIN_WEIGHTS)
    clock.advance(days=59)
    assert clocked.sweep(clock.now()) == {}
    assert left(clocked) == [1, 2]
    clock.advance(days=1)
    assert clocked.overdue(clock.now()).keys() == {"spans", "trajectories", "signals"}
    clocked.sweep(clock.now())
    assert (left(clocked), clocked.overdue(clock.now())) == ([2], {})
    clock.advance(days=30)
    clocked.sweep(clock.now())
    assert (left(clocked), clocked.overdue(clock.now())) == ([], {})


def test_requirement_05_who_ends_every_purpose_is_swept_at_once_and_who_is_restricted_is_kept(
    clocked: Store, clock: ManualClock
) -> None:
    withdraw(clocked, ALICE, clock, *USED)
    withdraw(clocked, BOB, clock, *USED)
    clocked.rights.add_facts([rights_fact(FactKind.RESTRICTION, BOB)])
    assert clocked.overdue(clock.now()).keys() == {"spans", "trajectories", "signals", "tasks"}
    clocked.sweep(clock.now())
    assert (left(clocked), clocked.overdue(clock.now())) == ([2], {})


def test_requirement_05_under_a_hold_no_clock_of_a_purpose_is_heard(clocked: Store, clock: ManualClock) -> None:
    hold = rights_fact(FactKind.HOLD, ALICE, id="h")
    clocked.rights.add_facts([hold])
    withdraw(clocked, ALICE, clock, *USED)
    clocked.sweep(clock.now())
    assert (left(clocked), clocked.overdue(clock.now())) == ([1, 2], {})
    at = clock.advance(days=1)
    clocked.rights.add_facts(
        [hold.model_copy(update={"id": "e", "supersedes": "h", "valid_to": at, "recorded_at": at})]
    )
    clocked.sweep(clock.now())
    assert (left(clocked), clocked.overdue(clock.now())) == ([2], {})


def test_requirement_05_a_run_whose_spans_came_over_days_goes_whole_with_the_first(
    store: Store, clock: ManualClock
) -> None:
    store.spans.merge([span(1, subject=ALICE)], latest)
    store.trajectories.put(trajectory(1, subject=ALICE))
    first = clock.now()
    clock.advance(days=10)
    store.spans.merge([span(1, 2, subject=ALICE)], latest)
    clock.set(first + RETENTION[RetentionClass.CONTENT])
    assert store.sweep(clock.now())["spans"] == 2
    assert (left(store), store.overdue(clock.now())) == ([], {})


def test_requirement_05_a_clock_that_goes_backwards_deletes_nothing_early(clocked: Store, clock: ManualClock) -> None:
    clock.set(clock.now() - timedelta(days=400))
    assert clocked.sweep(clock.now()) == {}
    assert left(clocked) == [1, 2]


@settings(max_examples=40, deadline=None)
@given(st.sets(st.sampled_from(sorted(USED))), st.sets(st.sampled_from(sorted(USED))))
def test_requirement_05_another_lawful_purpose_never_shortens_a_life(some: set[Purpose], more: set[Purpose]) -> None:
    for kept in (RetentionClass.CONTENT, RetentionClass.DERIVED):
        few, many = (earlier(POLICY, "acme", lawful, kept) for lawful in (some, some | more))
        assert timedelta(0) <= many <= few <= RETENTION[kept]
