"""``tidemill keys``: epochs are shown, the surrogate key is rotated, no other is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from pipelines.cli import main


def told(*words: str) -> tuple[int, dict[str, Any]]:
    result = CliRunner().invoke(main, ["keys", *words, "--json"])
    return result.exit_code, json.loads(result.output.splitlines()[-1]) if result.exit_code == 0 else {}


def test_a_rotation_changes_one_epoch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEMILL_DATA_HOME", str(tmp_path / "home"))
    _, before = told("show")
    code, rotated = told("rotate", "surrogate")
    _, after = told("show")
    assert code == 0
    assert (rotated["old_epoch"], rotated["epoch"]) == (before["surrogate"], after["surrogate"])
    assert {name for name in after if after[name] != before[name]} == {"surrogate"}
    assert told("rotate", "subject")[0] != 0
