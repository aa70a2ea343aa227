"""Four eyes: another person, in a fitting role, for exactly this thing and for a time."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.acting import Acting, acts_as
from governance.approvals import TERM, Approvals
from governance.assessments import AssessmentDesk
from governance.errors import ApprovalMissing, NotFound, RoleDenied
from governance.records.approval import APPROVERS, Approval, ApprovedAct, Decision, FourEyes
from governance.records.assessment import DataCategory
from governance.records.principal import HUMAN_ROLES, Principal, PrincipalKind, Role
from governance.records.rights import Purpose
from governance.records.rights_request import RequestKind, RightsRequest
from governance.store import Store
from tests.governance.loop_records import turn
from tests.governance.store_records import T0, person
from tests.support.clock import ManualClock
from tests.support.ids import SeededIds

EVERYTHING = FourEyes(required=frozenset(ApprovedAct))
ERASURE = ("acme", ApprovedAct.ERASURE, "request-1")


@pytest.fixture
def approvals(store: Store, clock: ManualClock, ids: SeededIds) -> Approvals:
    asked(store, clock)
    return Approvals(store, clock, ids, EVERYTHING)


def asked(store: Store, clock: ManualClock, by: str = "r-1") -> None:
    """The erasure, as ``by`` took it in."""
    now = clock.now()
    store.requests.put(
        RightsRequest(
            id=ERASURE[2], tenant_id="acme", subject=person(1), kind=RequestKind.ERASURE, requested_at=now,
            due_at=now + TERM, actor=by,
        )
    )  # fmt: skip


def acts(name: str, *roles: Role, tenants: tuple[str, ...] | None = None) -> Acting:
    return Acting(Principal(name=name, kind=PrincipalKind.PERSON, roles=roles, tenants=tenants), roles[0])


def approve(approvals: Approvals, who: Acting, decision: Decision = Decision.APPROVED) -> Approval:
    with acts_as(who):
        return approvals.decide(*ERASURE, decision, reason="case 7")


def test_another_person_in_a_fitting_role_lets_it_go_on(approvals: Approvals, store: Store) -> None:
    with pytest.raises(ApprovalMissing, match="reviewer or admin who is not r-1"):
        approvals.require(*ERASURE)
    made = approve(approvals, acts("r-2", Role.ENGINEER, Role.REVIEWER))
    assert approvals.require(*ERASURE) == made
    (event,) = store.audit.list("acme")
    assert (event.actor, event.role, event.action, event.target) == (
        "r-2",
        "reviewer",
        "erasure_approved",
        "erasure:request-1",
    )


def test_who_built_it_may_not_approve_it_but_may_refuse(approvals: Approvals) -> None:
    with pytest.raises(RoleDenied, match="another person"):
        approve(approvals, acts("r-1", Role.REVIEWER))
    approve(approvals, acts("r-1", Role.REVIEWER), Decision.REFUSED)
    with pytest.raises(ApprovalMissing):
        approvals.require(*ERASURE)


def test_an_approval_on_record_by_who_built_it_does_not_count(approvals: Approvals, store: Store) -> None:
    made = approve(approvals, acts("r-2", Role.REVIEWER))
    store.approvals.put(made.model_copy(update={"id": "own", "approver": "r-1", "builder": "somebody-else"}))
    assert approvals.standing(*ERASURE) is None
    with pytest.raises(ApprovalMissing):
        approvals.require(*ERASURE)


@pytest.mark.parametrize("act", [act for act in ApprovedAct if act is not ApprovedAct.REVIEW])
def test_what_is_not_on_record_or_another_tenants_cannot_be_approved(approvals: Approvals, act: ApprovedAct) -> None:
    with acts_as(acts("r-2", *HUMAN_ROLES)):
        with pytest.raises(NotFound):
            approvals.decide("acme", act, "f" * 64, Decision.APPROVED, reason="case 7")
        with pytest.raises(NotFound):
            approvals.decide("bolt", *ERASURE[1:], Decision.APPROVED, reason="case 7")


def test_who_built_each_thing_stands_in_its_record(
    approvals: Approvals, store: Store, clock: ManualClock, ids: SeededIds
) -> None:
    until = clock.now() + TERM
    with acts_as(acts("e-1", *HUMAN_ROLES)):
        made = turn(store)
        held = (DataCategory.COMMUNICATION,)
        desk = AssessmentDesk(store, approvals, clock, ids)
        assessed = desk.add("acme", Purpose.TRAIN_WEIGHTS, held, document="d", until=until)
        built = {
            ApprovedAct.PROMOTION: made.release,
            ApprovedAct.DATASET: made.dataset,
            ApprovedAct.ASSESSMENT: assessed.id,
        }
        for act, target in built.items():
            with pytest.raises(RoleDenied, match="e-1 made it"):
                approvals.decide("acme", act, target, Decision.APPROVED, reason="case 7")
    with acts_as(acts("r-2", *HUMAN_ROLES)):
        for act, target in built.items():
            assert approvals.decide("acme", act, target, Decision.APPROVED, reason="case 7").builder == "e-1"


def test_a_decision_on_a_review_is_never_its_own_approval(approvals: Approvals) -> None:
    about = ("acme", ApprovedAct.REVIEW, "item:release")
    with acts_as(acts("r-1", Role.REVIEWER)):
        approvals.decide(*about, Decision.APPROVED, reason="case 7")
        with pytest.raises(ApprovalMissing):
            approvals.require(*about)
    with acts_as(acts("r-2", Role.REVIEWER)):
        assert approvals.require(*about)


@pytest.mark.parametrize("role", [Role.ENGINEER, Role.RELEASE_MANAGER])
def test_a_role_that_does_not_fit_is_refused(approvals: Approvals, role: Role) -> None:
    with pytest.raises(RoleDenied, match="approved by reviewer or admin"):
        approve(approvals, acts("r-2", role))


def test_a_principal_of_another_tenant_is_refused(approvals: Approvals) -> None:
    with pytest.raises(RoleDenied):
        approve(approvals, acts("r-2", Role.REVIEWER, tenants=("bolt",)))


def test_it_is_bound_to_tenant_act_and_target_and_ends_by_itself(approvals: Approvals, clock: ManualClock) -> None:
    approve(approvals, acts("r-2", Role.REVIEWER))
    for other in (
        ("bolt", ERASURE[1], ERASURE[2]),
        ("acme", ApprovedAct.REVIEW, ERASURE[2]),
        (*ERASURE[:2], "request-2"),
    ):
        assert approvals.standing(*other) is None
    clock.advance(TERM)
    assert approvals.standing(*ERASURE) is None


def test_the_last_word_counts(approvals: Approvals, clock: ManualClock) -> None:
    approve(approvals, acts("r-2", Role.REVIEWER))
    clock.advance(timedelta(minutes=1))
    approve(approvals, acts("r-3", Role.REVIEWER), Decision.REFUSED)
    assert approvals.standing(*ERASURE) is None


def test_what_the_policy_does_not_ask_for_needs_none(store: Store, clock: ManualClock, ids: SeededIds) -> None:
    assert Approvals(store, clock, ids, FourEyes()).require(*ERASURE) is None


@given(st.sampled_from(ApprovedAct), st.sampled_from(Role))
def test_only_the_roles_of_the_table_make_an_approval(act: ApprovedAct, role: Role) -> None:
    fields = {
        "id": "a", "tenant_id": "t", "act": act, "target": "x", "builder": "b", "approver": "c", "role": role,
        "decision": "approved", "reason": "", "at": T0, "until": T0 + TERM,
    }  # fmt: skip
    try:
        Approval.model_validate(fields)
    except ValueError:
        assert role not in APPROVERS[act]
    else:
        assert role in APPROVERS[act]
