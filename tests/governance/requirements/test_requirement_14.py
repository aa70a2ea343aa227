"""Requirement 14: logs marked high-risk keep a minimum age, six months by default: the sweep refuses earlier."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from typing import Any

import pytest

from governance.records.retention import RETENTION, PurposeTerm, RetentionClass, RetentionPolicy
from governance.records.rights import Basis, ConsentStatus, FactKind, Purpose
from governance.store import Store
from tests.governance.conftest import block_key
from tests.governance.store_records import consent, contract, person, rights_fact, signal, span, trace_id, trajectory
from tests.governance.store_workers import latest
from tests.support.clock import ManualClock
from tests.support.ids import SeededIds

SIX_MONTHS = timedelta(days=184)
ANN, BEN = person(1), person(2)
SHORT = RetentionPolicy(default={Purpose.DEBUG: PurposeTerm(content=30)})


def opened(url: str, clock: ManualClock, ids: SeededIds, policy: RetentionPolicy) -> Store:
    return Store.open(url, clock=clock, block_key=block_key, ids=ids, retention=policy)


@pytest.fixture
def filled(database_url: str, clock: ManualClock, ids: SeededIds) -> Iterator[Store]:
    """Ann's and Ben's runs, kept for one purpose for thirty days."""
    with closing(opened(database_url, clock, ids, SHORT)) as store:
        store.rights.add_contract(contract(basis=Basis.CONSENT, purposes={Purpose.DEBUG}))
        for number, who in enumerate((ANN, BEN)):
            store.rights.add_consents([consent(who, purpose=Purpose.DEBUG)])
            store.spans.merge([span(number, subject=who), span(number, 1, subject="unknown")], latest)
            store.trajectories.put(trajectory(number, subject=who))
            store.signals.put_all([signal(trajectory(number, subject=who))])
        yield store


def kept(store: Store) -> set[str]:
    return set(store.trajectories.subjects([f"acme/{trace_id(number)}" for number in range(2)]))


RUN = f"acme/{trace_id(0)}"


@pytest.mark.parametrize("about", [{"subject": ANN}, {"trajectory_id": RUN}], ids=["person", "run"])
def test_14_the_sweep_refuses_what_is_marked_until_it_is_six_months_old(
    filled: Store, clock: ManualClock, about: dict[str, Any]
) -> None:
    began = clock.now()
    filled.rights.add_facts([rights_fact(FactKind.HIGH_RISK, **about)])
    for days in (31, 100, 183):
        clock.set(began + timedelta(days=days))
        filled.sweep(clock.now())
        assert kept(filled) == {RUN}, f"only what is marked, at {days} days"
        assert filled.overdue(clock.now()) == {}, "what may not go is not overdue"
    assert clock.now() - began > RETENTION[RetentionClass.CONTENT], "the class's own term is over by then"
    clock.set(began + SIX_MONTHS)
    assert filled.overdue(clock.now())["trajectories"] == 1
    filled.sweep(clock.now())
    assert kept(filled) == set()
    assert filled.overdue(clock.now()) == {}


def test_14_a_whole_tenant_is_marked_and_one_that_is_no_longer_is_swept(filled: Store, clock: ManualClock) -> None:
    filled.rights.add_facts([rights_fact(FactKind.HIGH_RISK, id="mark")])
    now = clock.advance(days=60)
    filled.sweep(now)
    assert len(kept(filled)) == 2
    ended: dict[str, Any] = {"id": "end", "supersedes": "mark", "valid_to": now, "recorded_at": now}
    filled.rights.add_facts([rights_fact(FactKind.HIGH_RISK, **ended)])
    filled.sweep(clock.advance(days=1))
    assert kept(filled) == set()


def test_14_withdrawing_ends_the_use_and_not_the_minimum_age(filled: Store, clock: ManualClock) -> None:
    filled.rights.add_facts([rights_fact(FactKind.HIGH_RISK, ANN)])
    now = clock.advance(days=1)
    gone = [consent(who, purpose=Purpose.DEBUG, status=ConsentStatus.WITHDRAWN, at=now) for who in (ANN, BEN)]
    filled.rights.add_consents(gone)
    filled.sweep(clock.advance(days=1))
    assert kept(filled) == {RUN}
    assert not filled.rights.verdict(Purpose.DEBUG, "acme", ANN, clock.now()).allowed


def test_14_the_age_is_a_setting(database_url: str, clock: ManualClock, ids: SeededIds) -> None:
    policy = SHORT.model_copy(update={"high_risk_days": 40})
    with closing(opened(database_url, clock, ids, policy)) as store:
        store.rights.add_contract(contract(basis=Basis.CONSENT, purposes={Purpose.DEBUG}))
        store.rights.add_consents([consent(ANN, purpose=Purpose.DEBUG)])
        store.trajectories.put(trajectory(0, subject=ANN))
        store.rights.add_facts([rights_fact(FactKind.HIGH_RISK, ANN)])
        store.sweep(clock.advance(days=39))
        assert kept(store) == {RUN}
        store.sweep(clock.advance(days=1))
        assert kept(store) == set()


@pytest.mark.parametrize("about", [{"subject": ANN}, {"trajectory_id": RUN}], ids=["person", "run"])
def test_14_a_run_with_a_late_span_stays_whole_until_that_span_is_old_enough(
    filled: Store, clock: ManualClock, about: dict[str, Any]
) -> None:
    began = clock.now()
    filled.rights.add_facts([rights_fact(FactKind.HIGH_RISK, **about)])
    clock.advance(days=40)
    filled.spans.merge([span(0, 2, subject=ANN)], latest)
    for days in (189, 223):
        clock.set(began + timedelta(days=days))
        filled.sweep(clock.now())
        assert len(filled.spans.trace("acme", trace_id(0), Purpose.COMPLY)) == 3, f"whole at {days} days"
        assert kept(filled) == {RUN}
        assert filled.overdue(clock.now()) == {}
    clock.set(began + timedelta(days=40) + SIX_MONTHS)
    assert filled.overdue(clock.now())["trajectories"] == 1
    filled.sweep(clock.now())
    assert not filled.spans.trace("acme", trace_id(0), Purpose.COMPLY)
    assert (kept(filled), filled.overdue(clock.now())) == (set(), {})
