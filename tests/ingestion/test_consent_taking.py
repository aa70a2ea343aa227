"""Consent rows in the ledger of rights: hashed before they are written, once each, the same in every order."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from governance.keys import DerivedKeyProvider
from governance.masking.surrogate import Surrogates
from governance.policy.facts import consent_state
from governance.records.rights import ConsentState, ConsentStatus, Purpose, Suppression
from governance.store import Store, schema
from governance.store.notices import notice_digest
from ingestion.consent.item import ConsentItem
from ingestion.consent.taking import PART, Became, ConsentTaking
from tests.ingestion.pipe import empty_database
from tests.support.clock import ManualClock
from tests.support.ids import SeededIds

SECRET = DerivedKeyProvider("consent")
T0 = datetime(2026, 1, 1, tzinfo=UTC)
PERSON = "C-1001-Anna"


def subject(tenant: str, raw: str) -> str:
    return Surrogates(SECRET, tenant).subject(raw)


@pytest.fixture
def store(database_url: str, clock: ManualClock, ids: SeededIds) -> Iterator[Store]:
    opened = Store.open(database_url, clock=clock, ids=ids, block_key=str.encode)
    yield opened
    opened.close()


@pytest.fixture
def taking(store: Store, clock: ManualClock, ids: SeededIds) -> ConsentTaking:
    return ConsentTaking(store, subject, clock, ids)


def item(event: str = "e-1", status: str = "given", at: datetime = T0, **over: Any) -> ConsentItem:
    told = {"position": 1, "event_id": event, "subject": PERSON, "purpose": "train_weights"}
    return ConsentItem.model_validate(told | {"status": status, "at": at, "notice": "Exact words.\n"} | over)


def became(taking: ConsentTaking, *items: Any, tenant: str = "t") -> list[Became]:
    return [one.became for one in taking.take(tenant, items, "test")]


def state(store: Store, at: datetime, tenant: str = "t", raw: str = PERSON) -> ConsentState:
    return consent_state(store.rights.consent_events(tenant, subject(tenant, raw), Purpose.COMPLY), at)


def test_a_word_is_recorded_with_the_notice_and_the_raw_ids_are_nowhere(
    taking: ConsentTaking, store: Store, clock: ManualClock
) -> None:
    assert became(taking, item()) == [Became.RECORDED]
    found = state(store, clock.now())
    assert (found.status, found.since) == (ConsentStatus.GIVEN, T0)
    assert found.notice_digest == notice_digest("Exact words.\n")
    assert store.notices.text("t", found.notice_digest) == "Exact words.\n"
    with store.transaction():
        connection = store._kit.db._current
        assert connection is not None
        held = str([list(connection.execute(select(table))) for table in schema.METADATA.sorted_tables])
    assert subject("t", PERSON) in held
    assert PERSON not in held
    assert "e-1" not in held


def test_once_more_changes_nothing(taking: ConsentTaking, store: Store, clock: ManualClock) -> None:
    became(taking, item())
    before = store.rights.state()
    clock.advance(timedelta(days=1))
    assert became(taking, item(), item()) == [Became.DUPLICATE] * 2
    assert store.rights.state() == before


def test_an_id_that_stands_for_something_else_is_refused(
    taking: ConsentTaking, store: Store, clock: ManualClock
) -> None:
    became(taking, item())
    for other in ({"status": "withdrawn"}, {"subject": "C-2"}, {"at": T0 + timedelta(days=1)}, {"notice": "Other."}):
        assert became(taking, item(**other)) == [Became.REJECTED]
    assert state(store, clock.now()).status is ConsentStatus.GIVEN
    assert state(store, clock.now(), raw="C-2").status is None


def test_what_a_platform_says_of_the_next_minutes_counts_from_now(
    taking: ConsentTaking, store: Store, clock: ManualClock
) -> None:
    became(taking, item())
    ahead = item("e-2", "withdrawn", clock.now() + timedelta(minutes=3), notice=None)
    assert became(taking, ahead) == [Became.RECORDED]
    assert state(store, clock.now()).status is ConsentStatus.WITHDRAWN
    clock.advance(timedelta(hours=1))
    assert became(taking, ahead) == [Became.DUPLICATE]


minutes = st.integers(0, 4)


@given(
    st.lists(st.tuples(st.sampled_from(["given", "withdrawn", "objected"]), minutes), min_size=2, max_size=5), st.data()
)
@settings(max_examples=25, deadline=None)
def test_a_clock_that_runs_ahead_turns_no_order(said: list[tuple[str, int]], data: st.DataObject) -> None:
    """Rows arrive in any order, each at most five minutes before the time that the platform gave it."""
    start = ManualClock().now()
    items = [item(f"e-{n}", status, start + timedelta(minutes=minute)) for n, (status, minute) in enumerate(said)]
    shuffled = data.draw(st.permutations(items))
    found = _ends(shuffled, 1)
    last = max(minute for _, minute in said)
    strongest = max((status for status, minute in said if minute == last), key=["given", "withdrawn", "objected"].index)
    assert found[1] is ConsentStatus(strongest)


def test_a_no_from_a_clock_that_runs_ahead_outlives_an_older_yes(
    taking: ConsentTaking, store: Store, clock: ManualClock
) -> None:
    start = clock.now()
    became(taking, item("w", "withdrawn", start + timedelta(minutes=4), notice=None))
    clock.advance(timedelta(minutes=3))
    became(taking, item("g", "given", start + timedelta(minutes=2)))
    assert state(store, clock.now()).status is ConsentStatus.WITHDRAWN
    clock.advance(timedelta(hours=1))
    found = state(store, clock.now())
    assert (found.status, found.since) == (ConsentStatus.WITHDRAWN, start + timedelta(minutes=4))


def test_the_words_of_an_erased_person_are_not_recorded(
    taking: ConsentTaking, store: Store, clock: ManualClock
) -> None:
    gone = Suppression(tenant_id="t", subject=subject("t", PERSON), since=clock.now(), request_id="r")
    store.rights.suppress(gone)
    assert became(taking, item()) == [Became.SUPPRESSED]
    assert state(store, clock.now()).status is None
    assert store.notices.text("t", notice_digest("Exact words.\n")) is None


def test_tenants_do_not_meet(taking: ConsentTaking, store: Store, clock: ManualClock) -> None:
    became(taking, item())
    assert became(taking, item(status="withdrawn"), tenant="bolt") == [Became.RECORDED]
    assert state(store, clock.now()).status is ConsentStatus.GIVEN


def test_each_part_is_in_the_audit_with_who_took_it(taking: ConsentTaking, store: Store) -> None:
    items = [item(f"e-{number}", at=T0 + timedelta(hours=number)) for number in range(PART + 1)]
    assert len(became(taking, *items)) == PART + 1
    events = [one for one in store.audit.list("t") if one.action == "take_consents"]
    assert [(one.actor, one.role, one.detail) for one in events] == [
        ("tester", "reviewer", {"recorded": PART}),
        ("tester", "reviewer", {"recorded": 1}),
    ]


def test_a_run_that_broke_off_is_run_again(
    taking: ConsentTaking, store: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = [item(f"e-{number}", at=T0 + timedelta(hours=number)) for number in range(PART + 5)]
    whole, calls = store.rights.add_consents, []

    def breaks(events: Any, **how: Any) -> None:
        calls.append(1)
        if len(calls) > 1:
            raise KeyboardInterrupt
        whole(events, **how)

    monkeypatch.setattr(store.rights, "add_consents", breaks)
    with pytest.raises(KeyboardInterrupt):
        became(taking, *items)
    monkeypatch.undo()
    assert became(taking, *items) == [Became.DUPLICATE] * PART + [Became.RECORDED] * 5


words = st.lists(
    st.tuples(
        st.sampled_from(["given", "withdrawn", "objected", "refused", "renewed"]), st.integers(0, 3), st.integers(0, 2)
    ),
    min_size=1,
    max_size=6,
)


@given(words, st.randoms(use_true_random=False), st.integers(1, 3))
@settings(max_examples=25, deadline=None)
def test_every_order_and_every_repetition_ends_in_the_same_state(said: Any, draw: Any, size: int) -> None:
    items = [
        item(f"e-{number}", status, T0 + timedelta(days=day), until=T0 + timedelta(days=30 + until) if until else None)
        for number, (status, day, until) in enumerate(said)
    ]
    shuffled = [*items, *draw.sample(items, len(items) // 2)]
    draw.shuffle(shuffled)
    assert _ends(items, len(items)) == _ends(shuffled, size)


def _ends(items: list[ConsentItem], size: int) -> list[ConsentStatus | None]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.db"
        path.write_bytes(empty_database().read_bytes())
        clock = ManualClock()
        store = Store.open(f"sqlite:///{path}", clock=clock, ids=SeededIds(), block_key=str.encode)
        taking = ConsentTaking(store, subject, clock, SeededIds())
        for start in range(0, len(items), size):
            became(taking, *items[start : start + size])
            clock.advance(timedelta(seconds=1))
        found = [state(store, clock.now() + timedelta(days=day)).status for day in (0, 40)]
        store.close()
    return found
