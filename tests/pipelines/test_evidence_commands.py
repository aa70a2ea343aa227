"""The record on the command line: audit, lineage, past verdicts, unlawful sources."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from click.testing import CliRunner

from governance.records.lineage import Node, NodeKind
from governance.records.rights import Basis, Purpose
from governance.records.trajectory import Trajectory
from governance.store.lineage import edge, node
from pipelines.assets import TurnResource
from pipelines.cli import main
from pipelines.evidence import anchored_audit, audit_is_whole
from pipelines.settings import load_settings
from pipelines.tenant_keys import TenantKeys
from pipelines.wiring import Mill, shared_mill
from tests.governance.store_records import adapter, bundle, contract, manifest, row, trajectory


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One customer's run, a dataset of it, an adapter and a release."""
    monkeypatch.setenv("TIDEMILL_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TIDEMILL_AGENT", raising=False)
    TenantKeys(load_settings().keys / "tenants.json").of("acme")
    with Mill(load_settings()) as mill:
        mill.store.rights.add_contract(contract(basis=Basis.LEGITIMATE_INTEREST))
        run: Trajectory = trajectory(1, subject=mill.door.subject("acme", "C-1"))
        mill.store.trajectories.put(run)
        verdict = mill.store.rights.verdict(Purpose.TRAIN_WEIGHTS, "acme", run.subject, mill.clock.now())
        rows = [row(run, verdict)]
        made = manifest(rows)
        mill.store.datasets.put(made, rows, [], {})
        weights = adapter(made.root)
        mill.store.adapters.put(weights, "adapters/x", {})
        mill.store.releases.put(bundle(weights=weights), None, "test")
        file = node(NodeKind.IMPORT, "acme", "f" * 64)
        mill.store.lineage.add([edge(Node(kind=NodeKind.TRAJECTORY, id=run.id), file)])
    return tmp_path


def call(*words: str, person: str = "C-1", code: int = 0) -> Any:
    result = CliRunner().invoke(main, [*words, "--json"], input=f"{person}\n")
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def test_the_audit_is_listed_exported_anchored_and_verified(home: Path) -> None:
    assert "acme" in {one["tenant_id"] for one in call("audit", "checkpoint")["checkpoints"]}
    assert [path.name for path in (home / "home-anchor" / "acme").iterdir()] == ["00000001.json"]
    assert call("audit", "verify")["ok"] is True
    listed = call("audit", "list", "--tenant", "acme", "--action", "dataset_version")["events"]
    assert [one["action"] for one in listed] == ["dataset_version"]
    assert call("audit", "list", "--by", "nobody")["events"] == []
    told = call("audit", "export", "--tenant", "acme", "--out", str(home / "audit.jsonl"))
    lines = [json.loads(line) for line in (home / "audit.jsonl").read_text().splitlines()]
    assert [one["position"] for one in lines] == list(range(1, told["events"] + 1))
    (home / "home-anchor" / "acme" / "00000001.json").unlink()
    found = call("audit", "verify", "--tenant", "acme", code=1)
    assert [one["kind"] for one in found["faults"]] == ["checkpoint_lost"]


def test_lineage_both_ways(home: Path) -> None:
    made = call("lineage", "subject", "--tenant", "acme")["made"]
    (release,) = made["release"]
    report = call("lineage", "release", release[:8])
    (mine,) = report["rows"]
    assert (mine["subject"], mine["clause"]) == (report["subjects"][0].partition("/")[2], "contract-acme/train_weights")
    assert mine["basis_iri"].endswith("#A6-1-f")
    assert call("lineage", "release", release, "--format", "openlineage")["events"]
    assert call("lineage", "release", release, "--format", "prov")["wasDerivedFrom"]
    assert call("lineage", "subject", "--tenant", "acme", person="C-2")["made"] == {}
    assert call("lineage", "release", "zz", code=1)["kind"] == "NotFound"
    shown = CliRunner().invoke(main, ["lineage", "release", release])
    assert "contract-acme/train_weights" in shown.output


def test_a_past_verdict(home: Path) -> None:
    asked = ("rights", "verdict", "--tenant", "acme", "--purpose", "train_weights")
    now = call(*asked)
    with Mill(load_settings()) as mill:
        long_ago = (mill.clock.now() - timedelta(days=365 * 7)).isoformat()
    then = call(*asked, "--at", now["as_of"])
    assert then | now == then, "one shape, whenever it is about"
    assert (then["reason"], then["policy_version"]) == ("allowed", now["policy_version"])
    assert call(*asked, "--at", now["as_of"], "--policy", now["policy_version"][:9])["reason"] == "allowed"
    expired = call(*asked, "--at", long_ago)
    assert (expired["allowed"], expired["reason"]) == (None, "evidence_expired")
    assert call(*asked, "--policy", "zz", code=1)["kind"] == "NotFound"


def test_an_unlawful_source_is_listed_and_retired(home: Path) -> None:
    asked = ("--tenant", "acme", "--kind", "import", "--id", "f" * 64)
    found = call("rights", "unlawful", "list", *asked)
    assert (len(found["releases"]), found["datasets"][0]["whole"], found["retired"]) == (1, True, False)
    done = call("rights", "unlawful", "retire", *asked, "--reason", "case 7")
    assert (done["releases"], done["rollbacks"], done["retired"]) == (found["releases"], [], True)
    with Mill(load_settings()) as mill:
        assert mill.store.releases.tainted() == set(found["releases"])
        assert mill.store.datasets.rows(found["datasets"][0]["root"], Purpose.TRAIN_WEIGHTS) == ()
    person = call("rights", "unlawful", "list", "--tenant", "acme", "--kind", "subject")
    assert person["releases"] == found["releases"]
    assert call("rights", "unlawful", "list", "--tenant", "acme", "--kind", "run", code=1)["kind"] == "RecordError"


def test_the_asset_anchors_and_its_check_tells(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def materialised() -> tuple[Any, bool]:
        done = dg.materialize([anchored_audit, audit_is_whole], resources={"turn": TurnResource()})
        (check,) = done.get_asset_check_evaluations()
        return done.asset_materializations_for_node("anchored_audit")[0].metadata, bool(check.passed)

    monkeypatch.setenv("TIDEMILL_AUDIT_ANCHOR", str(home / "kept"))
    (home / "kept").write_text("no folder")
    metadata, passed = materialised()
    assert (metadata["checkpoints"].value, passed) == (0, False)
    (home / "kept").unlink()
    assert materialised()[1] is True
    assert (home / "kept" / "acme" / "00000001.json").is_file()
    shared_mill(load_settings()).close()
    shared_mill.cache_clear()
