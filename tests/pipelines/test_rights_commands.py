"""What a compliance reviewer does with rights on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from governance.errors import PolicyError
from governance.policy.rights_file import DEFAULT_FILE, parse_policy, read_policy
from governance.records.message import Role, text_message
from governance.records.rights import Basis, Contract, Purpose, PurposeTerm
from governance.records.trajectory import Actor, Trajectory, Turn
from pipelines.cli import main
from pipelines.settings import load_settings
from pipelines.tenant_keys import TenantKeys
from pipelines.wiring import Mill
from tests.support.unreadable import UNREADABLE


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a tenant under a contract, and one run of each of two customers."""
    monkeypatch.setenv("TIDEMILL_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TIDEMILL_AGENT", raising=False)
    TenantKeys(load_settings().keys / "tenants.json").of("t")
    with Mill(load_settings()) as mill:
        now = mill.clock.now()
        terms = (PurposeTerm(purpose=Purpose.TRAIN_WEIGHTS, basis=Basis.LEGITIMATE_INTEREST),)
        mill.store.rights.add_contract(Contract(id="c", tenant_id="t", terms=terms, valid_from=now, recorded_at=now))
        for number in (1, 2):
            turn = Turn(
                actor=Actor.CUSTOMER, message=text_message(Role.USER, "hello"), span_id=f"{number:016x}", at=now
            )
            run = Trajectory(
                tenant_id="t", session_id="s", trace_id=f"{number:032x}", subject=mill.door.subject("t", f"C-{number}"),
                agent_name="shop", started_at=now, ended_at=now, turns=(turn,), calls=(),
            )  # fmt: skip
            mill.store.trajectories.put(run)
    return tmp_path


def call(*words: str, person: str = "C-1", code: int = 0) -> Any:
    result = CliRunner().invoke(main, [*words, "--json"], input=f"{person}\n")
    assert result.exit_code == code, result.output
    return json.loads(result.stdout) if code == 0 else result.output


def allowed(person: str = "C-1") -> Any:
    found = call("rights", "verdict", "--tenant", "t", "--purpose", "train_weights", person=person)
    return found["allowed"] or found["reasons"]


def test_an_objection_takes_one_step_and_ends_the_use_on_every_basis(home: Path) -> None:
    assert allowed() is True
    call("rights", "object", "--tenant", "t")
    assert (allowed(), allowed("C-2")) == (["objected"], True)


def test_a_hold_is_recorded_listed_and_ended(home: Path) -> None:
    added = call("rights", "fact", "add", "--tenant", "t", "--kind", "hold", "--reason", "case 7")
    assert (allowed(), allowed("C-2")) == (["held"], True)
    assert "case 7" in call("subject", "erase", "--tenant", "t", person="C-1", code=1)
    assert added["actor"].startswith("local-owner-"), "a hold names who set it"
    call("rights", "fact", "end", added["id"][:8], "--tenant", "t")
    assert [one["kind"] for one in call("rights", "fact", "list", "--tenant", "t")["facts"]] == [
        "hold",
        "restriction",
        "hold",
    ]
    assert "0 facts of tenant t stand now" in call("rights", "fact", "end", added["id"], "--tenant", "t", code=1)


def test_a_verdict_of_a_time_that_is_not_over_is_none(home: Path) -> None:
    words = ("rights", "verdict", "--tenant", "t", "--purpose", "debug", "--at", "2999-01-01T00:00:00+00:00")
    assert "is not over yet" in call(*words, code=1)


def test_a_consent_without_a_notice_says_that_the_notice_is_missing(home: Path) -> None:
    call("rights", "grant", "--tenant", "t", "--purpose", "debug")
    about = ("--tenant", "t", "--purpose", "debug")
    state = call("rights", "state", *about)
    assert (state["status"], state["notice_digest"], state["notice"]) == ("given", None, None)
    assert "dpv:hasNotice" in json.dumps(call("rights", "receipt", *about))
    assert "dpv:ConsentNotice" not in json.dumps(call("rights", "receipt", *about))


