"""An environment from a lock."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.launcher.test_launcher import wheel
from tests.support.environments import EnvironmentMissing, environment


@pytest.fixture
def lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for version in ("1.0", "2.0"):
        wheel(tmp_path / "wheels", "pebble", version)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    lock = tmp_path / "lock.txt"
    lock.write_text("# one\npebble==1.0\n")
    return lock


def version(python: Path) -> str:
    ask = "import importlib.metadata as m; print(m.version('pebble'))"
    return subprocess.run([python, "-I", "-c", ask], capture_output=True, text=True, check=True).stdout.strip()


def test_a_lock_is_installed_once_another_anew_and_what_cannot_be_is_missing(lock: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "venv"
    python = environment(lock, folder)
    assert version(python) == "1.0"
    (folder / "kept").touch()
    assert environment(lock, folder) == python
    assert (folder / "kept").exists()
    lock.write_text("pebble==3.0\n")
    with pytest.raises(EnvironmentMissing, match=r"pebble==3\.0"):
        environment(lock, folder)
    assert not (folder / "kept").exists()
    lock.write_text("pebble==2.0\n")
    assert version(environment(lock, folder)) == "2.0"


@pytest.mark.parametrize(("ci", "outcome"), [("true", "1 error"), ("", "1 skipped")])
def test_instrumentations_that_cannot_be_had_fail_only_where_services_are_required(
    root: Path, tmp_path: Path, ci: str, outcome: str
) -> None:
    (tmp_path / "conftest.py").write_text(
        "from tests.conftest import *\n"
        "from tests.instrumentations import conftest\n"
        "from tests.instrumentations.conftest import customers_python\n"
        "def environment(*_): raise conftest.EnvironmentMissing('no index answers')\n"  # as on a machine without one
        "conftest.environment = environment\n"
    )
    (tmp_path / "test_one.py").write_text("def test_one(customers_python): pass\n")
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", str(tmp_path)]
    held = {"PATH": str(tmp_path), "PYTHONPATH": str(root), "CI": ci}
    done = subprocess.run(command, cwd=tmp_path, env=held, capture_output=True, text=True, check=False)
    assert outcome in done.stdout, done.stdout + done.stderr
    assert "cannot be installed: no index answers" in done.stdout
