"""Pseudonymised processing on the command line: declared, used, and no way back to a person for who may not go it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from governance.records.audit import AuditEvent
from governance.records.rights import BASIS_IRI, Basis, Contract, Purpose, PurposeTerm
from pipelines.cli import main
from pipelines.settings import TOKEN, load_settings
from pipelines.tenant_keys import TenantKeys
from pipelines.wiring import Mill
from tests.governance.store_records import manifest, row, trajectory

PLAN = ("--aim", "scientific_research", "--category", "communication", "--document", "PLAN-3", "--until", "2099-01-01")


@pytest.fixture
def tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A tenant that learns from Koreans under PIPA 28-2, with an admin, an engineer and a reviewer."""
    monkeypatch.setenv("TIDEMILL_DATA_HOME", str(tmp_path / "home"))
    for name in ("TIDEMILL_AGENT", TOKEN):
        monkeypatch.delenv(name, raising=False)
    TenantKeys(load_settings().keys / "tenants.json").of("t")
    with Mill(load_settings()) as mill:
        now = mill.clock.now()
        term = PurposeTerm(purpose=Purpose.TRAIN_WEIGHTS, basis=Basis.PIPA_28_2, jurisdiction="KR")
        mill.store.rights.add_contract(Contract(id="c", tenant_id="t", terms=(term,), valid_from=now, recorded_at=now))
    found = {"admin": call("principal", "add", "a-1", "--role", "admin")["token"]}
    monkeypatch.setenv(TOKEN, found["admin"])
    for name, role in (("e-1", "engineer"), ("r-1", "reviewer")):
        found[role] = call("principal", "add", name, "--role", role)["token"]
    monkeypatch.setenv(TOKEN, found["reviewer"])
    call("rights", "fact", "add", "--tenant", "t", "--kind", "jurisdiction", "--value", "KR", "--reason", "case 7")
    return found


def call(*words: str, said: str = "C-1\n", code: int = 0) -> Any:
    result = CliRunner().invoke(main, [*words, "--json"], input=said)
    assert result.exit_code == code, result.output
    return json.loads(result.stdout.splitlines()[-1])


def events(*actions: str) -> list[AuditEvent]:
    with Mill(load_settings()) as mill:
        return [one for one in mill.store.audit.list("t") if one.action in actions]


VERDICT = ("rights", "verdict", "--tenant", "t", "--purpose", "train_weights")


def test_what_an_engineer_could_use_to_find_a_person_again_is_refused_once_a_processing_is_declared(
    tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TOKEN, tokens["engineer"])
    assert call(*VERDICT)["reasons"] == ["no_declaration"]
    assert call("rights", "pseudonymised", "declare", "--tenant", "t", *PLAN)["state"] == "stands"
    told = call(*VERDICT, code=1)
    assert (told["kind"], "PIPA 28-5" in told["error"]) == ("ReidentificationRefused", True)
    text = json.dumps({"id": 1, "text": "C-1"}) + "\n"
    result = CliRunner().invoke(main, ["pii", "scan", "--tenant", "t"], input=text)
    assert result.exit_code == 1
    assert "surrogate key" in result.stderr
    refused = events("reidentification_refused")
    assert [(one.actor, one.target, one.detail["act"]) for one in refused] == [
        ("e-1", "key:subject", "rights verdict"), ("e-1", "key:surrogate", "pii scan")
    ]  # fmt: skip
    assert not any("C-1" in one.model_dump_json() for one in refused)
    monkeypatch.setenv(TOKEN, tokens["reviewer"])
    assert call(*VERDICT)["allowed"]
    assert [(one.actor, one.role) for one in events("key_used")] == [("r-1", "reviewer")]


def test_a_declaration_is_listed_ended_and_made_by_no_other_way(tokens: dict[str, str], tmp_path: Path) -> None:
    made = call("rights", "pseudonymised", "declare", "--tenant", "t", *PLAN)
    assert (made["author"], made["basis_iri"]) == (made["actor"], "urn:tidemill:term:pipa:A28-2")
    fact = ("rights", "fact", "add", "--tenant", "t", "--kind", "pseudonymised", "--everybody", "--reason", "x")
    assert "is declared" in call(*fact, code=1)["error"]
    (known,) = [
        one for one in call("rights", "fact", "list", "--tenant", "t")["facts"] if one["kind"] == "pseudonymised"
    ]
    assert "is declared" in call("rights", "fact", "end", known["id"], "--tenant", "t", code=1)["error"]
    assert call("rights", "pseudonymised", "start", made["id"], "--tenant", "t")["id"] == known["id"]
    out = tmp_path / "audit.jsonl"
    call("audit", "export", "--tenant", "t", "--out", str(out))
    named = [row["terms"] for row in map(json.loads, out.read_text().splitlines()) if "terms" in row]
    assert named == [{"aim_iri": made["aim_iri"], "purpose_iri": made["purpose_iri"]}]
    call("rights", "pseudonymised", "end", made["id"], "--tenant", "t", "--reason", "audit 4")
    (shown,) = call("rights", "pseudonymised", "list", "--tenant", "t")["declarations"]
    assert shown["state"] == "ended"
    assert call(*VERDICT)["reasons"] == ["no_declaration"]


def test_a_receipt_names_the_consent_of_the_persons_law(tokens: dict[str, str]) -> None:
    with Mill(load_settings()) as mill:
        now = mill.clock.now()
        term = PurposeTerm(purpose=Purpose.EVALUATE, basis=Basis.PIPA_15_1_1, jurisdiction="KR")
        mill.store.rights.add_contract(Contract(id="d", tenant_id="t", terms=(term,), valid_from=now, recorded_at=now))
    about = ("--tenant", "t", "--purpose", "evaluate")
    for person, term_iri in (("C-1", "urn:tidemill:term:pipa:A15-1-1"), ("C-2", BASIS_IRI[Basis.CONSENT])):
        call("rights", "grant", *about, said=f"{person}\n")
        made = call("rights", "receipt", *about, said=f"{person}\n")
        assert made["dpv:hasRecordOfActivity"]["dpv:hasProcess"]["dpv:hasLegalBasis"]["@id"] == term_iri


class Letters:
    """A tokenizer of one id a letter."""

    def decode(self, ids: list[int], **_: bool) -> str:
        return "".join(map(chr, ids))


def test_a_look_at_a_row_stands_in_the_history(tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Mill, "tokenizer", Letters())
    call("rights", "pseudonymised", "declare", "--tenant", "t", *PLAN)
    with Mill(load_settings()) as mill:
        subject = mill.door.subject("t", "C-1")
        run = trajectory(1, subject=subject, tenant="t")
        mill.store.trajectories.put(run)
        verdict = mill.store.rights.verdict(Purpose.TRAIN_WEIGHTS, "t", subject, mill.clock.now())
        held = row(run, verdict)
        mill.store.datasets.put(manifest([held], scope="shop@t"), [held], [])
        root = manifest([held], scope="shop@t").root
    assert "refund" in call("pii", "look", root[:12], held.digest()[:12])["text"]
    (use,) = [
        one for one in call("rights", "pseudonymised", "history", "--tenant", "t")["uses"] if one["kind"] == "look"
    ]
    assert (use["actor"], use["role"], use["rows"], use["target"]) == ("r-1", "reviewer", 1, held.digest())
    assert use["purpose_iri"].startswith("https://w3id.org/dpv")
    assert subject not in json.dumps(use)
