"""``tidemill pii list`` and ``review``: values are typed, never kept; looks and decisions are audited; lists follow."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from governance.acting import Acting, acts_as
from governance.approvals import Approvals
from governance.door import Door
from governance.errors import ApprovalMissing, RecordError
from governance.masking.judgement import require_unsaid
from governance.masking.presidio_masker import PresidioMasker
from governance.records.approval import ApprovedAct, Decision, FourEyes
from governance.records.base import to_unix_nano
from governance.records.ledger import Fate
from governance.records.principal import Principal, PrincipalKind, Role
from governance.records.review import ReviewDecision, target_of
from governance.records.rights import Basis, Contract, Purpose, PurposeTerm
from ingestion.envelope import Envelope
from ingestion.otlp_decode import JSON
from ingestion.reviewing import KEPT, Verdict
from pipelines import tables
from pipelines.cli import main
from pipelines.settings import load_settings
from pipelines.tenant_keys import TenantKeys
from pipelines.wiring import Mill
from tests.governance.masking_lists import PATTERNS, PatternDetector
from tests.ingestion.otlp_bodies import body, span_json

A = "a" * 32
TENANT = "acme"


@pytest.fixture
def mill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mill]:
    monkeypatch.setenv("TIDEMILL_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TIDEMILL_REVIEW_SHARE", "1")
    monkeypatch.delenv("TIDEMILL_AGENT", raising=False)
    monkeypatch.setitem(PATTERNS, "PERSON", (r"\b(?:Ann|Bert) [A-Z]\w+", 0.45))
    TenantKeys(load_settings().keys / "tenants.json").of(TENANT)
    with Mill(load_settings()) as made:
        masker = PresidioMasker(made.keys, detector=PatternDetector(), policies=made.policies)
        made.__dict__["masker"] = masker
        made.__dict__["door"] = Door(made.store, masker, made.keys, made.clock, ids=made.ids, review_share=1.0)
        now = made.clock.now() - timedelta(days=1)
        terms = tuple(PurposeTerm(purpose=purpose, basis=Basis.CONTRACT) for purpose in Purpose)
        contract = Contract(id="c", tenant_id=TENANT, terms=terms, valid_from=now, recorded_at=now)
        made.store.rights.add_contract(contract)
        yield made


def send(mill: Mill, *texts: str) -> None:
    spans = []
    for number, text in enumerate(texts, 1):
        asked = json.dumps([{"role": "user", "parts": [{"type": "text", "content": text}]}])
        held = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": asked, "user.id": "cust-0012"}
        spans.append(span_json(number, None if number == 1 else 1, A, attributes=held))
    received = to_unix_nano(mill.clock.now())
    mill.spool.append(TENANT, Envelope(content_type=JSON, received_unix_nano=received, body=body(*spans)).pack())
    mill.drain(patient=False).run()


def call(*words: str, typed: str = "", ok: bool = True) -> dict[str, Any]:
    done = CliRunner().invoke(main, ["pii", *words, "--json"], input=typed)
    assert (done.exit_code == 0) is ok, done.output
    told: dict[str, Any] = json.loads(done.output)
    return told


def item(mill: Mill, kind: str, found: int = 1) -> dict[str, Any]:
    (one,) = [one for one in mill.reviewing.open_items(TENANT) if (one["kind"], one["found"]) == (kind, found)]
    return one


def actions(mill: Mill) -> list[tuple[str, str, str]]:
    events = mill.store.audit.list(TENANT)
    return [(one.actor, one.role, one.action) for one in events if one.actor.startswith("r-")]


ENTRY = ("--owner", "brand team", "--reason", "name of a product", "--days", "30")


def test_the_queue_holds_no_value_and_a_look_is_audited(mill: Mill, tmp_path: Path) -> None:
    send(mill, "Ann Miller is here", "Ann Miller again", "diabetes of Bert Stone")
    listed = call("review", "list")
    kinds = sorted(one["kind"] for one in listed["items"])
    assert kinds.count("low_confidence") == 1, "a value that two messages repeat is asked about once"
    assert kinds.count("special_category") == 1
    assert "sample" in kinds
    assert not any(word in json.dumps(listed) for word in ("Ann", "Bert", "diabetes"))
    held = b"".join(path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file())
    assert not any(word in held for word in (b"Miller", b"Stone", b"diabetes"))
    one = item(mill, "low_confidence")
    shown = call("review", "show", one["id"][:12], "--reviewer", "r-17")
    assert (shown["excerpts"][0]["value"], shown["excerpts"][0]["after"]) == ("Ann Miller", " is here")
    special = call("review", "show", item(mill, "special_category")["id"][:12], "--reviewer", "r-17")
    assert "diabetes" in json.dumps(special["spans"])
    assert actions(mill) == [("r-17", "reviewer", "view_review"), ("r-17", "reviewer", "view_quarantine")]


def test_not_personal_becomes_an_entry_of_the_allow_list(mill: Mill) -> None:
    send(mill, "Ann Miller is here")
    id_ = item(mill, "low_confidence")["id"]
    call("review", "decide", id_[:12], "not_personal", "--reviewer", "r-17", ok=False)
    assert item(mill, "low_confidence"), "without an owner nothing is decided"
    call("review", "decide", id_[:12], "not_personal", "--reviewer", "r-17", *ENTRY)
    (entry,) = mill.store.masking_lists.current(TENANT)
    assert (entry.list_name, entry.owner, entry.actor) == ("allow", "brand team", "r-17")
    assert entry.until - entry.at == timedelta(days=30)
    assert mill.masker.mask(TENANT, ["Ann Miller"])[0].value == "Ann Miller"
    assert actions(mill)[-1] == ("r-17", "reviewer", "review_not_personal")
    call("review", "decide", id_[:12], "personal", "--reviewer", "r-17", ok=False)
    send(mill, "Ann Miller is back")
    assert not [one for one in mill.reviewing.open_items() if one["kind"] == "low_confidence"]


def test_what_a_sample_shows_as_missed_is_masked_from_then_on(mill: Mill) -> None:
    send(mill, "Zorblax Quimby is here")
    sample = next(one for one in mill.reviewing.open_items() if one["kind"] == "sample" and "Zorblax" in json.dumps(
        mill.reviewing.show(one["id"], "r-17")))  # fmt: skip
    words = ("review", "decide", sample["id"][:12], "missed", "--reviewer", "r-17", *ENTRY)
    assert "did you mean PERSON" in call(*words, typed="PERSN Zorblax Quimby\n", ok=False)["error"]
    told = call(*words, typed="PERSON Zorblax Quimby\n")
    assert (told["missed"], told["entries"]) == (1, ["deny:PERSON"])
    assert "Zorblax" not in mill.masker.mask(TENANT, ["so says zorblax quimby"])[0].value.title()
    (decided,) = mill.store.reviews.decisions(TENANT)
    assert (decided.kind, decided.decision, decided.missed, decided.reviewer) == ("sample", "missed", 1, "r-17")


def test_a_special_category_is_released_or_destroyed(mill: Mill) -> None:
    send(mill, "hello", "diabetes of Bert Stone")
    one = item(mill, "special_category")
    assert one["types"] == ["HEALTH"]
    call("review", "decide", one["id"][:12], "not_personal", "--reviewer", "r-17", *ENTRY, ok=False)
    told = mill.reviewing.decide(one["id"], Verdict(ReviewDecision.RELEASE, "r-17"))
    assert told["released"] == {"updated": 1}
    assert mill.store.quarantine.list() == ()
    assert [one.decision for one in mill.store.reviews.decisions(TENANT)] == ["release"]
    assert [action for _, _, action in actions(mill)] == ["release_from_quarantine", "review_release"]


@pytest.mark.parametrize(
    ("text", "kind", "decision"),
    [
        ("Ann Miller is here", "low_confidence", ReviewDecision.PERSONAL),
        ("diabetes of Bert Stone", "special_category", ReviewDecision.RELEASE),
    ],
)
def test_a_decision_waits_for_another_person_where_the_policy_asks_for_one(
    mill: Mill, text: str, kind: str, decision: ReviewDecision
) -> None:
    policy = FourEyes(required=frozenset({ApprovedAct.REVIEW}))
    mill.__dict__["approvals"] = Approvals(mill.store, mill.clock, mill.ids, policy)
    send(mill, "hello", text)
    one = item(mill, kind)
    told = Verdict(decision, "r-17", "brand team", "a customer", 30)
    target = target_of(one["id"], decision)

    def by(name: str) -> Acting:
        return Acting(Principal(name=name, kind=PrincipalKind.PERSON, roles=(Role.REVIEWER,)), Role.REVIEWER)

    def approve(what: str, said: Decision = Decision.APPROVED) -> None:
        mill.approvals.decide(TENANT, ApprovedAct.REVIEW, what, said, reason="case 7")

    with acts_as(by("r-17")):
        with pytest.raises(ApprovalMissing, match=target):
            mill.reviewing.decide(one["id"], told)
        approve(target)
        with pytest.raises(ApprovalMissing, match="who is not r-17"):
            mill.reviewing.decide(one["id"], told)
    with acts_as(by("r-18")):
        approve(target_of(one["id"], ReviewDecision.DESTROY))
    with acts_as(by("r-17")), pytest.raises(ApprovalMissing):
        mill.reviewing.decide(one["id"], told)  # another decision was approved
    assert item(mill, kind), "nothing was closed"
    assert mill.store.reviews.decisions(TENANT) == ()
    with acts_as(by("r-18")):
        approve(target)
    with acts_as(by("r-17")):
        mill.reviewing.decide(one["id"], told)
    assert [one.decision for one in mill.store.reviews.decisions(TENANT)] == [decision]


def test_items_leave_with_their_person_and_their_time(mill: Mill) -> None:
    send(mill, "Ann Miller is here")
    subject = mill.door.subject(TENANT, "cust-0012")
    assert mill.store.reviews.list(TENANT)
    mill.store.erasable().erase(TENANT, subject)
    assert mill.store.reviews.list(TENANT) == ()
    send(mill, "Bert Stone is here")
    assert mill.store.sweep(mill.clock.now() + KEPT)["reviews"] >= 1


def test_values_are_listed_from_standard_input_and_shown_by_identifier(mill: Mill) -> None:
    words = ("list", "add", "--tenant", TENANT, "--list", "allow", "--type", "EMAIL_ADDRESS", "--by", "r-17")
    end = ("--owner", "brand team", "--days", "30")
    typed = "help@acme.example\n"
    assert "repeats the value" in call(*words, *end, "--reason", "as HELP@acme.example", typed=typed, ok=False)["error"]
    assert "standard input" in call(*words, *end, "--reason", "public", ok=False)["error"]
    added = call(*words, *end, "--reason", "public", typed=typed)
    shown = call("list", "show", "--tenant", TENANT)
    assert shown["entries"] == [added]
    assert "help@" not in json.dumps(shown)
    assert mill.masker.mask(TENANT, ["help@acme.example"])[0].value == "help@acme.example"
    gone = (
        "list",
        "remove",
        added["entry"],
        "--tenant",
        TENANT,
        "--list",
        "allow",
        "--reason",
        "closed",
        "--by",
        "r-18",
    )
    call(*gone)
    assert call("list", "show", "--tenant", TENANT)["entries"] == []
    history = call("list", "show", "--tenant", TENANT, "--history")["entries"]
    assert [(one["act"], one["actor"], one["reason"]) for one in history] == [
        ("add", "r-17", "public"), ("remove", "r-18", "closed")
    ]  # fmt: skip
    call(*gone, ok=False)


def test_a_policy_says_what_each_type_leads_to(mill: Mill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = call("policy", "--tenant", TENANT)
    assert "HEALTH" in before["quarantine"]
    path = tmp_path / "masking.toml"
    path.write_text('[tenant.acme]\nactions = {HEALTH = "mask"}\nthresholds = {PERSON = 0.6}\n')
    monkeypatch.setenv("TIDEMILL_MASKING_POLICY", str(path))
    after = call("policy", "--tenant", TENANT)
    assert "HEALTH" in after["mask"]
    assert (after["thresholds"], after["allow"], after["deny"]) == ({"PERSON": 0.6}, 0, 0)
    assert after["version"] != before["version"]
    call("policy", "--tenant", "nobody", ok=False)


def test_a_policy_for_a_type_that_nothing_finds_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "masking.toml"
    path.write_text('[tenant.acme.actions]\nHELTH = "quarantine"\n')
    monkeypatch.setenv("TIDEMILL_MASKING_POLICY", str(path))
    with pytest.raises(RecordError, match=r"masking.toml: tenant.acme: .*HELTH; did you mean HEALTH"):
        tables.masking_policy(load_settings())


def sampled(mill: Mill, word: str) -> str:
    shown = (mill.reviewing.show(one["id"], "r-17") for one in mill.reviewing.open_items() if one["kind"] == "sample")
    return str(next(one["id"] for one in shown if word in json.dumps(one)))


def missed(reason: str, *values: str) -> Verdict:
    found = tuple(("PERSON", value) for value in values)
    return Verdict(ReviewDecision.MISSED, "r-17", "brand team", reason, 30, found)


def test_what_is_told_of_a_missed_value_does_not_repeat_it(mill: Mill) -> None:
    send(mill, "Zorblax Quimby is here")
    id_ = sampled(mill, "Zorblax")
    with pytest.raises(RecordError, match="the reason repeats the value"):
        mill.reviewing.decide(id_, missed("zorblax  quimby is a customer", "Someone Else", "Zorblax Quimby"))
    assert mill.store.masking_lists.history(TENANT) == ()
    assert mill.reviewing.decide(id_, missed("a customer", "Zorblax Quimby"))["missed"] == 1


@pytest.mark.parametrize(
    ("kind", "value", "told", "repeats"),
    [
        ("PERSON", "Ann Miller", "Ann Miller is a customer", True),
        ("PERSON", "Ann Miller", "the case of MILLER, Ann", True),
        ("PERSON", "Li Wen", "compliance asked when", False),
        ("PHONE_NUMBER", "+49 30 1234567", "call +49-30-123 4567 for more", True),
        ("EMAIL_ADDRESS", "ann@corp.example", "it is Ann@corp.example", True),
        ("EMAIL_ADDRESS", "ann@corp.example", "an address", False),
    ],
)
def test_a_reason_repeats_a_value_in_any_form(kind: str, value: str, told: str, repeats: bool) -> None:
    if repeats:
        with pytest.raises(RecordError, match="reason"):
            require_unsaid(kind, value, "owner", told)
    else:
        require_unsaid(kind, value, "owner", told)


@pytest.mark.parametrize("value", ["Zorblax Quimby", "cust-0099"])
def test_an_entry_leaves_with_the_person_in_whose_text_or_by_whose_id_it_was_made(mill: Mill, value: str) -> None:
    send(mill, f"{value} is here")
    id_, whose = sampled(mill, value), "cust-0012"
    if value == "cust-0099":
        whose = value
        span = span_json(1, None, "b" * 32, attributes={"gen_ai.operation.name": "chat", "user.id": value})
        received = to_unix_nano(mill.clock.now())
        mill.spool.append(TENANT, Envelope(content_type=JSON, received_unix_nano=received, body=body(span)).pack())
        mill.drain(patient=False).run()
    mill.reviewing.decide(id_, missed("found nowhere", value))
    subject = mill.door.subject(TENANT, whose)
    assert mill.store.masking_lists.current(TENANT)
    mill.store.erasable().erase(TENANT, subject)
    assert mill.store.masking_lists.history(TENANT) == ()
    assert mill.store.erasable().count(TENANT, subject) == 0


def test_nothing_is_asked_about_spans_that_the_store_refuses(mill: Mill, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mill.store.spans, "merge", lambda spans, *_: [Fate.REJECTED] * len(spans))
    send(mill, "Ann Miller is here")
    assert mill.store.reviews.list(TENANT) == ()
