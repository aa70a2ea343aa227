"""Requirement 11: a model counts as holding personal data unless an anonymity file with both tests says otherwise."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.errors import Conflict, RecordError
from governance.policy.anonymity import MEMBERSHIP_BOUND, NO_FILE, why_personal
from governance.records.gate import Interval
from governance.records.leak import AnonymityFile, LeakArm, LeakReport, LeakVerdict, MembershipReport
from governance.store import Store
from tests.support.clock import ManualClock

NOW = datetime(2026, 6, 9, tzinfo=UTC)
ADAPTER, OTHER = "a" * 64, "b" * 64
DAY = timedelta(days=1)


def leak(verdict: LeakVerdict = LeakVerdict.NO_LEAK_FOUND, adapter: str = ADAPTER) -> LeakReport:
    arms = [LeakArm(adapter=name, ranks=(3, 9), exposure=1.0, p_value=0.4, extracted=0) for name in (adapter, "c" * 64)]
    return LeakReport(
        candidate=arms[0], control=arms[1], canaries=2, copies=1, places=16, apart_p=0.001, alpha=0.01, seed="s",
        verdict=verdict, reason="r", at=NOW,
    )  # fmt: skip


def membership(high: float = 0.55, adapter: str = ADAPTER) -> MembershipReport:
    interval = Interval(low=0.45, high=high, confidence=0.95)
    return MembershipReport(adapter=adapter, members=40, others=40, auc=0.5, interval=interval, at=NOW)


def file(**changes: Any) -> AnonymityFile:
    parts = {
        "id": "f-1", "adapter": ADAPTER, "leak": leak(), "membership": membership(), "author": "r-2",
        "approver": "r-7", "reason": "DPIA 12", "valid_from": NOW, "valid_to": NOW + 30 * DAY,
    }  # fmt: skip
    return AnonymityFile.parse({**parts, **changes}, "anonymity file")


def test_without_a_file_it_holds_personal_data(store: Store) -> None:
    assert store.leaks.why_personal(ADAPTER) == NO_FILE


def test_tests_without_a_file_change_nothing(store: Store) -> None:
    store.leaks.put_report(leak())
    store.leaks.put_membership(membership())
    assert store.leaks.why_personal(ADAPTER) == NO_FILE
    assert [store.leaks.reports(ADAPTER), store.leaks.memberships(ADAPTER)] == [(leak(),), (membership(),)]
    assert [store.leaks.reports(OTHER), store.leaks.memberships(OTHER)] == [(), ()]


def test_a_file_says_otherwise_of_its_adapter_and_while_it_holds(store: Store, clock: ManualClock) -> None:
    now = clock.now()
    store.leaks.put_file(file(valid_from=now, valid_to=now + 30 * DAY))
    assert store.leaks.why_personal(ADAPTER) is None
    assert store.leaks.why_personal(OTHER) == NO_FILE
    clock.advance(31 * DAY)
    assert "not valid at this time" in str(store.leaks.why_personal(ADAPTER))


def test_a_file_is_stored_once_and_never_changed(store: Store) -> None:
    store.leaks.put_file(file())
    store.leaks.put_file(file())
    with pytest.raises(Conflict, match="f-1"):
        store.leaks.put_file(file(reason="DPIA 13"))
    assert store.leaks.files(ADAPTER) == (file(),)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"leak": leak(LeakVerdict.LEAK)}, "leak test says leak"),
        ({"leak": leak(LeakVerdict.TOO_WEAK)}, "leak test says too_weak"),
        ({"membership": membership(high=MEMBERSHIP_BOUND)}, "membership may be told"),
        ({"valid_from": NOW + DAY}, "not valid"),
    ],
)
def test_a_file_whose_tests_do_not_say_it_does_not_say_it(changes: dict[str, Any], why: str) -> None:
    assert why in str(why_personal(ADAPTER, [file(**changes)], NOW))


@pytest.mark.parametrize(
    "changes",
    [
        {"approver": "r-2"},
        {"leak": leak(adapter=OTHER)},
        {"membership": membership(adapter=OTHER)},
        {"valid_to": NOW},
        {"reason": ""},
    ],
)
def test_a_file_nobody_else_approved_or_about_another_adapter_is_none(changes: dict[str, Any]) -> None:
    with pytest.raises(RecordError, match="anonymity file"):
        file(**changes)


@given(st.permutations([file(), file(id="f-2", leak=leak(LeakVerdict.LEAK)), file(id="f-3", valid_to=NOW + DAY)]))
def test_the_order_of_files_does_not_matter(files: list[AnonymityFile]) -> None:
    assert why_personal(ADAPTER, files, NOW + 2 * DAY) is None


@pytest.mark.parametrize("test", ["leak", "membership"])
def test_a_later_test_disproves_a_file_until_another_file_rests_on_newer_tests(
    store: Store, clock: ManualClock, test: str
) -> None:
    now = clock.now()
    made = {"at": now}
    good = leak().model_copy(update=made), membership().model_copy(update=made)
    fields = {"leak": good[0], "membership": good[1], "valid_from": now, "valid_to": now + 30 * DAY}
    store.leaks.put_report(good[0])
    store.leaks.put_membership(good[1])
    store.leaks.put_file(file(**fields))
    store.leaks.put_report(leak(LeakVerdict.LEAK).model_copy(update={"at": now - DAY}))
    store.leaks.put_membership(membership(high=0.9).model_copy(update={"at": now - DAY}))
    store.leaks.put_report(leak(LeakVerdict.TOO_WEAK).model_copy(update={"at": now + DAY}))
    assert store.leaks.why_personal(ADAPTER) is None, "older tests and those that say nothing disprove nothing"
    later = {"at": now + DAY}
    if test == "leak":
        store.leaks.put_report(leak(LeakVerdict.LEAK).model_copy(update=later))
    else:
        store.leaks.put_membership(membership(high=0.9).model_copy(update=later))
    assert "later" in str(store.leaks.why_personal(ADAPTER))
    newest = {"at": now + 2 * DAY}
    fields |= {"leak": good[0].model_copy(update=newest), "membership": good[1].model_copy(update=newest)}
    store.leaks.put_file(file(id="f-2", **fields))
    assert store.leaks.why_personal(ADAPTER) is None


def test_a_file_can_be_revoked(store: Store, clock: ManualClock) -> None:
    now = clock.now()
    one = file(valid_from=now, valid_to=now + 30 * DAY)
    store.leaks.put_file(one)
    store.leaks.put_file(one.model_copy(update={"id": "f-1-revoked", "supersedes": "f-1", "reason": "DPIA 13"}))
    assert store.leaks.why_personal(ADAPTER) == "anonymity file f-1 was revoked (DPIA 13)"
