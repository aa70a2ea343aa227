"""The command line: every command explains itself with an example, fails with a status and says what and where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from governance.records.rights import Purpose
from pipelines.cli import COMMANDS, main
from pipelines.ground import Ground
from pipelines.settings import Settings, load_settings
from pipelines.tenant_keys import TenantKeys


def leaves(command: click.Command, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], click.Command]]:
    if not isinstance(command, click.Group):
        return [(path, command)]
    context = click.Context(command)
    found = []
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        assert inner is not None, name
        found += leaves(inner, (*path, name))
    return found


LEAVES = leaves(main, ())


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TIDEMILL_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TIDEMILL_AGENT", raising=False)
    return tmp_path / "home"


@pytest.mark.parametrize(("path", "command"), LEAVES, ids=[" ".join(path) for path, _ in LEAVES])
def test_every_command_has_help_with_an_example_and_json(path: tuple[str, ...], command: click.Command) -> None:
    result = CliRunner().invoke(main, [*path, "--help"])
    assert result.exit_code == 0
    assert "Example: " in result.output
    assert " ".join(path) in (command.epilog or "")
    assert any("--json" in option.opts for option in command.params)


def test_the_list_of_commands_needs_no_import() -> None:
    result = CliRunner().invoke(main, ["--help"])
    assert result.exit_code == 0
    assert all(name in result.output for name in COMMANDS)


def test_a_failure_has_a_status_a_kind_and_words(home: Path) -> None:
    result = CliRunner().invoke(main, ["cycle", "--json"])
    assert result.exit_code == 1
    told = json.loads(result.output)
    assert told["kind"] == "StepError"
    assert "set TIDEMILL_AGENT" in told["error"]


def test_a_setting_that_is_wrong_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEMILL_TRAIN_SHARE", "2")
    result = CliRunner().invoke(main, ["doctor", "--json"])
    assert result.exit_code == 1
    assert "TIDEMILL_TRAIN_SHARE" in json.loads(result.output)["error"]


def test_doctor_says_that_a_fresh_install_keeps_no_words(home: Path) -> None:
    result = CliRunner().invoke(main, ["doctor", "--json"])
    told = json.loads(result.output)
    assert result.exit_code == 0, told
    assert "withholds what is said" in told["rights"]
    assert told["agent"].startswith("note: none")
    assert not home.exists(), "asking changes nothing"


def test_an_unknown_trouble_is_refused_by_name(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["demo", "--json", "--home", str(tmp_path / "d"), "--without", "gremlins"])
    assert result.exit_code == 1
    assert "gremlins" in json.loads(result.output.splitlines()[-1])["error"]


def test_a_ledger_of_nothing_balances(home: Path) -> None:
    result = CliRunner().invoke(main, ["ledger", "--json"])
    assert result.exit_code == 0
    assert json.loads(result.output) == {"lines": 0, "ok": True}


@pytest.fixture
def tenant(home: Path) -> str:
    TenantKeys(load_settings().keys / "tenants.json").of("t")
    return "t"


def told(*words: str, person: str | bytes = "C-1\n") -> tuple[int, dict[str, Any]]:
    result = CliRunner().invoke(main, [*words, "--json"], input=person)
    return result.exit_code, json.loads(result.output.splitlines()[-1])


def test_consent_is_recorded_and_judged_without_the_id_in_the_arguments(tenant: str) -> None:
    asked = ("rights", "verdict", "--tenant", tenant, "--purpose", "train_weights")
    _, before = told(*asked)
    assert before["allowed"] is False
    _, given = told("rights", "grant", "--tenant", tenant)
    assert given["subject"] == before["subject"]
    assert "C-1" not in json.dumps(given)
    assert told(*asked)[1]["reasons"] == ["no_contract"]
    assert told("rights", "withdraw", "--tenant", tenant)[1]["status"] == "withdrawn"


def test_a_verdict_can_be_asked_for_every_purpose(tenant: str) -> None:
    for purpose in Purpose:
        code, answer = told("rights", "verdict", "--tenant", tenant, "--purpose", purpose.value)
        assert (code, answer["purpose"]) == (0, purpose)
        assert answer["allowed"] is (purpose is Purpose.COMPLY)


@pytest.mark.parametrize("deed", ["grant", "withdraw"])
def test_a_person_speaks_about_every_purpose_but_comply(tenant: str, deed: str) -> None:
    for purpose in set(Purpose) - {Purpose.COMPLY}:
        assert told("rights", deed, "--tenant", tenant, "--purpose", purpose.value)[1]["purposes"] == [purpose]
    refused = CliRunner().invoke(main, ["rights", deed, "--tenant", tenant, "--purpose", "comply"], input="C-1\n")
    assert refused.exit_code == 2
    assert set(told("rights", deed, "--tenant", tenant)[1]["purposes"]) == set(Purpose) - {
        Purpose.COMPLY,
        Purpose.SERVE,
    }


@pytest.mark.parametrize("person", ["", "\n", "a\nb\n", "\x1b[2J\n", b"C-\xff\xfe\n"])
def test_what_is_no_persons_id_is_refused_and_nothing_is_said_of_anybody(
    home: Path, tenant: str, person: str | bytes
) -> None:
    for words in (("rights", "grant"), ("rights", "withdraw"), ("subject", "show"), ("subject", "erase")):
        code, answer = told(*words, "--tenant", tenant, person=person)
        assert (code, answer["kind"]) == (1, "RecordError")
    with Ground(load_settings()) as ground:
        assert {event.action for event in ground.store.audit.list(tenant)} == {"act", "act_failed"}
        assert ground.store.rights.consent_subjects(tenant, Purpose.COMPLY) == []


@pytest.mark.parametrize("name", ["", "nobody", "t\n"])
def test_a_tenant_that_there_is_not_is_named(tenant: str, name: str) -> None:
    for words in (("rights", "grant"), ("rights", "withdraw"), ("subject", "erase")):
        code, answer = told(*words, "--tenant", name)
        assert code == 1
        assert "known are t" in answer["error"]


def test_nothing_is_held_of_an_unknown_person(tenant: str) -> None:
    code, answer = told("subject", "erase", "--tenant", tenant, person="nobody\n")
    assert code == 0, answer
    assert answer["message"] == "nothing is held of this person"


def test_who_was_erased_stays_out(tenant: str) -> None:
    assert told("rights", "grant", "--tenant", tenant)[0] == 0
    code, answer = told("subject", "erase", "--tenant", tenant)
    assert (code, answer["remaining"]) == (0, 0)
    code, answer = told("rights", "grant", "--tenant", tenant)
    assert (code, answer["kind"]) == (1, "RightsError")
    again = told("subject", "erase", "--tenant", tenant)[1]
    assert (again["remaining"], again["message"]) == (0, "nothing is held of this person")


def test_a_home_whose_name_means_something_in_a_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = tmp_path / "a b#?%é"
    monkeypatch.setenv("TIDEMILL_DATA_HOME", str(odd))
    assert told("ledger")[0] == 0
    assert (odd / "tidemill.db").exists()
    assert [path.name for path in tmp_path.iterdir() if path.name not in {odd.name, f"{odd.name}-keys"}] == []


@pytest.mark.parametrize("url", ["not a url", "postgresql+psycopg://nobody@127.0.0.1:1/none"])
def test_a_database_that_cannot_be_opened_is_an_error_with_words(
    home: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("TIDEMILL_DATABASE_URL", url)
    code, answer = told("ledger")
    assert (code, answer["kind"]) == (1, "StoreError")
    assert told("doctor")[0] == 1


def test_a_file_that_is_no_database_is_an_error_with_words(home: Path) -> None:
    home.mkdir()
    (home / "tidemill.db").write_text("not a database, and long enough to be looked at" * 40)
    code, answer = told("ledger")
    assert (code, answer["kind"]) == (1, "StoreError")
    code, answer = told("doctor")
    assert code == 1
    assert answer["database"].startswith("problem")


@pytest.mark.parametrize("text", ["{", "[]", '{"agent": 5, "options": {}}', '{"agent": "a:b"}'])
def test_a_broken_agent_file_is_named(home: Path, text: str) -> None:
    home.mkdir()
    (home / "agent.json").write_text(text)
    code, answer = told("doctor")
    assert code == 1
    assert "agent.json" in answer["agent"]


def test_doctor_shows_no_password(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEMILL_MLFLOW_TRACKING_URI", "http://user:sekret@127.0.0.1/")
    assert "sekret" not in CliRunner().invoke(main, ["doctor", "--json"]).output


def test_doctor_names_every_file_that_is_not_there(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {name for name, field in Settings.model_fields.items() if "TOML" in str(field.description)}
    files |= {"tls_cert", "tls_key", "base_model", "pii_model"}
    assert len(files) >= 10
    for name in files:
        monkeypatch.setenv(f"TIDEMILL_{name.upper()}", f"/nowhere/{name}")
    code, answer = told("doctor")
    assert code == 1
    said = {key: value for key, value in answer.items() if str(value).startswith("problem")}
    for name in files:
        assert any(f"/nowhere/{name}" in value for value in said.values()), name


def test_no_line_of_help_ends_at_an_abbreviation() -> None:
    """Click takes a first sentence for a command's line, so `(GDPR Art. 21)` would be cut behind the dot."""

    def walk(command: click.Command, name: str) -> list[str]:
        line = command.get_short_help_str(limit=10_000)
        cut = [name] if line.count("(") != line.count(")") or line.endswith(("Art.", "No.", "e.g.", "i.e.")) else []
        if not isinstance(command, click.Group):
            return cut
        inner = (
            (one, command.get_command(click.Context(command), one))
            for one in command.list_commands(click.Context(command))
        )
        return cut + [found for one, sub in inner if sub is not None for found in walk(sub, f"{name} {one}")]

    assert walk(main, "tidemill") == []
