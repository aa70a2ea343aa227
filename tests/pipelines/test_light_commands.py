"""A command that only asks loads no library that it does not need, and leaves a data home as it was."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from pipelines.cli import main
from pipelines.commands.pii import COMMANDS as PII
from pipelines.places import Folder
from pipelines.settings import load_settings
from pipelines.tenant_keys import TenantKeys
from pipelines.wiring import Mill
from tests.support.tree import ROOT

HEAVY = (
    "torch", "transformers", "trl", "peft", "datasets", "vllm", "mlflow", "dagster", "presidio_analyzer", "spacy",
    "pandas", "numpy", "scipy", "matplotlib", "fastapi", "uvicorn", "httpx", "google.protobuf", "opentelemetry",
)  # fmt: skip
MIGRATING = "alembic"
"""Needed once, when a database is made."""
ASKING = (
    ("doctor",),
    ("status",),
    ("ledger",),
    ("release", "list"),
    ("rights", "verdict", "--tenant", "t", "--purpose", "debug"),
    ("subject", "show", "--tenant", "t"),
)
PROGRAM = """
import json, sys
from click.testing import CliRunner
from pipelines.cli import main
found = {}
for words in json.loads(sys.argv[1]):
    result = CliRunner().invoke(main, words, input="C-1\\n")
    assert result.exit_code == 0, (words, result.output)
    loaded = [name for name in json.loads(sys.argv[2]) if name in sys.modules]
    if loaded:
        found[" ".join(words)] = loaded
print(json.dumps(found))
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TIDEMILL_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TIDEMILL_AGENT", raising=False)
    TenantKeys(load_settings().keys / "tenants.json").of("t")
    return tmp_path / "home"


def loaded(*commands: tuple[str, ...], names: tuple[str, ...] = HEAVY) -> dict[str, list[str]]:
    """Command to those of ``names`` that stand in ``sys.modules`` after it, all run in one fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(commands), json.dumps(names)],
        cwd=ROOT, env=dict(os.environ), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def made(home: Path) -> set[str]:
    """What stands in the data home, but for the journals of SQLite."""
    names = {path.name for path in home.iterdir()} if home.exists() else set()
    return {name for name in names if not name.startswith("tidemill.db-")}


def test_help_loads_no_heavy_library_and_not_the_store(home: Path) -> None:
    groups = (("--help",), ("rights", "--help"), ("subject", "show", "--help"), ("release", "list", "--help"))
    groups += (("pii", "--help"), *(("pii", name, "--help") for name in PII))
    assert loaded(*groups, names=(*HEAVY, MIGRATING, "sqlalchemy")) == {}


def test_asking_a_fresh_home_loads_no_heavy_library(home: Path) -> None:
    assert loaded(*ASKING) == {}


def test_a_database_at_head_is_opened_without_alembic(home: Path) -> None:
    assert loaded(("ledger",), names=(MIGRATING,)) == {"ledger": [MIGRATING]}, "it makes the schema"
    assert loaded(("ledger",), names=(*HEAVY, MIGRATING)) == {}


@pytest.mark.parametrize("words", ASKING, ids=" ".join)
def test_asking_makes_nothing_but_the_database(home: Path, words: tuple[str, ...]) -> None:
    assert CliRunner().invoke(main, words, input="C-1\n").exit_code == 0
    assert made(home) <= {"tidemill.db"}


def test_erasing_where_nothing_was_ever_written_makes_nothing_but_the_database(home: Path) -> None:
    result = CliRunner().invoke(main, ["subject", "erase", "--tenant", "t", "--json"], input="C-1\n")
    assert json.loads(result.output.splitlines()[-1])["message"] == "nothing is held of this person"
    assert made(home) == {"tidemill.db"}


def test_a_folder_that_appears_is_searched_from_then_on(home: Path) -> None:
    with Mill(load_settings()) as mill:
        subject = mill.door.subject("t", "C-1")
        assert mill.erasure.plan("t", subject).held == {}
        record = home / "adapters" / ("0" * 64) / "sources.json"
        record.parent.mkdir(parents=True)
        record.write_text(json.dumps([["t", subject]]))
        assert mill.erasure.plan("t", subject).held == {"adapters": 1}


def test_a_tracker_elsewhere_is_asked_although_no_folder_is_here(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEMILL_MLFLOW_TRACKING_URI", "http://127.0.0.1:1")
    with Mill(load_settings()) as mill:
        assert mill.tracker in mill.erasables()
    assert not (home / "mlflow").exists()


def test_every_folder_claims_what_its_place_claims(home: Path) -> None:
    with Mill(load_settings()) as mill:
        folders = [place for place in mill.erasables() if isinstance(place, Folder)]
        before = [(place.name, place.claims) for place in folders]
        assert [{name} for name, _ in before] == [claims for _, claims in before]
        assert [place.inside().claims for place in folders] == [claims for _, claims in before]
