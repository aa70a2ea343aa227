"""Verdicts from the store: set-wise is row-wise, and the past stays what it was."""

from __future__ import annotations

import itertools
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance.policy import rights as policy
from governance.policy.rights import FactSignature
from governance.records.rights import Basis, ConsentEvent, ConsentStatus, Contract, Purpose, Reason, Suppression
from governance.records.trajectory import UNKNOWN_SUBJECT
from governance.store import Store
from tests.governance.store_records import T0, T1, consent, consents, contract, person

EXAMPLE = itertools.count()
"""Examples share a database, so each has tenants of its own."""
PEOPLE = [(tenant, subject) for tenant in ("acme", "bolt") for subject in (person(1), person(2), UNKNOWN_SUBJECT)]
PURPOSES = [Purpose.TRAIN_WEIGHTS, Purpose.EVALUATE]
moments = st.integers(0, 8).map(lambda day: T0 + timedelta(days=day))
DATABASE = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def events(draw: st.DrawFn) -> list[ConsentEvent]:
    drawn = draw(
        st.lists(
            st.tuples(
                st.sampled_from(PEOPLE[:2] + PEOPLE[3:5]),
                st.sampled_from(PURPOSES),
                st.sampled_from(ConsentStatus),
                moments,
                st.none() | moments,
                moments,
            ),
            max_size=12,
        )
    )
    return [
        consent(
            subject, tenant=tenant, purpose=purpose, status=status, id=str(i), at=at, valid_to=until, recorded_at=known
        )
        for i, ((tenant, subject), purpose, status, at, until, known) in enumerate(drawn)
    ]


@st.composite
def contracts(draw: st.DrawFn) -> list[Contract]:
    drawn = draw(
        st.lists(
            st.tuples(
                st.sampled_from(["acme", "bolt"]),
                st.sampled_from(Basis),
                st.lists(st.sampled_from(PURPOSES), unique=True, min_size=1),
                st.booleans(),
                moments,
                st.none() | moments,
                moments,
            ),
            max_size=5,
        )
    )
    return [
        contract(tenant, basis=basis, purposes=terms, shared=shared, id=str(i), valid_from=a, valid_to=b, recorded_at=c)
        for i, (tenant, basis, terms, shared, a, b, c) in enumerate(drawn)
    ]


def fresh(store: Store, prefix: str, held: list[Contract], said: list[ConsentEvent]) -> dict[str, str]:
    """Put the records in under tenants of this example alone."""
    names = {tenant: f"{prefix}-{tenant}" for tenant in ("acme", "bolt")}
    for item in held:
        store.rights.add_contract(
            item.model_copy(update={"id": f"{prefix}/{item.id}", "tenant_id": names[item.tenant_id]})
        )
    store.rights.add_consents(
        [item.model_copy(update={"id": f"{prefix}/{item.id}", "tenant_id": names[item.tenant_id]}) for item in said]
    )
    return names


@DATABASE
@given(held=contracts(), said=events(), as_of=moments, sharing=st.booleans(), data=st.data())
def test_set_wise_equals_row_wise(  # noqa: PLR0917 - drawn by hypothesis
    store: Store, held: list[Contract], said: list[ConsentEvent], as_of: object, sharing: bool, data: st.DataObject
) -> None:
    assert isinstance(as_of, type(T0))
    prefix = f"set-{next(EXAMPLE)}"
    names = fresh(store, prefix, held, said)
    gone = data.draw(st.sampled_from(PEOPLE[:2]))
    since = data.draw(moments)
    store.rights.suppress(Suppression(tenant_id=names[gone[0]], subject=gone[1], since=since, request_id="r"))
    for purpose in [*PURPOSES, Purpose.COMPLY]:
        people = [(names[tenant], subject) for tenant, subject in PEOPLE]
        found = store.rights.verdicts(purpose, people, as_of, sharing=sharing)
        for tenant, subject in PEOPLE:
            mine = policy.contract_at([item for item in held if item.tenant_id == tenant], as_of)
            theirs = [e for e in said if (e.tenant_id, e.subject, e.purpose) == (tenant, subject, purpose)]
            facts = FactSignature(
                subject_known=subject != UNKNOWN_SUBJECT,
                suppressed=(tenant, subject) == gone and since <= as_of,
                contract=mine is not None,
                basis=policy.term_basis(mine, purpose),
                shared_adapter=mine is not None and mine.shared_adapter,
                sharing=sharing,
                consent=policy.consent_at(theirs, as_of),
            )
            expected = policy.judge(purpose, facts, as_of)
            assert found[names[tenant], subject] == expected
            assert store.rights.verdict(purpose, names[tenant], subject, as_of, sharing=sharing) == expected


