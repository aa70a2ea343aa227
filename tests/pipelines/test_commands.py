"""The command line: every command explains itself with an example, fails with a status and says what and where."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from pipelines.cli import COMMANDS, main


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
    assert "no tenant has a contract" in told["error"]


def test_a_setting_that_is_wrong_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEMILL_TRAIN_SHARE", "2")
    result = CliRunner().invoke(main, ["doctor", "--json"])
    assert result.exit_code == 1
    assert "train_share" in json.loads(result.output)["error"]


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


def test_consent_is_recorded_and_judged_without_the_id_in_the_arguments(home: Path) -> None:
    runner = CliRunner()
    asked = ["rights", "verdict", "--tenant", "t", "--purpose", "train_weights", "--json"]
    before = json.loads(runner.invoke(main, asked, input="C-1\n").output)
    assert before["allowed"] is False
    given = json.loads(runner.invoke(main, ["rights", "grant", "--tenant", "t", "--json"], input="C-1\n").output)
    assert given["subject"] == before["subject"]
    assert "C-1" not in json.dumps(given)
    after = json.loads(runner.invoke(main, asked, input="C-1\n").output)
    assert after["reasons"] == ["no_contract"]
    gone = json.loads(runner.invoke(main, ["rights", "withdraw", "--tenant", "t", "--json"], input="C-1\n").output)
    assert gone["status"] == "withdrawn"


def test_nothing_is_held_of_an_unknown_person(home: Path) -> None:
    result = CliRunner().invoke(main, ["subject", "erase", "--tenant", "t", "--json"], input="nobody\n")
    assert result.exit_code == 0, result.output
    assert json.loads(result.output.splitlines()[-1])["message"] == "nothing is held of this person"
