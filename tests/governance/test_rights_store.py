"""Verdicts from the store: set-wise is row-wise, and the past stays what it was."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance.errors import RecordError
from governance.policy import facts
from governance.policy.rights import judge
from governance.records.retention import RETENTION, RetentionClass
from governance.records.rights import (
    KOREAN_BASES,
    Basis,
    ConsentEvent,
    ConsentStatus,
    Contract,
    FactKind,
    Purpose,
    PurposeTerm,
    Reason,
    RightsFact,
    Suppression,
)
from governance.records.trajectory import UNKNOWN_SUBJECT
from governance.store import Store
from tests.governance.store_records import T0, T1, consent, consents, contract, person, rights_fact, trajectory
from tests.support.clock import ManualClock

EXAMPLE = itertools.count()
"""Examples share a database, so each has tenants of its own."""
PEOPLE = [(tenant, subject) for tenant in ("acme", "bolt") for subject in (person(1), person(2), UNKNOWN_SUBJECT)]
CODES = st.sampled_from([None, "DE", "KR"])
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
                st.dictionaries(st.tuples(st.sampled_from(PURPOSES), CODES), st.sampled_from(Basis), min_size=1),
                st.booleans(),
                moments,
                st.none() | moments,
                moments,
            ),
            max_size=5,
        )
    )
    return [
        contract(tenant, terms=terms_of(bases), shared=shared, id=str(i), valid_from=a, valid_to=b, recorded_at=c)
        for i, (tenant, bases, shared, a, b, c) in enumerate(drawn)
    ]


def terms_of(bases: dict[tuple[Purpose, str | None], Basis]) -> tuple[PurposeTerm, ...]:
    """Terms, those on Korean bases for Korea."""
    return tuple(
        PurposeTerm(purpose=purpose, basis=basis, jurisdiction=code)
        for (purpose, code), basis in bases.items()
        if code == "KR" or basis not in KOREAN_BASES
    )


def fresh(
    store: Store, prefix: str, held: list[Contract], said: list[ConsentEvent], told: Sequence[RightsFact] = ()
) -> dict[str, str]:
    """Put the records in under tenants of this example alone."""
    names = {tenant: f"{prefix}-{tenant}" for tenant in ("acme", "bolt")}
    for item in held:
        store.rights.add_contract(
            item.model_copy(update={"id": f"{prefix}/{item.id}", "tenant_id": names[item.tenant_id]})
        )
    store.rights.add_consents(
        [item.model_copy(update={"id": f"{prefix}/{item.id}", "tenant_id": names[item.tenant_id]}) for item in said],
        dated_elsewhere=True,
    )
    renamed = [
        one.model_copy(
            update={
                "id": f"{prefix}/{one.id}",
                "tenant_id": names[one.tenant_id],
                "supersedes": one.supersedes and f"{prefix}/{one.supersedes}",
                "trajectory_id": one.trajectory_id and f"{prefix}-{one.trajectory_id}",
            }
        )
        for one in told
    ]
    for one in renamed:
        store.rights.add_facts([one])
    return names


RUNS = ["", "run-1", "run-2"]
"""Without their tenant."""


@st.composite
def facts_of(draw: st.DrawFn) -> list[RightsFact]:
    """Facts about runs, people and tenants, some of which end earlier ones."""
    drawn = draw(
        st.lists(
            st.tuples(
                st.sampled_from(PEOPLE),
                st.booleans(),
                st.sampled_from(FactKind),
                st.sampled_from(RUNS),
                st.none() | st.sampled_from(PURPOSES),
                st.sampled_from(["", "DE", "KR", "communication,minor"]),
                moments,
                st.none() | moments,
                moments,
                st.booleans(),
            ),
            max_size=10,
        )
    )
    made: list[RightsFact] = []
    for i, ((tenant, subject), whole, kind, run, purpose, value, start, end, known, ends) in enumerate(drawn):
        about = {"trajectory_id": f"{tenant}/{run}" if run else None, "purpose": purpose}
        one = rights_fact(kind, None if whole else subject, tenant=tenant, id=f"f{i}", value=value, recorded_at=known,
                   valid_from=start, valid_to=end, **about)  # fmt: skip
        made.append(one)
        if ends:
            over = {"id": f"f{i}-end", "supersedes": one.id, "valid_to": start, "recorded_at": T1}
            made.append(one.model_copy(update=over))
    return made


@DATABASE
@given(
    held=contracts(), said=events(), told=facts_of(), as_of=moments | st.just(T1), sharing=st.booleans(), data=st.data()
)
def test_set_wise_equals_row_wise(  # noqa: PLR0917 - drawn by hypothesis
    store: Store,
    held: list[Contract],
    said: list[ConsentEvent],
    told: list[RightsFact],
    as_of: datetime,
    sharing: bool,
    data: st.DataObject,
) -> None:
    prefix = f"set-{next(EXAMPLE)}"
    names = fresh(store, prefix, held, said, told)
    gone = data.draw(st.sampled_from(PEOPLE[:2]))
    since = data.draw(moments)
    store.rights.suppress(Suppression(tenant_id=names[gone[0]], subject=gone[1], since=since, request_id="r"))
    for purpose in [*PURPOSES, Purpose.COMPLY]:
        rows = [
            (names[tenant], subject, run and f"{names[tenant]}/{run}") for tenant, subject in PEOPLE for run in RUNS
        ]
        found = store.rights.row_verdicts(purpose, rows, as_of, sharing=sharing)
        for (tenant, subject), run in itertools.product(PEOPLE, RUNS):
            mine = facts.contract_at([item for item in held if item.tenant_id == tenant], as_of)
            theirs = [e for e in said if (e.tenant_id, e.subject, e.purpose) == (tenant, subject, purpose)]
            about = [
                (one.kind, one.value)
                for one in facts.facts_at(told, as_of)
                if one.tenant_id == tenant
                and one.subject in (None, subject)
                and one.trajectory_id in (None, f"{tenant}/{run}")
                and one.purpose in (None, purpose)
            ]
            signed = facts.signature(
                mine,
                purpose,
                known=subject != UNKNOWN_SUBJECT,
                suppressed=(tenant, subject) == gone and since <= as_of,
                sharing=sharing,
                consent=facts.consent_at(theirs, as_of),
                standing=about,
            )
            expected = judge(purpose, signed, as_of)
            assert found[names[tenant], subject, run and f"{names[tenant]}/{run}"] == expected
            if not run:
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
    assert store.rights.consent_events("acme", person(1), Purpose.COMPLY) == (consent(person(1)),)
    assert store.rights.consent_subjects("acme", Purpose.COMPLY) == [person(1)]
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
    assert store.rights.consent_events("acme", person(1), Purpose.COMPLY) == ()
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


def test_a_fact_is_ended_only_by_one_about_the_same(store: Store) -> None:
    store.rights.add_facts([rights_fact(FactKind.HOLD, person(1), id="h")])
    for wrong in (
        rights_fact(FactKind.HOLD, person(1), id="x", supersedes="none"),
        rights_fact(FactKind.HOLD, person(2), id="x", supersedes="h"),
        rights_fact(FactKind.MINOR, person(1), id="x", supersedes="h"),
        rights_fact(FactKind.HOLD, person(1), id="x", supersedes="h", trajectory_id="acme/1"),
    ):
        with pytest.raises(RecordError, match="supersedes"):
            store.rights.add_facts([wrong])
    ended = rights_fact(FactKind.HOLD, person(1), id="e", supersedes="h", valid_to=T1, recorded_at=T1)
    store.rights.add_facts([ended, ended])
    assert [one.id for one in store.rights.facts("acme", person(1))] == ["h", "e"]


def test_facts_of_one_call_may_follow_each_other_and_an_id_stands_for_one_fact(store: Store) -> None:
    hold = rights_fact(FactKind.HOLD, person(1), id="h")
    ended = rights_fact(FactKind.HOLD, person(1), id="e", supersedes="h", valid_to=T1, recorded_at=T1)
    store.rights.add_facts([hold, ended])
    assert [one.id for one in store.rights.facts("acme", person(1))] == ["h", "e"]
    with pytest.raises(RecordError, match="another fact"):
        store.rights.add_facts([rights_fact(FactKind.RESTRICTION, person(1), tenant="bolt", id="h")])
    with pytest.raises(RecordError, match="later"):
        store.rights.add_facts([rights_fact(FactKind.HOLD, person(1), id="x", supersedes="e", recorded_at=T0)])


@pytest.mark.parametrize(
    "over",
    [
        {"trajectory_id": "1" * 32},
        {"trajectory_id": "bolt/" + "1" * 32},
        {"supersedes": "h", "valid_from": T1, "recorded_at": T0},
    ],
)
def test_a_fact_that_could_do_nothing_or_something_else_is_refused(over: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"the id of a run|takes the place"):
        rights_fact(FactKind.HOLD, person(1), id="x", **over)


def test_nothing_is_recorded_of_an_erased_person(store: Store) -> None:
    store.rights.suppress(Suppression(tenant_id="acme", subject=person(1), since=T0, request_id="r"))
    with pytest.raises(RecordError, match="is being erased"):
        store.rights.add_facts([rights_fact(FactKind.MINOR, person(1))])
    assert store.rights.facts("acme") == ()


def test_what_forbids_outlives_its_evidence_class(store: Store, clock: ManualClock) -> None:
    store.rights.add_contract(contract(basis=Basis.CONTRACT))
    store.rights.add_consents(
        [consent(person(1)), consent(person(1), status=ConsentStatus.OBJECTED, at=T0 + timedelta(days=1))]
    )
    store.rights.add_facts([rights_fact(FactKind.UNLAWFUL, person(2))])
    for _ in range(3):
        store.sweep(clock.advance(RETENTION[RetentionClass.EVIDENCE]))
    found = [store.rights.verdict(Purpose.TRAIN_WEIGHTS, "acme", person(n), clock.now()).reasons[0] for n in (1, 2)]
    assert found == [Reason.OBJECTED, Reason.UNLAWFUL_SOURCE]


def test_what_is_restricted_now_is_not_handed_out_as_of_the_past(store: Store, clock: ManualClock) -> None:
    store.rights.add_contract(contract(basis=Basis.CONTRACT))
    run = trajectory(1, subject=person(1))
    store.trajectories.put_all([run])
    now = clock.now()
    store.rights.add_facts([rights_fact(FactKind.RESTRICTION, person(1), valid_from=now, recorded_at=now)])
    span = (T0 - timedelta(days=900), T1 + timedelta(days=900))
    past = store.trajectories.list(Purpose.TRAIN_WEIGHTS, ["acme"], *span, as_of=T1)
    assert [one.reason for one in past.excluded] == ["restricted"]


def test_a_contested_run_is_read_and_not_trained_on(store: Store) -> None:
    store.rights.add_contract(contract())
    store.rights.add_consents(consents(person(1)))
    runs = [trajectory(number, subject=person(1)) for number in (1, 2)]
    store.trajectories.put_all(runs)
    store.rights.add_facts([rights_fact(FactKind.CONTESTED, person(1), trajectory_id=runs[0].id)])
    span = (T0 - timedelta(days=900), T1 + timedelta(days=900))
    trained = store.trajectories.list(Purpose.TRAIN_WEIGHTS, ["acme"], *span)
    assert [run.id for run in trained.rows] == [runs[1].id]
    assert [(one.trajectory_id, one.reason) for one in trained.excluded] == [(runs[0].id, "contested")]
    assert len(store.trajectories.list(Purpose.EVALUATE, ["acme"], *span).rows) == 2
