"""The pure verdict: its rules one by one, and what holds for all of them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.policy import facts, rights
from governance.policy.facts import FactSignature
from governance.policy.retention import expiry, is_overdue
from governance.policy.rights import judge
from governance.policy.sharing import scopes, shared_tenants
from governance.records.retention import RETENTION, RetentionClass
from governance.records.rights import Basis, ConsentStatus, Contract, FactKind, Purpose, Reason
from tests.governance.store_records import T0, T1, consent, contract, person, rights_fact

signatures = st.builds(
    FactSignature,
    subject_known=st.booleans(),
    suppressed=st.booleans(),
    contract=st.booleans(),
    basis=st.none() | st.sampled_from(Basis),
    shared_adapter=st.booleans(),
    sharing=st.booleans(),
    consent=st.none() | st.sampled_from(ConsentStatus),
    **{name: st.booleans() for name in FactSignature._fields[7:]},
)
BEYOND = {Purpose.EVALUATE, Purpose.IMPROVE_CONTEXT, Purpose.IMPROVE_HARNESS, Purpose.TRAIN_WEIGHTS}


def unhindered(facts: FactSignature, purpose: Purpose) -> bool:
    """The further rules of the default policy, written once more and otherwise."""
    if facts.restricted or not facts.compatible or (facts.basis is Basis.PIPA_28_2 and not facts.declared):
        return False
    if purpose is not Purpose.SERVE and (facts.unlawful or not facts.region_allowed):
        return False
    if purpose in BEYOND and (facts.held or (facts.special_category and not facts.special_basis)):
        return False
    return purpose is not Purpose.TRAIN_WEIGHTS or not (facts.contested or facts.minor)


ALLOWED = FactSignature(True, False, True, Basis.CONSENT, False, False, ConsentStatus.GIVEN)


@given(signatures)
def test_comply_is_never_denied(facts: FactSignature) -> None:
    verdict = judge(Purpose.COMPLY, facts, T1)
    assert verdict.allowed
    assert verdict.reasons == (Reason.COMPLY,)


@given(signatures, st.sampled_from([purpose for purpose in Purpose if purpose is not Purpose.COMPLY]))
def test_nothing_is_allowed_without_person_contract_term_and_ground(facts: FactSignature, purpose: Purpose) -> None:
    verdict = judge(purpose, facts, T1)
    assert verdict.policy_version == rights.DEFAULT.version
    assert (verdict.reasons == (Reason.ALLOWED,)) == verdict.allowed
    ground = (
        facts.consent in {ConsentStatus.GIVEN, ConsentStatus.RENEWED}
        if facts.basis in {Basis.CONSENT, Basis.PIPA_15_1_1}
        else facts.consent not in {ConsentStatus.WITHDRAWN, ConsentStatus.REFUSED, ConsentStatus.OBJECTED}
    )
    shares = facts.shared_adapter or not facts.sharing
    lawful = facts.subject_known and not facts.suppressed and facts.contract and facts.basis is not None
    assert verdict.allowed == (lawful and ground and shares and unhindered(facts, purpose))
    assert verdict.basis == (facts.basis if verdict.allowed else None)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"subject_known": False}, Reason.UNKNOWN_SUBJECT),
        ({"subject_known": False, "suppressed": True}, Reason.UNKNOWN_SUBJECT),
        ({"suppressed": True}, Reason.SUPPRESSED),
        ({"contract": False, "basis": None}, Reason.NO_CONTRACT),
        ({"basis": None}, Reason.CONTRACT_FORBIDS_PURPOSE),
        ({"sharing": True}, Reason.CONTRACT_FORBIDS_SHARED_ADAPTER),
        ({"consent": None}, Reason.NO_GRANT),
        ({"consent": ConsentStatus.EXPIRED}, Reason.CONSENT_EXPIRED),
        ({"consent": ConsentStatus.WITHDRAWN}, Reason.CONSENT_WITHDRAWN),
        ({"consent": ConsentStatus.REFUSED}, Reason.CONSENT_REFUSED),
        ({"consent": ConsentStatus.OBJECTED}, Reason.OBJECTED),
        ({"basis": Basis.LEGITIMATE_INTEREST, "consent": ConsentStatus.OBJECTED}, Reason.OBJECTED),
        ({"restricted": True}, Reason.RESTRICTED),
        ({"held": True}, Reason.HELD),
        ({"unlawful": True}, Reason.UNLAWFUL_SOURCE),
        ({"region_allowed": False}, Reason.REGION_FORBIDDEN),
        ({"compatible": False}, Reason.NO_COMPATIBILITY_ASSESSMENT),
        ({"special_category": True}, Reason.SPECIAL_CATEGORY),
        ({"special_category": True, "special_basis": True}, Reason.ALLOWED),
        ({"contested": True}, Reason.CONTESTED),
        ({"minor": True}, Reason.MINOR),
        ({"basis": Basis.CONTRACT, "consent": None}, Reason.ALLOWED),
        ({"basis": Basis.LEGITIMATE_INTEREST, "consent": ConsentStatus.EXPIRED}, Reason.ALLOWED),
        ({"basis": Basis.LEGITIMATE_INTEREST, "consent": ConsentStatus.REFUSED}, Reason.CONSENT_REFUSED),
        ({"basis": Basis.CONTRACT, "consent": ConsentStatus.WITHDRAWN}, Reason.CONSENT_WITHDRAWN),
    ],
)
def test_reason(change: dict[str, object], reason: Reason) -> None:
    assert judge(Purpose.TRAIN_WEIGHTS, ALLOWED._replace(**change), T1).reasons == (reason,)  # type: ignore[arg-type]


def test_the_event_that_took_effect_last_counts_and_a_late_record_of_an_older_one_does_not() -> None:
    day = timedelta(days=1)
    withdrawn = consent(person(1), status=ConsentStatus.WITHDRAWN, at=T0 + 10 * day)
    late = consent(person(1), id="late", at=T0 + 5 * day, recorded_at=T0 + 20 * day)
    assert facts.consent_at([late, withdrawn], T1) is ConsentStatus.WITHDRAWN
    assert facts.consent_at([late, withdrawn], T0 + 9 * day) is None


def test_simultaneous_events_resolve_to_the_one_that_forbids() -> None:
    events = [consent(person(1)), consent(person(1), status=ConsentStatus.WITHDRAWN)]
    assert facts.consent_at(events, T1) is facts.consent_at(events[::-1], T1) is ConsentStatus.WITHDRAWN


def test_a_consent_expires_and_a_withdrawal_does_not() -> None:
    until = T0 + timedelta(days=1)
    assert facts.consent_at([consent(person(1), valid_to=until)], until) is ConsentStatus.EXPIRED
    withdrawn = consent(person(1), status=ConsentStatus.WITHDRAWN, valid_to=until)
    assert facts.consent_at([withdrawn], T1) is ConsentStatus.WITHDRAWN


def test_contract_that_ended_or_was_recorded_later_does_not_hold() -> None:
    assert facts.contract_at([contract(valid_to=T1)], T1) is None
    assert facts.contract_at([contract(recorded_at=T1)], T0) is None
    newer = contract(id="b", valid_from=T0 + timedelta(days=1))
    assert facts.contract_at([newer, contract()], T1) == newer


def test_tenants_share_only_when_every_contract_allows_it() -> None:
    held = {"a": contract("a", shared=True), "b": contract("b", shared=True), "c": contract("c"), "d": None}
    assert shared_tenants(held) == ("a", "b")
    assert [scope.name for scope in scopes("shop", held)] == ["shop@a+b", "shop@c", "shop@d"]
    held["b"] = contract("b", shared=True, purposes=[Purpose.SERVE])
    assert shared_tenants(held) == ()


@pytest.mark.parametrize("retention_class", RetentionClass)
def test_each_class_has_a_term(retention_class: RetentionClass) -> None:
    until = expiry(retention_class, T0)
    assert until - T0 == RETENTION[retention_class]
    assert is_overdue(until, until)
    assert not is_overdue(until, until - timedelta(microseconds=1))


def test_a_fact_that_another_supersedes_no_longer_stands_and_the_past_keeps_it() -> None:
    day = timedelta(days=1)
    hold = rights_fact(FactKind.HOLD, id="h")
    ended = rights_fact(FactKind.HOLD, id="e", supersedes="h", valid_to=T0 + 5 * day, recorded_at=T0 + 5 * day)
    assert facts.facts_at([hold, ended], T0 + 6 * day) == []
    assert facts.facts_at([hold, ended], T0 + 4 * day) == [hold]
    revoked = rights_fact(FactKind.HOLD, id="r", supersedes="h", valid_to=T0, recorded_at=T0 + day)
    assert facts.facts_at([hold, revoked], T0 + 2 * day) == []


def test_a_further_purpose_needs_an_assessment_or_consent() -> None:
    told = contract(basis=Basis.LEGITIMATE_INTEREST, collected_for=(Purpose.SERVE,))
    asked = contract(basis=Basis.CONSENT, collected_for=(Purpose.SERVE,))

    def compatible(held: Contract, *kinds: FactKind) -> bool:
        standing = [(kind, "") for kind in kinds]
        return facts.signature(
            held, Purpose.TRAIN_WEIGHTS, known=True, suppressed=False, sharing=False, consent=None, standing=standing
        ).compatible

    assert not compatible(told)
    assert compatible(told, FactKind.COMPATIBILITY)
    assert compatible(asked)
    assert compatible(contract(basis=Basis.LEGITIMATE_INTEREST))


def test_a_region_that_nobody_named_is_not_allowed() -> None:
    held = contract(regions=("DE", "KR"))

    def allowed(*regions: str) -> bool:
        standing = [(FactKind.JURISDICTION, region) for region in regions]
        return facts.signature(
            held, Purpose.EVALUATE, known=True, suppressed=False, sharing=False, consent=None, standing=standing
        ).region_allowed

    assert [allowed(), allowed("KR"), allowed("US"), allowed("KR", "US")] == [False, True, False, False]
