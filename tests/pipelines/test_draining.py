"""A data home that drains with several processes, each with the real masker."""

from __future__ import annotations

from pathlib import Path

import pytest

from governance.records.base import to_unix_nano
from governance.records.rights import Purpose
from ingestion.envelope import Envelope
from ingestion.otlp_decode import JSON
from pipelines.draining import drain
from pipelines.settings import load_settings
from pipelines.wiring import Mill
from tests.ingestion.otlp_bodies import body
from tests.ingestion.test_drain import run_of
from tests.pipelines.test_ingest import contract

SEGMENTS = 4


def test_processes_share_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEMILL_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TIDEMILL_DRAIN_WORKERS", "2")
    monkeypatch.delenv("TIDEMILL_AGENT", raising=False)
    with Mill(load_settings()) as mill:
        contract(mill, *Purpose)
        received = to_unix_nano(mill.clock.now())
        for number in range(1, SEGMENTS + 1):
            spans = run_of(f"{number:032x}", text="Call me at 212-555-0142")
            sent = Envelope(content_type=JSON, received_unix_nano=received, entries=2, body=body(*spans))
            mill.spool.append("acme", sent.pack())
            mill.spool.seal()
        report = drain(mill)
        assert (report.segments, report.fates, report.withheld) == (SEGMENTS, {"stored": 2 * SEGMENTS}, 0)
        assert all(line.balances for line in mill.store.ledger.lines())
        found = mill.store.spans.trace("acme", f"{1:032x}", Purpose.DEBUG)
        assert len(found) == 2
        assert "555-0142" not in "".join(one.model_dump_json() for one in found)
