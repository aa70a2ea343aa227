"""Allow-lists and deny-lists in the store: owned, expiring, with history, without a raw value, erased on demand."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import text as sql

from governance.errors import Conflict, NotFound, RecordError, RightsError
from governance.masking.presidio_masker import PresidioMasker
from governance.masking_policies import StoredPolicies
from governance.policy.audit_chain import faults
from governance.records.masking_list import ListAct, ListName
from governance.records.masking_policy import PolicyFile, parse_policy_file
from governance.records.retention import RETENTION, RetentionClass
from governance.records.rights import Suppression
from governance.store import Store
from tests.governance.masking_lists import KEYS, PatternDetector, event
from tests.support.clock import ManualClock

PUBLIC = "help@acme.example"


def add(store: Store, clock: ManualClock, which: ListName, kind: str, value: str, **changes: object) -> None:
    store.masking_lists.add(event(which, kind, value, clock.now(), **changes))


def test_entries_count_until_their_end_and_their_history_stays(store: Store, clock: ManualClock) -> None:
    add(store, clock, ListName.ALLOW, "EMAIL_ADDRESS", PUBLIC)
    add(store, clock, ListName.DENY, "PERSON", "Zorblax")
    add(store, clock, ListName.ALLOW, "EMAIL_ADDRESS", PUBLIC, tenant_id="other")
    held = store.masking_lists.current("t")
    assert [(one.list_name, one.entity_type, one.words) for one in held] == [
        ("allow", "EMAIL_ADDRESS", 3), ("deny", "PERSON", 1)
    ]  # fmt: skip
    assert (held[0].owner, held[0].reason, held[0].actor) == ("privacy team", "test", "r-17")
    clock.advance(days=3)
    add(store, clock, ListName.ALLOW, "EMAIL_ADDRESS", PUBLIC, owner="brand team")
    assert [one.owner for one in store.masking_lists.current("t")] == ["brand team", "privacy team"]
    clock.advance(days=4)
    assert [one.list_name for one in store.masking_lists.current("t")] == ["allow"], "an end is an end"
    gone = event(ListName.ALLOW, "EMAIL_ADDRESS", PUBLIC, clock.now(), act=ListAct.REMOVE, until=clock.now())
    store.masking_lists.remove(gone)
    assert store.masking_lists.current("t") == ()
    with pytest.raises(NotFound, match="allow-list of t"):
        store.masking_lists.remove(gone)
    acts = [(one.list_name.value, one.act.value) for one in store.masking_lists.history("t")]
    assert acts == [("allow", "add"), ("deny", "add"), ("allow", "add"), ("allow", "remove")]


@pytest.mark.parametrize("until", [timedelta(0), timedelta(days=-1), timedelta(days=367)])
def test_an_entry_needs_an_end_within_a_year(store: Store, clock: ManualClock, until: timedelta) -> None:
    with pytest.raises(RecordError, match="needs an end"):
        add(store, clock, ListName.ALLOW, "EMAIL_ADDRESS", PUBLIC, until=clock.now() + until)


def test_a_value_stands_on_one_list(store: Store, clock: ManualClock) -> None:
    add(store, clock, ListName.DENY, "EMAIL_ADDRESS", PUBLIC)
    with pytest.raises(Conflict, match="deny-list of t"):
        add(store, clock, ListName.ALLOW, "EMAIL_ADDRESS", PUBLIC)
    clock.advance(days=7)
    add(store, clock, ListName.ALLOW, "EMAIL_ADDRESS", PUBLIC)


def test_each_act_is_audited_without_the_value(store: Store, clock: ManualClock) -> None:
    add(store, clock, ListName.ALLOW, "EMAIL_ADDRESS", PUBLIC, reason="our public address")
    (mine,) = store.audit.list("t")
    assert (mine.actor, mine.action, mine.target) == ("r-17", "masking_list_add", "masking-list:allow/1")
    (entry,) = store.masking_lists.current("t")
    for secret in (PUBLIC, entry.mention, entry.subject, "our public"):
        assert secret not in mine.model_dump_json()
    assert list(faults(store.audit.lines("t"))) == []


def test_no_column_holds_the_raw_value(store: Store, clock: ManualClock) -> None:
    add(store, clock, ListName.DENY, "PERSON", "Zorblax Quimby")
    with store._kit.db.read() as connection:
        rows = connection.execute(sql("select * from masking_list_events")).all()
    assert len(rows) == 1
    assert "zorblax" not in repr(rows).casefold()


def test_the_erasure_of_a_person_takes_their_value_off(store: Store, clock: ManualClock) -> None:
    add(store, clock, ListName.ALLOW, "EMAIL_ADDRESS", "ann@corp.example")
    add(store, clock, ListName.ALLOW, "EMAIL_ADDRESS", PUBLIC)
    whose = event(ListName.ALLOW, "EMAIL_ADDRESS", "ann@corp.example", clock.now()).subject
    assert store.erasable().count("t", whose) == 1
    store.erasable().erase("t", whose)
    assert store.erasable().count("t", whose) == 0
    assert [one.mention for one in store.masking_lists.history("t")] == [
        event(ListName.ALLOW, "EMAIL_ADDRESS", PUBLIC, clock.now()).mention
    ]
    store.rights.suppress(Suppression(tenant_id="t", subject=whose, since=clock.now(), request_id="r"))
    with pytest.raises(RightsError, match="erased"):
        add(store, clock, ListName.ALLOW, "EMAIL_ADDRESS", "ann@corp.example")


def test_the_history_is_swept_when_its_time_is_over(store: Store, clock: ManualClock) -> None:
    add(store, clock, ListName.DENY, "PERSON", "Zorblax")
    clock.advance(RETENTION[RetentionClass.EVIDENCE])
    assert store.sweep(clock.now())["masking_list_events"] == 1


def test_a_masker_follows_file_and_lists_as_they_are_now(store: Store, clock: ManualClock) -> None:
    file = parse_policy_file({"tenant": {"t": {"actions": {"PERSON": "keep"}}}}, "masking.toml")
    policies = StoredPolicies(file, store, clock)
    masker = PresidioMasker(KEYS, detector=PatternDetector(), policies=policies)
    text = f"Ann Miller, {PUBLIC}, Zorblax"

    def kept() -> list[str]:
        (found,) = masker.mask("t", [text])
        return [part for part in ("Ann Miller", PUBLIC, "Zorblax") if part in found.value]

    assert kept() == ["Ann Miller", "Zorblax"]
    first = policies.policy("t")
    assert policies.policy("t") is first
    add(store, clock, ListName.ALLOW, "EMAIL_ADDRESS", PUBLIC)
    add(store, clock, ListName.DENY, "PERSON", "Zorblax", until=clock.now() + timedelta(days=1))
    assert kept() == ["Ann Miller", PUBLIC]
    assert policies.policy("t").version != first.version
    clock.advance(days=1)
    assert kept() == ["Ann Miller", PUBLIC, "Zorblax"]
    clock.advance(days=6)
    assert kept() == ["Ann Miller", "Zorblax"]
    assert policies.policy("t").version == first.version
    assert StoredPolicies(PolicyFile(), store, clock, detectors="new").policy("t").version != first.version
