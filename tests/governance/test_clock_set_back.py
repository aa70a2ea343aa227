"""A clock that is set back opens nothing that was closed, whether before or after it was set back."""

from __future__ import annotations

import itertools
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance.records.rights import Basis, ConsentStatus, FactKind, Purpose, Reason, Suppression
from governance.store import Store
from tests.governance.store_records import T0, consent, contract, person, rights_fact, trajectory
from tests.support.clock import START, ManualClock

TRAIN = Purpose.TRAIN_WEIGHTS
HOUR = timedelta(hours=1)
SPAN = (T0, T0 + timedelta(days=900))
EXAMPLE = itertools.count()
"""Examples share a database, so each has a tenant of its own."""
WORDS = [ConsentStatus.GIVEN, ConsentStatus.WITHDRAWN, ConsentStatus.OBJECTED, ConsentStatus.REFUSED]


def asked(store: Store, clock: ManualClock) -> Reason:
    """The reason of the person's verdict now, which is the same for their run among others."""
    store.trajectories.put_all([trajectory(1, subject=person(1)), trajectory(2, subject=person(2))])
    listed = store.trajectories.list(TRAIN, ["acme"], *SPAN)
    found = store.rights.verdict(TRAIN, "acme", person(1), clock.now())
    theirs = trajectory(1, subject=person(1)).id
    assert (theirs in {run.id for run in listed.rows}) is found.allowed
    assert store.trajectories.verdicts(TRAIN, ["acme"], *SPAN)[theirs].reasons == found.reasons
    return found.reasons[0]


def said(store: Store, clock: ManualClock, status: ConsentStatus, name: str = "") -> None:
    word = consent(person(1), status=status, at=clock.now())
    store.rights.add_consent(word.model_copy(update={"id": word.id + name}))


def test_what_was_withdrawn_stays_so_when_the_clock_is_set_back(store: Store, clock: ManualClock) -> None:
    store.rights.add_contract(contract())
    store.rights.add_consent(consent(person(1)))
    said(store, clock, ConsentStatus.WITHDRAWN)
    clock.set(START - HOUR)
    assert asked(store, clock) is Reason.CONSENT_WITHDRAWN


def test_what_is_withdrawn_after_the_clock_was_set_back_counts_for_good(store: Store, clock: ManualClock) -> None:
    store.rights.add_contract(contract())
    said(store, clock, ConsentStatus.GIVEN)
    clock.set(START - HOUR)
    said(store, clock, ConsentStatus.WITHDRAWN)
    assert asked(store, clock) is Reason.CONSENT_WITHDRAWN
    clock.set(START + HOUR)
    assert asked(store, clock) is Reason.CONSENT_WITHDRAWN
    said(store, clock, ConsentStatus.RENEWED)
    assert asked(store, clock) is Reason.ALLOWED


@pytest.mark.parametrize(("kind", "reason"), [(FactKind.HOLD, Reason.HELD), (FactKind.RESTRICTION, Reason.RESTRICTED)])
def test_facts_and_erasures_stand_when_the_clock_is_set_back(
    store: Store, clock: ManualClock, kind: FactKind, reason: Reason
) -> None:
    store.rights.add_contract(contract(basis=Basis.CONTRACT))
    now = clock.now()
    store.rights.add_facts([rights_fact(kind, person(1), id="f", valid_from=now, recorded_at=now)])
    clock.set(START - HOUR)
    assert asked(store, clock) is reason
    assert bool(store.rights.held("acme", [person(1)], clock.now())) is (kind is FactKind.HOLD)
    store.rights.suppress(Suppression(tenant_id="acme", subject=person(2), since=START, request_id="r"))
    assert store.rights.verdict(TRAIN, "acme", person(2), clock.now()).reasons == (Reason.SUPPRESSED,)


def test_the_past_is_still_what_was_known_then(store: Store, clock: ManualClock) -> None:
    store.rights.add_contract(contract())
    store.rights.add_consent(consent(person(1)))
    said(store, clock, ConsentStatus.WITHDRAWN)
    clock.set(START + timedelta(seconds=5))
    for before, reason in ((timedelta(seconds=1), Reason.ALLOWED), (timedelta(0), Reason.CONSENT_WITHDRAWN)):
        found = store.rights.replay(TRAIN, ("acme", person(1), ""), START - before)
        assert found.reason is reason


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(WORDS), st.integers(-90, 90)), min_size=1, max_size=6))
def test_the_last_word_counts_wherever_the_clock_stands(
    store: Store, clock: ManualClock, words: list[tuple[ConsentStatus, int]]
) -> None:
    tenant = f"t-{next(EXAMPLE)}"
    store.rights.add_contract(contract(tenant))
    for number, (status, minutes) in enumerate(words):
        clock.set(START + timedelta(minutes=minutes, seconds=number))
        store.rights.add_consent(
            consent(person(1), tenant=tenant, status=status, at=clock.now(), id=f"{tenant}/{number}")
        )
        found = store.rights.verdict(TRAIN, tenant, person(1), clock.now())
        assert found.allowed is (status is ConsentStatus.GIVEN)


def test_a_contract_recorded_after_the_clock_is_not_in_force(store: Store, clock: ManualClock) -> None:
    now = clock.now()
    store.rights.add_contract(contract(valid_from=now, recorded_at=now))
    assert store.rights.contract_at("acme", clock.now()) is not None
    clock.set(now - HOUR)
    assert store.rights.contract_at("acme", clock.now()) is None
    assert asked(store, clock) is Reason.NO_CONTRACT
    clock.set(now)
    assert store.rights.contract_at("acme", clock.now()) is not None


def test_a_clock_set_back_does_not_bring_an_older_contract_back(store: Store, clock: ManualClock) -> None:
    now = clock.now()
    store.rights.add_contract(contract())
    forbids = contract(valid_from=now, recorded_at=now).model_copy(update={"id": "forbids", "terms": ()})
    store.rights.add_contract(forbids)
    clock.set(now - HOUR)
    assert asked(store, clock) is Reason.NO_CONTRACT
