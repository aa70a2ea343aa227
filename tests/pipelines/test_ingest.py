"""``tidemill ingest`` and ``tidemill trajectories``: files through the door of the intake, and what comes of them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from governance.door import Door
from governance.errors import NotFound, PurposeDenied
from governance.records.base import digest_bytes
from governance.records.lineage import Node, NodeKind
from governance.records.rights import Basis, Contract, Purpose, PurposeTerm
from ingestion.envelope import Envelope
from ingestion.errors import SpoolBusy
from ingestion.importers import Recognised
from ingestion.otlp_decode import JSON
from pipelines import importing
from pipelines.canonical import listing, show
from pipelines.cli import main
from pipelines.importing import ingest
from pipelines.settings import load_settings
from pipelines.tenant_keys import TenantKeys
from pipelines.wiring import Mill
from tests.ingestion.import_documents import DOCUMENTS, RUN, TRACE
from tests.ingestion.otlp_bodies import MailMasker

EARLY = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TIDEMILL_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TIDEMILL_AGENT", raising=False)
    TenantKeys(load_settings().keys / "tenants.json").of("acme")
    return tmp_path / "home"


@pytest.fixture
def mill(home: Path) -> Iterator[Mill]:
    with Mill(load_settings()) as mill:
        mill.__dict__["door"] = Door(mill.store, MailMasker(), mill.keys, mill.clock)
        yield mill


def contract(mill: Mill, *purposes: Purpose) -> None:
    terms = tuple(PurposeTerm(purpose=purpose, basis=Basis.CONTRACT) for purpose in purposes or tuple(Purpose))
    mill.store.rights.add_contract(Contract(id="c", tenant_id="acme", terms=terms, valid_from=EARLY, recorded_at=EARLY))


def files(folder: Path, **documents: Any) -> list[Path]:
    paths = []
    for name, document in documents.items():
        path = folder / f"{name}.json"
        path.write_bytes(document if isinstance(document, bytes) else json.dumps(document).encode())
        paths.append(path)
    return paths


def test_files_become_trajectories_and_twice_is_once(mill: Mill, tmp_path: Path) -> None:
    contract(mill)
    paths = files(tmp_path, langfuse=DOCUMENTS["langfuse"], langsmith=DOCUMENTS["langsmith"], broken=b"no")
    report = ingest(mill, "acme", paths)
    assert report["ok"] is False
    assert "is of no form" in report["files"][str(paths[2])]["refused"]
    told = report["files"][str(paths[0])]
    assert (told["form"], told["spans"], told["rejected"]) == ("langfuse", 3, {})
    assert told["trajectories"] == [f"acme/{TRACE}"]
    source = Node(kind=NodeKind.IMPORT, id=f"acme/{digest_bytes(paths[0].read_bytes())}")
    assert mill.store.lineage.descendants(source) == [Node(kind=NodeKind.TRAJECTORY, id=f"acme/{TRACE}")]
    assert report["drained"]["fates"] == {"stored": 6}
    again = ingest(mill, "acme", paths[:2])
    assert again["ok"] is True
    assert again["drained"]["fates"] == {"duplicate": 6}
    assert len(mill.store.trajectories.list(Purpose.DEBUG, ["acme"], EARLY, mill.clock.now()).rows) == 2
    assert all(line.balances for line in mill.store.ledger.lines())
    assert mill.spool.segments_held() == 0


def test_a_trajectory_is_shown_in_canonical_form(mill: Mill, tmp_path: Path) -> None:
    contract(mill)
    ingest(mill, "acme", files(tmp_path, langfuse=DOCUMENTS["langfuse"]))
    told = show(mill.store, f"acme/{TRACE}", Purpose.DEBUG, mill.clock.now())
    assert json.loads(json.dumps(told)) == told
    said = [(turn["role"], turn["content"]) for turn in told["turns"]]
    assert said == [("user", "Is it open?"), ("assistant", ""), ("tool", ""), ("assistant", "Yes.")]
    (asked,), (answered,) = told["turns"][1]["tool_calls"], told["turns"][2]["tool_results"]
    assert (asked["name"], asked["arguments"], answered["response"]) == ("hours", {"day": "Sunday"}, {"open": True})
    assert asked["id"] == answered["id"]
    assert told["subagents"] == []
    (call,) = told["tool_calls"]
    assert (call["name"], call["arguments"], call["result"]) == ("hours", {"day": "Sunday"}, {"open": True})
    usage = {name: figure for name, figure in told["usage"].items() if figure}
    assert usage == {"input_tokens": 21, "output_tokens": 7, "uncosted_tokens": 28}
    assert told["subject"] == mill.door.subject("acme", "C-7")
    assert (told["session_id"], told["release"], told["model"]) == ("s-1", None, "m-1")
    assert {"flags", "incomplete", "signals", "outcome"} <= told.keys()


def test_what_may_not_be_debugged_is_not_shown(mill: Mill, tmp_path: Path) -> None:
    contract(mill, Purpose.SERVE)
    ingest(mill, "acme", files(tmp_path, langfuse=DOCUMENTS["langfuse"]))
    now = mill.clock.now()
    with pytest.raises(PurposeDenied):
        show(mill.store, f"acme/{TRACE}", Purpose.DEBUG, now)
    assert listing(mill.store, "acme", Purpose.DEBUG, now, 5) == {
        "trajectories": [],
        "of": 0,
        "not_shown": {"contract_forbids_purpose": 1},
    }
    with pytest.raises(NotFound):
        show(mill.store, "acme/nothing", Purpose.DEBUG, now)


def test_the_newest_are_listed(mill: Mill, tmp_path: Path) -> None:
    contract(mill)
    ingest(mill, "acme", files(tmp_path, langfuse=DOCUMENTS["langfuse"], langsmith=DOCUMENTS["langsmith"]))
    told = listing(mill.store, "acme", Purpose.DEBUG, mill.clock.now(), 1)
    assert (told["of"], [row["id"] for row in told["trajectories"]]) == (2, [f"acme/{TRACE}"])
    both = listing(mill.store, "acme", Purpose.DEBUG, mill.clock.now(), 5)["trajectories"]
    assert [row["id"] for row in both] == [f"acme/{TRACE}", f"acme/{RUN.replace('-', '')}"]


def test_spans_without_a_root_are_not_waited_for(mill: Mill, tmp_path: Path) -> None:
    document = DOCUMENTS["phoenix"][:1]
    report = ingest(mill, "acme", files(tmp_path, rootless=document))
    assert (report["drained"]["waiting"], report["drained"]["trajectories"]) == (0, 1)


def test_runs_that_name_nobody_are_of_the_person_who_is_named_for_them(mill: Mill, tmp_path: Path) -> None:
    contract(mill)
    paths = files(tmp_path, swe_agent=DOCUMENTS["swe_agent"], langfuse=DOCUMENTS["langfuse"])
    report = ingest(mill, "acme", paths, "dev@example.org")
    assert report["drained"]["withheld"] == 0
    assert "note" not in report
    subjects = [
        show(mill.store, report["files"][str(path)]["trajectories"][0], Purpose.DEBUG, mill.clock.now())["subject"]
        for path in paths
    ]
    assert subjects == [mill.door.subject("acme", "dev@example.org"), mill.door.subject("acme", "C-7")]


def test_what_is_said_in_a_run_that_names_nobody_is_withheld(mill: Mill, tmp_path: Path) -> None:
    contract(mill)
    report = ingest(mill, "acme", files(tmp_path, swe_agent=DOCUMENTS["swe_agent"]))
    assert report["drained"]["withheld"] == report["drained"]["received"] == 5
    assert "withheld" in report["note"]


def test_a_file_whose_every_span_is_refused_is_refused(mill: Mill, tmp_path: Path) -> None:
    document = json.loads(json.dumps(DOCUMENTS["otlp"]))
    document["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["traceId"] = "0" * 32
    (path,) = files(tmp_path, zeros=document)
    report = ingest(mill, "acme", [path])
    assert report["ok"] is False
    assert "trace_id is all zero" in report["files"][str(path)]["refused"]


def test_while_another_process_holds_the_spool_its_intake_takes_the_spans(
    mill: Mill, tmp_path: Path, free_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ingestion.receiver import create_app
    from tests.ingestion.otlp_bodies import serving

    monkeypatch.setenv("TIDEMILL_INTAKE_PORT", str(free_port))
    contract(mill)
    app = create_app(mill.spool, mill.tenant_keys.by_key(), clock=mill.clock)
    with serving(app, free_port), Mill(load_settings()) as other:
        other.__dict__["door"] = mill.door
        nothing = Envelope(content_type=JSON, received_unix_nano=1, body=b"{}")
        mill.spool.append("acme", nothing.pack())  # takes the writer's lock
        (path,) = files(tmp_path, langfuse=DOCUMENTS["langfuse"])
        report = ingest(other, "acme", [path])
    assert report["files"][str(path)]["spans"] == 3
    mill.drain(patient=False).run()
    assert show(mill.store, f"acme/{TRACE}", Purpose.DEBUG, mill.clock.now() + timedelta(days=1))["turns"]


def test_the_command_goes_on_after_a_refused_file_and_fails(home: Path, tmp_path: Path) -> None:
    good, bad = files(tmp_path, good=DOCUMENTS["trail"], bad=b"{")
    result = CliRunner().invoke(
        main, ["ingest", str(bad), str(good), str(tmp_path / "gone"), "--tenant", "acme", "--json"]
    )
    told = json.loads(result.output.splitlines()[-1])
    assert result.exit_code == 1
    assert told["ok"] is False
    assert told["files"][str(good)]["form"] == "trail"
    assert "not JSON" in told["files"][str(bad)]["refused"]
    assert "no such file" in told["files"][str(tmp_path / "gone")]["refused"]
    shown = CliRunner().invoke(main, ["trajectories", "show", told["files"][str(good)]["trajectories"][0], "--json"])
    assert shown.exit_code == 1
    assert json.loads(shown.output)["kind"] == "PurposeDenied"
    unknown = CliRunner().invoke(main, ["ingest", str(good), "--tenant", "nobody", "--json"])
    assert "no tenant 'nobody'" in json.loads(unknown.output)["error"]


def test_a_file_that_breaks_its_reader_costs_only_itself(
    mill: Mill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, bad = files(tmp_path, langfuse=DOCUMENTS["langfuse"], langsmith=DOCUMENTS["langsmith"])
    real = importing.recognise_file

    def breaks(path: Path) -> Recognised:
        if path == bad:
            raise MemoryError
        return real(path)

    monkeypatch.setattr(importing, "recognise_file", breaks)
    report = ingest(mill, "acme", [bad, good])
    assert report["files"][str(bad)]["refused"].endswith("MemoryError: no further word")
    assert report["files"][str(good)]["form"] == "langfuse"
    assert report["ok"] is False


def test_imports_at_once_wait_for_each_other(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from concurrent.futures import ThreadPoolExecutor

    monkeypatch.setattr("governance.masking.presidio_masker.PresidioMasker", lambda *_, **__: MailMasker())
    names = ("langfuse", "langsmith", "trail")
    paths = dict(zip(names, files(tmp_path, **{name: DOCUMENTS[name] for name in names}), strict=True))

    def run(name: str) -> dict[str, Any]:
        with Mill(load_settings()) as mill:
            mill.spool.append("acme", Envelope(content_type=JSON, received_unix_nano=1, body=b"{}").pack())
            time.sleep(0.3)  # every one holds the spool for a while
            mill.spool.pause()
            return ingest(mill, "acme", [paths[name]])

    with Mill(load_settings()) as first:
        first.store.ledger.lines()  # the schema is there before they meet
    monkeypatch.setattr(importing, "_BUSY_S", 60.0)
    with ThreadPoolExecutor(3) as threads:
        reports = list(threads.map(lambda name: patiently(lambda: run(name)), names))
    assert [report["ok"] for report in reports] == [True] * 3
    with Mill(load_settings()) as mill:
        assert all(line.balances for line in mill.store.ledger.lines())
        assert mill.spool.segments_held() == 0


def patiently(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """``work``, again while the spool is in other hands before the import itself begins."""
    while True:
        try:
            return work()
        except SpoolBusy:
            time.sleep(0.05)


def test_an_import_beside_a_process_that_serves_nothing_says_so(
    mill: Mill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free_port: int
) -> None:
    monkeypatch.setenv("TIDEMILL_INTAKE_PORT", str(free_port))
    monkeypatch.setattr(importing, "_BUSY_S", 0.6)
    mill.spool.append("acme", Envelope(content_type=JSON, received_unix_nano=1, body=b"{}").pack())
    with Mill(load_settings()) as other:
        other.__dict__["door"] = mill.door
        (path,) = files(tmp_path, langfuse=DOCUMENTS["langfuse"])
        report = ingest(other, "acme", [path])
    assert "another process holds the spool" in report["files"][str(path)]["refused"]
