"""Requirement 3: the consent state and the exact notice at any time; withdrawing takes no more steps than giving."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from governance.acting import Acting, acts_as
from governance.policy.acts import COMMANDS
from governance.policy.facts import consent_state
from governance.receipts import MANDATORY, receipt
from governance.records.controller import Controller
from governance.records.principal import THE_SERVICE, Role
from governance.records.rights import CONSENT_IRI, ConsentEvent, ConsentStatus, Purpose
from governance.store import Store
from ingestion.consent.item import ConsentItem, read_item
from pipelines.cli import main
from pipelines.commands.rights import rights
from pipelines.settings import load_settings
from pipelines.tenant_keys import TenantKeys
from tests.governance.store_records import T0, person

NOTICES = {"first": "We learn from what you tell us.", "second": "We learn from it, and share nothing.\n"}


def said(number: int, status: ConsentStatus, notice: str, **over: Any) -> ConsentEvent:
    at = T0 + timedelta(days=number)
    fields = {
        "id": f"e-{number}", "tenant_id": "acme", "subject": person(1), "purpose": Purpose.TRAIN_WEIGHTS,
        "status": status, "notice_digest": sha256(notice.encode()).hexdigest(), "valid_from": at, "recorded_at": at,
        "actor": "test",
    } | over  # fmt: skip
    return ConsentEvent.model_validate(fields)


def test_requirement_03_state_and_notice_at_every_time(store: Store) -> None:
    for text in NOTICES.values():
        store.notices.put("acme", text)
    store.rights.add_consents(
        [
            said(1, ConsentStatus.GIVEN, NOTICES["first"], valid_to=T0 + timedelta(days=5)),
            said(3, ConsentStatus.WITHDRAWN, NOTICES["first"]),
            said(7, ConsentStatus.RENEWED, NOTICES["second"]),
            said(9, ConsentStatus.OBJECTED, NOTICES["second"], recorded_at=T0 + timedelta(days=11)),
        ]
    )
    expected = {
        0: (None, None),
        1: (ConsentStatus.GIVEN, "first"),
        3: (ConsentStatus.WITHDRAWN, "first"),
        6: (ConsentStatus.WITHDRAWN, "first"),
        8: (ConsentStatus.RENEWED, "second"),
        10: (ConsentStatus.RENEWED, "second"),
        12: (ConsentStatus.OBJECTED, "second"),
    }
    events = store.rights.consent_events("acme", person(1), Purpose.COMPLY)
    for day, (status, notice) in expected.items():
        found = consent_state(events, T0 + timedelta(days=day))
        assert found.status is status
        if notice is not None:
            assert found.notice_digest == sha256(NOTICES[notice].encode()).hexdigest()
            assert store.notices.text("acme", found.notice_digest) == NOTICES[notice]
    assert store.notices.text("bolt", found.notice_digest or "") is None


def test_requirement_03_what_a_person_said_is_read_for_comply_alone(store: Store) -> None:
    from governance.errors import PurposeDenied, RoleDenied

    with pytest.raises(PurposeDenied):
        store.rights.consent_events("acme", person(1), Purpose.TRAIN_WEIGHTS)
    with acts_as(Acting(THE_SERVICE, Role.SERVICE)), pytest.raises(RoleDenied):
        store.rights.consent_events("acme", person(1), Purpose.COMPLY)


def test_requirement_03_withdrawing_takes_no_more_steps_than_giving() -> None:
    steps = {
        name: {(one.name, one.required, tuple(one.opts)) for one in rights.commands[name].params}
        for name in ("grant", "withdraw", "object")
    }
    assert steps["withdraw"] == steps["object"] == steps["grant"]
    assert set(COMMANDS["rights grant"].roles) <= set(COMMANDS["rights withdraw"].roles)
    now = datetime(2026, 5, 1, tzinfo=UTC)
    row = {"event_id": "e", "subject": "C-1", "purpose": "train_weights", "at": "2026-04-01T00:00:00Z"}
    assert not isinstance(read_item(row | {"status": "given"}, 1, now), ConsentItem), "a consent needs its notice"
    assert isinstance(read_item(row | {"status": "withdrawn"}, 1, now), ConsentItem)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database_url: str) -> Path:
    monkeypatch.setenv("TIDEMILL_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TIDEMILL_DATABASE_URL", database_url)
    monkeypatch.delenv("TIDEMILL_AGENT", raising=False)
    TenantKeys(load_settings().keys / "tenants.json").of("t")
    return tmp_path


def call(*words: str, person: str = "C-1\n", code: int = 0) -> Any:
    result = CliRunner().invoke(main, ["rights", *words, "--json"], input=person)
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def test_requirement_03_by_command_from_giving_to_the_receipt(home: Path) -> None:
    about = ("--tenant", "t", "--purpose", "train_weights")
    assert call("state", *about)["status"] is None
    call("grant", *about, "--notice", NOTICES["second"])
    call("withdraw", *about)
    found = call("state", *about)
    assert (found["status"], found["status_iri"]) == ("withdrawn", CONSENT_IRI[ConsentStatus.WITHDRAWN])
    made = call("receipt", *about)
    record = made["dpv:hasRecordOfActivity"]
    assert (made["@type"], record["@type"]) == ("dpv:ConsentReceipt", "dpv:ConsentRecord")
    assert record["dpv:hasProcess"]["dpv:hasPurpose"]["@id"] == "https://w3id.org/dpv/ai#ModelFineTuning"
    given_, withdrawn = record["dpv:hasStatus"]
    assert (given_["@type"], withdrawn["@type"]) == (
        "https://w3id.org/dpv#ConsentGiven",
        "https://w3id.org/dpv#ConsentWithdrawn",
    )
    assert given_["dpv:hasNotice"]["@id"] == f"urn:sha256:{sha256(NOTICES['second'].encode()).hexdigest()}"
    assert given_["dpv:hasNotice"]["dct:description"] == NOTICES["second"]
    assert set(made["tidemill:missing"]) == set(MANDATORY)
    assert "C-1" not in json.dumps(made)


def test_requirement_03_a_platforms_file_is_taken_in_once_and_says_what_was_not(home: Path) -> None:
    file = home / "platform.csv"
    rows = [
        "id,user,topic,choice,ts,text",
        "e-1,C-1,ML,in,2026-01-05T10:00:00Z,Exact words.",
        "e-2,C-2,ML,maybe,2026-01-05T10:00:00Z,Exact words.",
        "e-3,C-1,ML,out,2026-01-06T10:00:00Z,",
    ]
    file.write_text("\n".join(rows) + "\n")
    maps = [
        f"--map={one}"
        for one in ("event_id=id", "subject=user", "purpose=topic", "status=choice", "at=ts", "notice=text")
    ]
    words = [f"--word={one}" for one in ("purpose:ML=train_weights", "status:in=given", "status:out=withdrawn")]
    told = ("import", str(file), "--tenant", "t", *maps, *words)
    assert call(*told, "--dry-run", code=1)["written"] is False
    assert call(*told, "--whole", code=1)["written"] is False
    about = ("--tenant", "t", "--purpose", "train_weights")
    assert call("state", *about)["status"] is None
    first = call(*told, code=1)
    assert (first["recorded"], first["rejected"], first["written"]) == (2, 1, True)
    reason = "must be one of given, renewed, withdrawn, refused, expired, objected"
    assert first["not_taken"] == [{"position": 3, "status": "rejected", "field": "status", "reason": reason}]
    assert call(*told, code=1)["duplicate"] == 2
    assert call("state", *about)["status"] == "withdrawn"
    found = call("state", *about, "--at", "2026-01-05 12:00:00")
    assert found["status"] is None, "it was not known here then"


def test_requirement_03_a_receipt_names_who_answers_and_what_is_missing() -> None:
    told = Controller(
        name="Harbor Ltd", address="1 Quay", contact="privacy@harbor.example", jurisdictions=("DE",),
        storage_locations=("DE",), language="en", withdrawal="https://harbor.example/privacy",
    )  # fmt: skip
    event = said(1, ConsentStatus.GIVEN, "words")
    made = receipt("acme", Purpose.TRAIN_WEIGHTS, ConsentStatus.GIVEN, [event], {}, told, T0)
    record = made["dpv:hasRecordOfActivity"]
    assert made["tidemill:missing"] == []
    assert record["dpv:hasDataController"]["dpv:hasName"] == "Harbor Ltd"
    assert record["dpv:hasProcess"]["dpv:hasConsentControl"]["@type"] == "dpv:WithdrawConsent"
    assert "dct:description" not in record["dpv:hasStatus"][0]["dpv:hasNotice"], (
        "a text that is not kept is not made up"
    )
    again = receipt("acme", Purpose.TRAIN_WEIGHTS, ConsentStatus.GIVEN, [event], {}, told, T0)
    assert made == again
