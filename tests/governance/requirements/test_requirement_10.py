"""Requirement 10: no training without an approved, unexpired assessment of its purpose and data categories."""

from __future__ import annotations

from datetime import timedelta

import pytest

from governance.acting import Acting, acts_as
from governance.approvals import Approvals
from governance.assessments import AssessmentDesk
from governance.errors import NotFound, RecordError, RoleDenied
from governance.policy.rights import DEFAULT
from governance.records.approval import FourEyes
from governance.records.assessment import Assessment, DataCategory
from governance.records.principal import Principal, PrincipalKind, Role
from governance.records.rights import FactKind, Purpose
from governance.records.rights_policy import AssessmentTerms
from governance.store import Store
from tests.governance.conftest import block_key
from tests.governance.store_records import rights_fact
from tests.governance.test_store_manifests import ANN, DAY, TRAIN, filled
from tests.support.clock import ManualClock
from tests.support.ids import SeededIds

BOTH = (DataCategory.COMMUNICATION, DataCategory.STAFF)


def who(name: str) -> Acting:
    return Acting(Principal(name=name, kind=PrincipalKind.PERSON, roles=(Role.REVIEWER,)), Role.REVIEWER)


@pytest.fixture
def desk(store: Store, clock: ManualClock, ids: SeededIds) -> AssessmentDesk:
    return AssessmentDesk(store, Approvals(store, clock, ids, FourEyes()), clock, ids)


def missing(store: Store, desk: AssessmentDesk, root: str) -> str:
    return "; ".join(desk.missing(TRAIN, store.datasets.rows(root, TRAIN)))


def added(desk: AssessmentDesk, clock: ManualClock, *categories: DataCategory, purpose: Purpose = TRAIN) -> Assessment:
    with acts_as(who("r-1")):
        return desk.add("acme", purpose, categories or BOTH, document="DPIA-7", until=clock.now() + 10 * DAY)


def approved(desk: AssessmentDesk, made: Assessment) -> None:
    with acts_as(who("r-2")):
        desk.approve("acme", made.id, reason="board 12")


def test_requirement_10_training_waits_for_an_approved_assessment(
    store: Store, desk: AssessmentDesk, clock: ManualClock
) -> None:
    root, _ = filled(store)
    assert "no approved, unexpired assessment of train_weights covers communication, staff" in missing(
        store, desk, root
    )
    made = added(desk, clock)
    assert f"{made.id} waits for approval" in missing(store, desk, root)
    approved(desk, made)
    assert missing(store, desk, root) == ""
    clock.advance(10 * DAY)
    assert "no approved, unexpired" in missing(store, desk, root)
    assert [one["state"] for one in desk.listed("acme")] == ["expired"]


def test_requirement_10_its_author_does_not_approve_it(store: Store, desk: AssessmentDesk, clock: ManualClock) -> None:
    root, _ = filled(store)
    made = added(desk, clock)
    with acts_as(who("r-1")), pytest.raises(RoleDenied, match="another person"):
        desk.approve("acme", made.id, reason="mine")
    assert missing(store, desk, root)


def test_requirement_10_it_covers_purpose_and_categories(
    store: Store, desk: AssessmentDesk, clock: ManualClock
) -> None:
    root, _ = filled(store)
    approved(desk, added(desk, clock, purpose=Purpose.EVALUATE))
    approved(desk, added(desk, clock, DataCategory.COMMUNICATION))
    assert "covers staff" in missing(store, desk, root)
    approved(desk, added(desk, clock, DataCategory.STAFF))
    assert missing(store, desk, root) == ""
    now = clock.now()
    store.rights.add_facts(
        [
            rights_fact(kind, ANN, valid_from=now, recorded_at=now)
            for kind in (FactKind.SPECIAL_CATEGORY, FactKind.SPECIAL_BASIS)
        ]
    )
    assert "covers special_category" in missing(store, desk, root)


def test_requirement_10_one_that_was_ended_or_refused_covers_nothing(
    store: Store, desk: AssessmentDesk, clock: ManualClock
) -> None:
    root, _ = filled(store)
    made = added(desk, clock)
    approved(desk, made)
    clock.advance(timedelta(hours=1))
    desk.end("acme", made.id, reason="audit 4")
    assert missing(store, desk, root)
    assert [one["state"] for one in desk.listed("acme")] == ["ended"]
    with pytest.raises(NotFound):
        desk.approve("acme", made.id, reason="again")
    assert [one.action for one in store.audit.list("acme") if "assessment" in one.action] == [
        "assessment_added",
        "assessment_approved",
        "assessment_ended",
    ]


def test_requirement_10_it_is_settable_for_each_tenant(database_url: str, clock: ManualClock, ids: SeededIds) -> None:
    for terms, waits in (
        (AssessmentTerms(required=True, tenants={"acme": False}), False),
        (AssessmentTerms(required=False), False),
        (AssessmentTerms(required=False, tenants={"acme": True}), True),
    ):
        policy = DEFAULT.model_copy(update={"assessment": terms})
        store = Store.open(database_url, clock=clock, block_key=block_key, ids=ids, policy=policy)
        desk = AssessmentDesk(store, Approvals(store, clock, ids, FourEyes()), clock, ids)
        root, _ = filled(store)
        assert bool(missing(store, desk, root)) is waits
        store.close()


def test_an_assessment_of_another_tenant_is_not_ended(store: Store, desk: AssessmentDesk, clock: ManualClock) -> None:
    made = added(desk, clock)
    other = made.model_copy(update={"id": "x", "tenant_id": "bolt", "supersedes": made.id})
    with pytest.raises(RecordError, match="none of bolt"):
        store.assessments.add(other)
