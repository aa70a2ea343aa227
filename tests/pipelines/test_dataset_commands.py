"""What a compliance reviewer does with dataset versions and assessments on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from governance.acting import Acting, acts_as
from governance.records.principal import Principal, PrincipalKind, Role
from governance.records.rights import ConsentStatus
from pipelines.cli import main
from pipelines.settings import load_settings
from pipelines.tenant_keys import TenantKeys
from pipelines.wiring import Mill
from tests.governance.store_records import adapter, bundle, consent
from tests.governance.test_store_manifests import ANN, filled


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A home with one dataset."""
    monkeypatch.setenv("TIDEMILL_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TIDEMILL_AGENT", raising=False)
    TenantKeys(load_settings().keys / "tenants.json").of("acme")
    with Mill(load_settings()) as mill:
        return filled(mill.store)[0]


def call(*words: str, code: int = 0) -> Any:
    result = CliRunner().invoke(main, [*words, "--json"])
    assert result.exit_code == code, result.output
    return json.loads(result.stdout.splitlines()[-1])


def test_a_version_is_listed_shown_and_verified(root: str) -> None:
    assert call("dataset", "list")[root]["rows"] == 3
    shown = call("dataset", "show", root[:8])
    assert (shown["root"], shown["rows"], shown["uses"]) == (root, 3, [])
    assert [one["position"] for one in call("dataset", "lines", root[:8])["lines"]] == [0, 1, 2]
    assert call("dataset", "verify", root[:8])["ok"] is True
    assert "begin with" in call("dataset", "show", "zz", code=1)["error"]


def test_an_export_names_what_dropped_and_its_file_verifies(root: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    with Mill(load_settings()) as mill:
        mill.store.rights.add_consent(consent(ANN, status=ConsentStatus.WITHDRAWN, at=mill.clock.now()))
    found = call("dataset", "export", root[:8], "--to", str(file), "--recipient", "lab-7")
    assert (found["rows"], found["dropped"], found["target"]) == (2, {"consent_withdrawn": 1}, "lab-7")
    assert call("dataset", "verify", str(file))["ok"] is True
    compared = call("dataset", "diff", root, found["version"])
    assert (compared["kept"], len(compared["removed"]), compared["people_removed"]) == (2, 1, 1)
    file.write_text(file.read_text().replace("contract-acme", "another"))
    assert call("dataset", "verify", str(file), code=1)["problems"]


@pytest.mark.parametrize(
    "words",
    [
        ("dataset", "export", "ROOT", "--recipient", "lab-7", "--to", "HOME/run/stray.jsonl"),
        ("audit", "export", "--out", "HOME/stray.jsonl"),
        ("document", "dataset-card", "ROOT", "--to", "LINK/documents"),
    ],
)
def test_no_copy_is_written_into_the_data_home(root: str, tmp_path: Path, words: tuple[str, ...]) -> None:
    home, link = tmp_path / "home", tmp_path / "link"
    link.symlink_to(home)
    before = {path for path in home.rglob("*") if "stray" in path.name or "documents" in path.name}
    places = {"ROOT": root, "HOME": str(home), "LINK": str(link)}
    for name, value in places.items():
        words = tuple(word.replace(name, value) for word in words)
    assert "lies in the data home" in call(*words, code=1)["error"]
    assert {path for path in home.rglob("*") if "stray" in path.name or "documents" in path.name} == before == set()


def test_an_export_waits_for_its_approval(root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEMILL_APPROVAL_REQUIRED", "dataset")
    words = ("dataset", "export", root, "--recipient", "lab-7", "--to", str(tmp_path / "rows.jsonl"))
    assert call(*words, code=1)["kind"] == "ApprovalMissing"
    assert not (tmp_path / "rows.jsonl").exists()


def test_an_assessment_is_added_approved_listed_and_ended(root: str) -> None:
    words = ("rights", "assessment")
    about = ("--tenant", "acme", "--category", "communication", "--category", "staff", "--document", "DPIA-7")
    made = call(*words, "add", *about, "--until", "2099-01-01")
    assert (made["author"], made["categories"]) == (made["actor"], ["communication", "staff"])
    assert call(*words, "approve", made["id"], "--tenant", "acme", "--reason", "mine", code=1)["kind"] == "RoleDenied"
    give = ("approval", "give", "assessment", made["id"], "--tenant", "acme", "--reason", "mine")
    assert call(*give, code=1)["kind"] == "RoleDenied", "nor by another door"
    states = [one["state"] for one in call(*words, "list", "--tenant", "acme")["assessments"]]
    assert states == ["waits for approval"]
    other = Principal(name="r-2", kind=PrincipalKind.PERSON, roles=(Role.REVIEWER,))
    with acts_as(Acting(other, Role.REVIEWER)), Mill(load_settings()) as mill:
        mill.assessments.approve("acme", made["id"], reason="board 12")
    assert [one["state"] for one in call(*words, "list", "--tenant", "acme")["assessments"]] == ["approved"]
    call(*words, "end", made["id"], "--tenant", "acme", "--reason", "audit 4")
    assert [one["state"] for one in call(*words, "list", "--tenant", "acme")["assessments"]] == ["ended"]


def test_no_champion_waits_for_a_rebuild_where_there_is_none(root: str) -> None:
    assert call("rights", "rebuilds") == {"ok": True}


def test_documents_are_printed_or_written_in_both_forms(root: str, tmp_path: Path) -> None:
    card = call("document", "dataset-card", root[:8])
    assert card["sections"]["People and rights"]["subjects"]["value"] == 3
    page = CliRunner().invoke(main, ["document", "dataset-card", root[:8]])
    assert page.output.startswith("# Dataset card")
    with Mill(load_settings()) as mill:
        weights = adapter(root)
        mill.store.adapters.put(weights, "adapters/1", {})
        made = bundle(weights=weights)
        mill.store.releases.put(made, None, "cycle c1")
    release = made.release.digest()
    assert call("document", "bill", release[:8])["bomFormat"] == "CycloneDX"
    found = call("document", "all", release[:8], "--to", str(tmp_path / "out"))
    assert len(found["documents"]) == 4
    names = {one.name.rpartition("-")[0] for one in (tmp_path / "out").iterdir()}
    assert names == {"training-summary", "bill", "dataset-card", "provenance"}
    bill = next(one for one in (tmp_path / "out").glob("bill-*.json"))
    assert json.loads(bill.read_text())["specVersion"] == "1.6"
    record = call("document", "processing-record", "--tenant", "acme", "--to", str(tmp_path / "out"))
    assert "transfers to third countries" in record["missing"]
    assert "releases begin with" in call("document", "bill", "zz", code=1)["error"]
