"""Settings: where things lie, and the variables that look like settings and are none."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from pipelines.cli import main
from pipelines.settings import NOT_SETTINGS, PREFIX, Settings, load_settings, unknown_variables
from tests.support.tree import texts

SETTINGS = {PREFIX + name.upper() for name in Settings.model_fields}


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEMILL_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TIDEMILL_AGENT", raising=False)


def test_keys_and_model_cache_lie_beside_the_home_and_the_rest_in_it(tmp_path: Path) -> None:
    settings = load_settings()
    assert settings.home == tmp_path / "home"
    assert {settings.keys, settings.model_cache} == {tmp_path / "home-keys", tmp_path / "cache"}
    assert f"{settings.home}/" in settings.database
    assert f"{settings.home}/" in settings.tracking_uri


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("TIDEMILL_GATWAY_PORT", "TIDEMILL_GATEWAY_PORT"),
        ("tidemill_lora_rnak", "TIDEMILL_LORA_RANK"),
        ("TIDEMILL_ZZZ", None),
    ],
)
def test_a_typo_of_a_setting_is_a_problem_with_the_nearest_name(
    monkeypatch: pytest.MonkeyPatch, name: str, near: str | None
) -> None:
    monkeypatch.setenv(name, "5")
    assert unknown_variables() == {name: near}
    result = CliRunner().invoke(main, ["doctor", "--json"])
    told = json.loads(result.output)
    assert (result.exit_code, told["ok"]) == (1, False)
    assert told[name].startswith("problem: no setting has this name, so it has no effect")
    assert (f"did you mean {near}?" in told[name]) is (near is not None)
    assert name in CliRunner().invoke(main, ["doctor"]).output


def test_names_that_something_else_reads_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NOT_SETTINGS:
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("tidemill_host", "127.0.0.1")  # the case of a setting's name does not matter
    assert unknown_variables() == {}


def test_every_name_that_the_project_writes_is_known_and_every_known_one_is_used() -> None:
    here = {"pipelines/settings.py", "tests/pipelines/test_settings.py"}
    named = {
        name
        for path, text in texts().items()
        if path not in here
        for name in re.findall(rf"\b{PREFIX}[A-Z][A-Z_]*[A-Z]\b", text)
    }
    assert named <= SETTINGS | NOT_SETTINGS
    assert named >= NOT_SETTINGS