@DATABASE
@given(held=contracts(), said=events(), later=events(), as_of=moments)
def test_later_records_do_not_change_the_past(
    store: Store,
    held: list[Contract],
    said: list[ConsentEvent],
    later: list[ConsentEvent],
    as_of: object,
) -> None:
    assert isinstance(as_of, type(T0))
    prefix = f"replay-{next(EXAMPLE)}"
    names = fresh(store, prefix, held, said)
    people = [(names[tenant], subject) for tenant, subject in PEOPLE]
    before = {purpose: store.rights.verdicts(purpose, people, as_of) for purpose in PURPOSES}
    after = as_of + timedelta(microseconds=1)
    more = [e.model_copy(update={"id": f"later-{e.id}", "recorded_at": after + (e.recorded_at - T0)}) for e in later]
    ended = contract("acme", id="later", purposes=[Purpose.SERVE], valid_from=T0, recorded_at=after)
    fresh(store, prefix, [ended], more)
    store.rights.suppress(Suppression(tenant_id=names["acme"], subject=person(1), since=after, request_id="r"))
    assert {purpose: store.rights.verdicts(purpose, people, as_of) for purpose in PURPOSES} == before


def test_records_are_added_once_and_never_changed(store: Store) -> None:
    store.rights.add_contract(contract())
    store.rights.add_contract(contract(purposes=[Purpose.SERVE]))
    assert store.rights.contract_at("acme", T1) == contract()
    store.rights.add_consent(consent(person(1)))
    store.rights.add_consent(consent(person(1), notice_digest="f" * 64))
    assert store.rights.consent_events("acme", person(1)) == (consent(person(1)),)
    assert store.rights.consent_subjects("acme") == [person(1)]
    assert store.rights.tenants() == ["acme"]
    assert store.rights.contract_at("other", T1) is None


def test_withdrawing_takes_one_step_and_counts_at_once(store: Store) -> None:
    store.rights.add_contract(contract())
    store.rights.add_consent(consent(person(1)))
    assert store.rights.verdict(Purpose.TRAIN_WEIGHTS, "acme", person(1), T1).allowed
    store.rights.add_consent(consent(person(1), status=ConsentStatus.WITHDRAWN, at=T1))
    assert store.rights.verdict(Purpose.TRAIN_WEIGHTS, "acme", person(1), T1).reasons == (Reason.CONSENT_WITHDRAWN,)


def test_a_fresh_store_allows_nothing(store: Store) -> None:
    for purpose in set(Purpose) - {Purpose.COMPLY}:
        assert store.rights.verdict(purpose, "acme", person(1), T1).reasons == (Reason.NO_CONTRACT,)


def test_a_suppressed_person_stays_out(store: Store) -> None:
    store.rights.add_contract(contract(basis=Basis.CONTRACT))
    first = Suppression(tenant_id="acme", subject=person(1), since=T1, request_id="1")
    store.rights.suppress(first)
    store.rights.suppress(first.model_copy(update={"since": T1 + timedelta(days=9)}))
    assert store.rights.is_suppressed("acme", person(1))
    assert not store.rights.is_suppressed("bolt", person(1))
    store.rights.add_consents(consents(person(1)))
    assert store.rights.consent_events("acme", person(1)) == ()
    verdict = store.rights.verdict(Purpose.SERVE, "acme", person(1), T1)
    assert verdict.reasons == (Reason.SUPPRESSED,)


def test_more_people_than_fit_one_statement(store: Store) -> None:
    store.rights.add_contract(contract())
    store.rights.add_consents([consent(person(number)) for number in range(0, 1300, 2)])
    found = store.rights.verdicts(Purpose.TRAIN_WEIGHTS, [("acme", person(n)) for n in range(1300)], T1)
    assert [found["acme", person(n)].allowed for n in range(1300)] == [n % 2 == 0 for n in range(1300)]


@pytest.mark.parametrize("tenants", [[], ["acme"]])
def test_nobody_asked_nobody_judged(store: Store, tenants: list[str]) -> None:
    assert store.rights.verdicts(Purpose.SERVE, [], T1) == {}
