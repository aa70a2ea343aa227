"""Requirement 2: every row resolves to exactly one legal basis per purpose and jurisdiction; unknown denies."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance.errors import RecordError
from governance.records.rights import (
    BASIS_IRI,
    KOREAN_BASES,
    Basis,
    Contract,
    FactKind,
    Purpose,
    PurposeTerm,
    Reason,
)
from governance.records.trajectory import UNKNOWN_SUBJECT
from governance.store import Store
from tests.governance.store_records import T0, T1, consent, contract, person, rights_fact, trajectory

NUMBERS = count()
"""Each example is of a tenant of its own: what is recorded of one stays."""
REGIONS = st.sampled_from(["DE", "KR", None])
GENERAL = sorted(set(Basis) - KOREAN_BASES)
CODES = st.sampled_from([None, "DE", "KR", "US", "US-CA"])
USES = tuple(purpose for purpose in Purpose if purpose is not Purpose.COMPLY)


def terms(basis: dict[Purpose, Basis]) -> tuple[PurposeTerm, ...]:
    return tuple(PurposeTerm(purpose=purpose, basis=one) for purpose, one in basis.items())


def agreed(basis: dict[Purpose, Basis], **over: object) -> Contract:
    fields = {"id": "c", "tenant_id": "acme", "terms": terms(basis), "valid_from": T0, "recorded_at": T0} | over
    return Contract.model_validate(fields)


@given(st.dictionaries(st.sampled_from(USES), st.sampled_from(GENERAL)), st.sets(st.sampled_from(USES)), REGIONS)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_requirement_02_a_row_has_one_basis_or_is_denied(
    store: Store, basis: dict[Purpose, Basis], said: set[Purpose], region: str | None
) -> None:
    tenant = f"tenant-{next(NUMBERS)}"
    store.rights.add_contract(agreed(basis, id=tenant, tenant_id=tenant, regions=("DE",)))
    store.rights.add_consents([consent(person(1), tenant=tenant, purpose=purpose) for purpose in sorted(said)])
    if region is not None:
        store.rights.add_facts([rights_fact(FactKind.JURISDICTION, person(1), tenant=tenant, value=region)])
    store.trajectories.put(trajectory(1, subject=person(1), tenant=tenant))
    for purpose in USES:
        (verdict,) = store.trajectories.verdicts(purpose, [tenant], T0, T1.replace(year=2030), as_of=T1).values()
        beyond = purpose is not Purpose.SERVE
        lawful = purpose in basis and (basis[purpose] is not Basis.CONSENT or purpose in said)
        if verdict.allowed:
            assert verdict.basis is basis[purpose]
            assert verdict.basis in BASIS_IRI
            assert lawful
        else:
            assert verdict.basis is None
            assert not lawful or (beyond and region != "DE")


@pytest.mark.parametrize("purpose", USES)
def test_requirement_02_what_is_unknown_denies(store: Store, purpose: Purpose) -> None:
    def reason(subject: str = person(1)) -> Reason:
        return store.rights.verdict(purpose, "acme", subject, T1).reasons[0]

    assert reason() is Reason.NO_CONTRACT
    store.rights.add_contract(contract(purposes=set(USES) - {purpose}))
    assert reason() is Reason.CONTRACT_FORBIDS_PURPOSE
    store.rights.add_contract(contract(id="later", recorded_at=T0.replace(day=2), valid_from=T0.replace(day=2)))
    assert reason() is Reason.NO_GRANT
    assert reason(UNKNOWN_SUBJECT) is Reason.UNKNOWN_SUBJECT


def test_requirement_02_a_contract_names_one_basis_for_a_purpose() -> None:
    both = [*terms({Purpose.DEBUG: Basis.CONTRACT}), *terms({Purpose.DEBUG: Basis.CONSENT})]
    with pytest.raises(RecordError, match="one basis"):
        Contract.parse(agreed({}).plain() | {"terms": both}, "contract")


@given(
    st.dictionaries(CODES, st.sampled_from(GENERAL), max_size=5),
    st.lists(st.lists(st.sampled_from(["DE", "KR", "US", "US-CA", "JP"]), max_size=2), min_size=3, max_size=3),
    st.sets(st.integers(0, 2)),
)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_requirement_02_the_term_of_the_persons_jurisdiction_counts(
    store: Store, of: dict[str | None, Basis], regions: list[list[str]], said: set[int]
) -> None:
    tenant, purpose = f"tenant-{next(NUMBERS)}", Purpose.EVALUATE
    told = tuple(PurposeTerm(purpose=purpose, basis=basis, jurisdiction=code) for code, basis in of.items())
    store.rights.add_contract(agreed({}, id=tenant, tenant_id=tenant, terms=told))
    store.rights.add_consents([consent(person(one), tenant=tenant, purpose=purpose) for one in sorted(said)])
    for number, codes in enumerate(regions):
        store.trajectories.put(trajectory(number, subject=person(number), tenant=tenant))
        store.rights.add_facts(
            [
                rights_fact(
                    FactKind.JURISDICTION, person(number), tenant=tenant, value=code, id=f"{tenant}/{number}/{n}"
                )
                for n, code in enumerate(codes)
            ]
        )
    together = store.trajectories.verdicts(purpose, [tenant], T0, T1.replace(year=2030), as_of=T1)
    for number, codes in enumerate(regions):
        lead = {next((of[one] for one in (code, code[:2], None) if one in of), None) for code in codes or [""]}
        basis = lead.pop() if len(lead) == 1 else None
        lawful = basis is not None and (basis is not Basis.CONSENT or number in said)
        alone = store.rights.verdict(purpose, tenant, person(number), T1)
        assert (alone.allowed, alone.basis) == (lawful, basis if lawful else None)
        assert together[trajectory(number, subject=person(number), tenant=tenant).id] == alone, (
            "row by row and as a set"
        )


def test_requirement_02_two_terms_of_one_jurisdiction_are_refused_when_the_contract_is_recorded() -> None:
    def term(basis: Basis, code: str | None) -> dict[str, str | None]:
        return {"purpose": "debug", "basis": basis.value, "jurisdiction": code}

    plain = agreed({}).plain()
    assert (
        len(Contract.parse(plain | {"terms": [term(Basis.CONSENT, "DE"), term(Basis.CONTRACT, None)]}, "c").terms) == 2
    )
    with pytest.raises(RecordError, match="one basis"):
        Contract.parse(plain | {"terms": [term(Basis.CONSENT, "DE"), term(Basis.CONTRACT, "DE")]}, "c")
    for code in (None, "DE"):
        with pytest.raises(RecordError, match="Korean law"):
            Contract.parse(plain | {"terms": [term(Basis.PIPA_15_3, code)]}, "c")
    with pytest.raises(RecordError, match="jurisdiction"):
        Contract.parse(plain | {"terms": [term(Basis.CONSENT, "Germany")]}, "c")


def test_requirement_02_bases_of_korean_law_ask_for_what_that_law_asks_for(store: Store) -> None:
    def reason(tenant: str) -> Reason:
        return store.rights.verdict(Purpose.EVALUATE, tenant, person(1), T1).reasons[0]

    def record(tenant: str, basis: Basis) -> None:
        term = PurposeTerm(purpose=Purpose.EVALUATE, basis=basis, jurisdiction="KR")
        store.rights.add_contract(agreed({}, id=tenant, tenant_id=tenant, terms=(term,)))

    for basis in KOREAN_BASES:
        record(basis.value, basis)
        assert reason(basis.value) is Reason.CONTRACT_FORBIDS_PURPOSE, "nobody knows where the person is"
        store.rights.add_facts([rights_fact(FactKind.JURISDICTION, person(1), tenant=basis.value, value="KR")])
    assert reason("pipa_15_1_1") is Reason.NO_GRANT
    store.rights.add_consents([consent(person(1), tenant="pipa_15_1_1", purpose=Purpose.EVALUATE)])
    assert reason("pipa_15_1_1") is reason("pipa_15_1_4") is reason("pipa_15_1_6") is Reason.ALLOWED
    assert reason("pipa_15_3") is Reason.NO_COMPATIBILITY_ASSESSMENT
    store.rights.add_facts([rights_fact(FactKind.COMPATIBILITY, tenant="pipa_15_3")])
    assert reason("pipa_15_3") is Reason.ALLOWED
    assert reason("pipa_28_2") is Reason.NO_DECLARATION
