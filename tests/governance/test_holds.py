"""Legal holds over everything that may hold a person's data, and facts about one run wherever it is read."""

from __future__ import annotations

from datetime import timedelta

import pytest

from governance.errors import HeldError, NotFound, PurposeDenied
from governance.records.feedback import Target
from governance.records.retention import RETENTION, RetentionClass
from governance.records.rights import Basis, FactKind, Purpose
from governance.store import Store
from governance.store.holds import RENEWAL
from tests.governance.store_records import (
    T0,
    T1,
    consents,
    contract,
    grade,
    pattern,
    person,
    rights_fact,
    span,
    task,
    trajectory,
    world,
)  # fmt: skip
from tests.governance.store_workers import latest
from tests.governance.test_store_feedback import put, say
from tests.support.clock import ManualClock

RELEASE = "e" * 64
CONTENT = RETENTION[RetentionClass.CONTENT]


def seal(store: Store, clock: ManualClock, tenant: str) -> str:
    soon = clock.now() + timedelta(hours=1)
    store.quarantine.put(f"q-{tenant}", tenant, b"sealed", "masking_failed", soon, day="2026-03-02", spans=1)
    return f"q-{tenant}"


def end(store: Store, clock: ManualClock, hold: str) -> None:
    before = next(one for one in store.rights.facts("acme") if one.id == hold)
    now = clock.now()
    over = {"id": f"{hold}-end", "supersedes": hold, "valid_to": now, "recorded_at": now}
    store.rights.add_facts([before.model_copy(update=over)])


@pytest.mark.parametrize("whom", [person(1), None])
def test_what_is_sealed_is_neither_expired_nor_destroyed_under_a_hold(
    store: Store, clock: ManualClock, whom: str | None
) -> None:
    mine, others = seal(store, clock, "acme"), seal(store, clock, "bolt")
    store.rights.add_facts([rights_fact(FactKind.HOLD, whom, id="h")])
    now = clock.advance(hours=2)
    assert store.quarantine.expire(now) == 1, "of the tenant without a hold"
    assert [one.id for one in store.quarantine.list()] == [mine]
    with pytest.raises(HeldError, match="acme"):
        store.quarantine.destroy(mine, "destroyed_by_review")
    assert store.quarantine.take(mine).spans == 1
    with pytest.raises(NotFound):
        store.quarantine.take(others)
    end(store, clock, "h")
    assert store.quarantine.expire(clock.advance(RENEWAL)) == 1


def test_traces_that_mention_whom_a_hold_covers_are_kept(store: Store, clock: ManualClock) -> None:
    for number, mentions in ((1, (person(9),)), (2, ())):
        store.spans.merge([span(number, subject=person(number), mentions=mentions)], latest)
        store.trajectories.put(trajectory(number, subject=person(number)))
    store.rights.add_facts([rights_fact(FactKind.HOLD, person(9), id="h")])
    until = clock.advance(CONTENT)
    assert store.sweep(until)["trajectories"] == 1
    assert store.erasable().count("acme", person(9)) > 0
    assert store.overdue(until) == {}


def test_what_is_of_several_people_is_kept_whole_under_a_hold(store: Store, clock: ManualClock) -> None:
    runs = [trajectory(number, subject=person(number)) for number in (1, 2)]
    store.trajectories.put_all(runs)
    store.patterns.put_all("c1", [pattern("late", runs)])
    store.worlds.put(*world(person(1), person(2)))
    store.rights.add_facts([rights_fact(FactKind.HOLD, person(1), id="h")])
    until = clock.advance(RETENTION[RetentionClass.ARTIFACT])
    swept = store.sweep(until)
    assert swept.keys() & {"patterns", "worlds"} == set()
    assert store.erasable().count("acme", person(1)) >= 3
    assert store.overdue(until) == {}


def test_a_hold_on_a_run_covers_that_run_alone(store: Store, clock: ManualClock) -> None:
    runs = [trajectory(number, subject=person(1)) for number in (1, 2)]
    store.trajectories.put_all(runs)
    store.rights.add_facts([rights_fact(FactKind.HOLD, trajectory_id=runs[0].id, id="h")])
    store.sweep(clock.advance(CONTENT))
    assert store.trajectories.subjects([run.id for run in runs]).keys() == {runs[0].id}
    assert store.rights.held("acme", [person(1)], clock.now()) == set()


def test_a_rollout_and_a_task_are_judged_by_the_runs_that_they_were_made_of(store: Store) -> None:
    store.rights.add_contract(contract())
    store.rights.add_consents(consents(person(1)))
    run = trajectory(1, subject=person(1))
    made = task(run)
    store.trajectories.put(run)
    store.tasks.put_all("c1", [made])
    store.grades.put("c1", "candidate", made.digest(), *grade(made, RELEASE))
    assert store.grades.rollout(RELEASE, made.digest(), Purpose.TRAIN_WEIGHTS)
    store.rights.add_facts([rights_fact(FactKind.CONTESTED, person(1), trajectory_id=run.id)])
    with pytest.raises(PurposeDenied, match="contested"):
        store.grades.rollout(RELEASE, made.digest(), Purpose.TRAIN_WEIGHTS)
    with pytest.raises(PurposeDenied, match="contested"):
        store.tasks.get(made.digest(), Purpose.TRAIN_WEIGHTS)
    assert store.tasks.list("c1", Purpose.TRAIN_WEIGHTS).tasks == ()


@pytest.mark.parametrize("kind", [FactKind.RESTRICTION, FactKind.UNLAWFUL, FactKind.HOLD])
def test_what_stands_for_everybody_reaches_what_no_person_is_behind(store: Store, kind: FactKind) -> None:
    store.rights.add_contract(contract(basis=Basis.CONTRACT))
    ref, snapshot, people = world(person(1))
    store.worlds.put(ref, snapshot, people)
    assert store.worlds.get(ref.masked_digest, Purpose.TRAIN_WEIGHTS)
    store.rights.add_facts([rights_fact(kind, valid_from=T0, recorded_at=T0)])
    with pytest.raises(PurposeDenied):
        store.worlds.get(ref.masked_digest, Purpose.TRAIN_WEIGHTS)


def test_what_was_said_of_a_run_is_judged_as_the_run_is(store: Store) -> None:
    store.rights.add_contract(contract(basis=Basis.CONTRACT))
    run = trajectory(1, subject=person(1))
    store.trajectories.put(run)
    put(store, say(target=Target(trace_id=run.trace_id), subject=person(1)))
    span_ = (T0 - timedelta(days=9), T1 + timedelta(days=99))
    assert len(store.feedback.list(Purpose.TRAIN_WEIGHTS, ["acme"], *span_).rows) == 1
    store.rights.add_facts([rights_fact(FactKind.CONTESTED, person(1), trajectory_id=run.id)])
    assert store.feedback.list(Purpose.TRAIN_WEIGHTS, ["acme"], *span_).excluded == {"contested": 1}
    assert len(store.feedback.list(Purpose.EVALUATE, ["acme"], *span_).rows) == 1