def test_a_setting_that_is_refused_is_named_without_its_value(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEMILL_GATEWAY_PORT", "hunter2")
    said = call("ledger", code=1)
    assert "TIDEMILL_GATEWAY_PORT" in said
    assert "hunter2" not in said
    assert "pydantic" not in said


def test_an_unknown_tenant_is_told_how_one_is_made(home: Path) -> None:
    assert "no tenant 'nosuch'" in call("ledger", "--tenant", "nosuch", code=1)


def test_a_fact_about_everybody_reads_no_person(home: Path) -> None:
    call(
        "rights", "fact", "add", "--tenant", "t", "--kind", "unlawful", "--reason", "audit 3", "--everybody", person=""
    )
    assert allowed() == allowed("C-2") == ["unlawful_source"]


def test_a_dry_run_says_what_a_policy_would_drop_and_changes_nothing(home: Path) -> None:
    file = home / "policy.toml"
    rule = '\n[[rule]]\nreason = "no_grant"\npurposes = ["train_weights"]\nwhen = { consent = "none" }\n'
    file.write_text(DEFAULT_FILE.read_text() + rule)
    found = call("rights", "dry-run", str(file))
    assert (found["trajectories"], found["allowed_now"], found["would_drop"]) == (2, 2, 2)
    assert found["dropped_by_reason"] == {"no_grant": 2}
    assert allowed() is True


def test_a_policy_in_force_is_read_from_its_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = home / "policy.toml"
    file.write_text(
        DEFAULT_FILE.read_text() + '[[rule]]\nreason = "no_grant"\nwhen = { consent = ["none", "expired"] }\n'
    )
    monkeypatch.setenv("TIDEMILL_RIGHTS_POLICY", str(file))
    assert allowed() == ["no_grant"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name = 1", "needs a name and rules"),
        ('name = "x"\nrule = []', "no policy may lift it"),
        ('name = "x"\n[[rule]]\nreason = "held"\nwhen = { moon = true }', "rule 1 (held): no fact 'moon'"),
        ('name = "x"\n[[rule]]\nreason = "held"\nwhen = { held = "yes" }', "held is one of false, true, not 'yes'"),
        ('name = "x"\n[[rule]]\nreason = "held"\nwhen = { held = 1 }', "held is one of false, true, not 1"),
        ('name = "x"\n[[rule]]\nreason = "allowed"\nwhen = { held = true }', "'allowed' is no reason to deny"),
        ('name = "x"\n[[rule]]\nreason = "held"', "says not when it denies"),
        ('name = "x"\n[[rule]]\nreason = "held"\npurposes = ["comply"]\nwhen = { held = true }', "purposes must be"),
        ('name = "x"\nother = 1', "unknown key 'other'"),
        ("= nothing", "not TOML"),
    ],
)
def test_a_wrong_policy_says_what_and_where(home: Path, text: str, says: str) -> None:
    file = home / "policy.toml"
    file.write_text(text)
    said = call("rights", "dry-run", str(file), code=1)
    assert says in said
    assert "policy.toml" in said


@pytest.mark.parametrize("held", UNREADABLE.values(), ids=UNREADABLE)
def test_a_policy_that_cannot_be_read_is_named(home: Path, held: bytes) -> None:
    file = home / "policy.toml"
    file.write_bytes(held)
    with pytest.raises(PolicyError, match=r"policy\.toml: cannot be read"):
        read_policy(file)
    assert "policy.toml: cannot be read" in call("rights", "dry-run", str(file), code=1)


def test_a_number_that_cannot_be_shown_is_no_reason_to_break(home: Path) -> None:
    huge = "0x" + "f" * 5000
    for text in (f"reason = {huge}", f'reason = "held"\npurposes = [{huge}]\nwhen = {{ held = true }}',
                 f'reason = "held"\nwhen = {{ held = {huge} }}'):  # fmt: skip
        with pytest.raises(PolicyError, match=r"^here: "):
            parse_policy(f'name = "x"\n[[rule]]\n{text}', "here")
