"""The tracker on a real MLflow with a SQLite database: once per key, once per digest, aliases that follow."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from governance.rescan.needles import Needles
from governance.rescan.search import search
from serving.errors import TrackerError
from serving.tracker import MlflowTracker, model_name

SCOPE = "shop@acme+globex"
DIGESTS = ("1" * 64, "2" * 64)
SUBJECT = "5ab1ec7" * 8


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mlflow")


@pytest.fixture(scope="module")
def tracker(folder: Path) -> MlflowTracker:
    """One database for the module: MLflow takes seconds to make one."""
    return MlflowTracker(f"sqlite:///{folder / 'mlflow.db'}", folder / "artifacts")


def record(tracker: MlflowTracker, key: str, *files: Path, note: str = "none") -> str:
    return tracker.record_run(
        experiment=SCOPE,
        key=key,
        params={"rank": "8", "note": note},
        metrics={"loss": 0.5},
        artifacts={f"part{number}": path for number, path in enumerate(files)},
    )


def test_a_key_records_once(tracker: MlflowTracker, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_text("{}")
    first = record(tracker, "cycle-1/sft's", report)
    assert record(tracker, "cycle-1/sft's", report) == first
    assert record(tracker, "cycle-1/gate") != first
    run = tracker._client.get_run(first)
    assert (run.data.params["rank"], run.data.metrics["loss"], run.info.status) == ("8", 0.5, "FINISHED")
    assert [one.path for one in tracker._client.list_artifacts(first, "part0")] == ["part0/report.json"]


def test_a_recording_that_broke_off_is_taken_up(tracker: MlflowTracker, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="missing"):
        record(tracker, "cycle-2", tmp_path / "missing")
    whole = record(tracker, "cycle-2", tmp_path)
    runs = tracker._client.search_runs([tracker._experiment(SCOPE)], "tags.`tidemill.key` = 'cycle-2'")
    assert [run.info.run_id for run in runs] == [whole]


def test_a_release_is_registered_once(tracker: MlflowTracker) -> None:
    run_id = record(tracker, "cycle-3")
    versions = [
        tracker.register_release(scope=SCOPE, release_digest=digest, run_id=run_id, tags={"gate": "pass"})
        for digest in (*DIGESTS, *DIGESTS)
    ]
    assert versions[:2] == versions[2:]
    assert len(set(versions)) == 2


def test_an_alias_says_what_it_is_told(tracker: MlflowTracker) -> None:
    run_id = record(tracker, "cycle-3")
    for digest in DIGESTS:
        tracker.register_release(scope=SCOPE, release_digest=digest, run_id=run_id, tags={})
        tracker.project_alias(scope=SCOPE, alias="champion", release_digest=digest)
        assert tracker.alias(SCOPE, "champion") == digest
    tracker.project_alias(scope=SCOPE, alias="champion", release_digest=None)
    tracker.project_alias(scope=SCOPE, alias="champion", release_digest=None)
    tracker.project_alias(scope="nobody@none", alias="champion", release_digest=None)
    assert tracker.alias(SCOPE, "champion") is None
    with pytest.raises(TrackerError, match="not registered"):
        tracker.project_alias(scope=SCOPE, alias="champion", release_digest="9" * 64)


def test_two_scopes_never_share_a_model(tracker: MlflowTracker) -> None:
    run_id = record(tracker, "cycle-3")
    tracker.register_release(scope="a@b", release_digest=DIGESTS[0], run_id=run_id, tags={})
    assert model_name("a@b") == "a.at.b"
    with pytest.raises(TrackerError, match="another scope"):
        tracker.register_release(scope="a.at.b", release_digest=DIGESTS[0], run_id=run_id, tags={})


def test_a_run_s_files_can_be_removed(tracker: MlflowTracker, tmp_path: Path) -> None:
    (tmp_path / "rows.txt").write_text("rows")
    run_id = record(tracker, "cycle-4", tmp_path)
    tracker.delete_run_artifacts(run_id)
    tracker.delete_run_artifacts(run_id)
    assert tracker._client.list_artifacts(run_id) == []
    assert tracker._client.get_run(run_id).data.tags["tidemill.erased"] == "true"


def test_a_person_is_found_and_removed(tracker: MlflowTracker, tmp_path: Path, folder: Path) -> None:
    (tmp_path / "rows.gz").write_bytes(gzip.compress(f"row of {SUBJECT}".encode()))
    record(tracker, "cycle-5", tmp_path / "rows.gz")
    record(tracker, "cycle-6", note=f"about {SUBJECT}")
    assert tracker.count("acme", SUBJECT) == 2
    found = search("mlflow", tracker.contents(), Needles(subject=SUBJECT)).found
    assert {where.partition("/")[0].partition(":")[0] for where in found} == {"artifacts", "database"}
    assert len(tracker.erase("acme", SUBJECT)) == 2
    assert (tracker.count("acme", SUBJECT), tracker.erase("acme", SUBJECT)) == (0, ())
    assert search("mlflow", tracker.contents(), Needles(subject=SUBJECT)).total == 0, "neither files nor database"
    assert (tracker.name, tracker.claims) == ("mlflow", frozenset({"mlflow"}))


def test_an_mlflow_that_refuses_is_this_package_s_error(tracker: MlflowTracker) -> None:
    with pytest.raises(TrackerError, match="release 111111111111"):
        tracker.register_release(scope="new@scope", release_digest=DIGESTS[0], run_id="0" * 32, tags={})
