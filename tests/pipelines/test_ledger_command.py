"""The ledger as a command and as asset checks, and quarantine as a command: the same books everywhere."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from click.testing import CliRunner

from governance.policy.audit_chain import faults
from governance.records.ledger import Fate
from pipelines.assets import TurnResource, drained_spool, spool_ledger_balances
from pipelines.cli import main
from pipelines.ledger import books
from pipelines.settings import load_settings
from pipelines.tenant_keys import TenantKeys
from pipelines.wiring import Mill, shared_mill
from tests.ingestion.otlp_bodies import body
from tests.ingestion.test_drain import run_of
from tests.ingestion.test_quarantine import Detector
from tests.pipelines.test_ingest import contract


@pytest.fixture
def detector(monkeypatch: pytest.MonkeyPatch) -> Detector:
    """The masker of every mill that is opened."""
    detector = Detector()
    monkeypatch.setattr("governance.masking.presidio_masker.PresidioMasker", lambda *_, **__: detector)
    return detector


@pytest.fixture
def mill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, detector: Detector) -> Iterator[Mill]:
    monkeypatch.setenv("TIDEMILL_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TIDEMILL_AGENT", raising=False)
    TenantKeys(load_settings().keys / "tenants.json").of("acme")
    with Mill(load_settings()) as mill:
        contract(mill)
        yield mill


def told(*words: str) -> tuple[int, dict[str, Any]]:
    result = CliRunner().invoke(main, [*words, "--json"])
    return result.exit_code, json.loads(result.output.splitlines()[-1])


def sick(mill: Mill, trace: str = "a" * 32) -> str:
    """Two spans in quarantine."""
    from governance.records.base import to_unix_nano
    from ingestion.envelope import Envelope
    from ingestion.otlp_decode import JSON

    received = to_unix_nano(mill.clock.now())
    held = Envelope(content_type=JSON, received_unix_nano=received, entries=2, body=body(*run_of(trace, text="poison")))
    mill.spool.append("acme", held.pack())
    mill.spool.close()
    del mill.__dict__["spool"]
    mill.drain(patient=False).run()
    return mill.store.quarantine.list()[-1].id


def test_the_ledger_says_what_became_of_each_span_and_why(mill: Mill, detector: Detector) -> None:
    sick(mill)
    day = mill.clock.now().date().isoformat()
    code, answer = told("ledger")
    assert (code, answer["ok"], answer["lines"]) == (0, True, 1)
    line = answer[f"acme {day}"]
    assert line == {
        "received": 2,
        "quarantined": {"masking_failed": 2},
        "withheld": 0,
        "waiting": 2,
        "balances": True,
    }
    detector.poison = set()
    assert told("quarantine", "retry")[1]["released"] == {"stored": 2}
    released = told("ledger", "--tenant", "acme", "--since", day)[1][f"acme {day}"]
    assert released["released"] == {"stored": {"": 2}}
    assert "waiting" not in released
    code, refused = told("ledger", "--tenant", "bolt")
    assert (code, "no tenant 'bolt'" in refused["error"]) == (1, True)
    assert told("ledger", "--since", "2999-01-01")[1]["lines"] == 0


def test_books_that_do_not_balance_fail_and_are_named(mill: Mill) -> None:
    mill.store.ledger.record("acme", "2026-03-01", 3, [(Fate.STORED, "")], 0, "s")
    mill.store.ledger.record("acme", "2026-03-02", 1, [(Fate.QUARANTINED, "masking_failed")], 0, "s")
    mill.store.quarantine.put("q", "bolt", b"x", "r", mill.clock.now().replace(year=2999), day="2026-03-03", spans=4)
    code, answer = told("ledger")
    assert (code, answer["ok"]) == (1, False)
    assert answer["wrong"] == {
        "acme 2026-03-01": "received 3, accounted for 1",
        "acme 2026-03-02": "1 spans in quarantine by the ledger, 0 there",
        "bolt 2026-03-03": "0 spans in quarantine by the ledger, 4 there",
    }
    assert answer["acme 2026-03-01"]["balances"] is False
    assert told("ledger", "--tenant", "bolt")[0] == 1
    assert told("ledger", "--since", "2026-03-04")[0] == 0


def test_dagster_drains_tries_again_and_checks(mill: Mill, detector: Detector) -> None:
    sick(mill)
    detector.poison = set()
    shared_mill.cache_clear()
    resources = {"turn": TurnResource()}
    done = dg.materialize([drained_spool, spool_ledger_balances], resources=resources)
    (check,) = done.get_asset_check_evaluations()
    assert check.passed
    metadata = done.asset_materializations_for_node("drained_spool")[0].metadata
    quarantine: Any = metadata["quarantine"].value
    assert quarantine["released"] == {"stored": 2}
    assert metadata["trajectories"].value == 1
    mill.store.ledger.record("acme", "2026-03-01", 3, [(Fate.STORED, "")], 0, "s")
    done = dg.materialize([drained_spool, spool_ledger_balances], resources=resources)
    (check,) = done.get_asset_check_evaluations()
    assert not check.passed
    assert check.metadata["wrong"].value == {"acme 2026-03-01": "received 3, accounted for 1"}
    shared_mill(load_settings()).close()
    shared_mill.cache_clear()


def test_quarantine_is_listed_without_what_is_in_it(mill: Mill) -> None:
    name = sick(mill)
    code, answer = told("quarantine", "list")
    assert (code, answer["records"], answer["spans"]) == (0, 1, 2)
    row = answer[name[:12]]
    assert (row["tenant"], row["reason"], row["attempts"]) == ("acme", "masking_failed", 0)
    assert row["since"] < row["expires_at"]
    assert "poison" not in json.dumps(answer)
    code, answer = told("quarantine", "retry", name[:6])
    assert (code, answer["failed"], answer["ok"]) == (1, 2, False)
    assert told("quarantine", "list")[1][name[:12]]["attempts"] == 1
    assert told("quarantine", "retry", "nothing")[1]["kind"] == "NotFound"


def test_a_look_has_a_name_and_is_audited(mill: Mill) -> None:
    name = sick(mill)
    assert told("quarantine", "show", name)[0] == 0
    code, answer = told("quarantine", "show", name[:8], "--reviewer", "r-17")
    assert code == 0
    assert "poison" in json.dumps(answer)
    looks = [event for event in mill.store.audit.list("acme") if event.action == "view_quarantine"]
    assert [event.actor for event in looks] == [f"local-owner-{os.getuid()}", "r-17"]
    assert {(event.role, event.target) for event in looks} == {("reviewer", f"quarantine:{name}")}
    assert list(faults(mill.store.audit.lines("acme"))) == []


def test_books_of_a_home_that_releases_while_they_are_read(mill: Mill, monkeypatch: pytest.MonkeyPatch) -> None:
    sick(mill)
    real, times = mill.store.quarantine.held, []

    def held() -> dict[tuple[str, str], int]:
        times.append(1)
        return {} if len(times) == 1 else real()

    monkeypatch.setattr(mill.store.quarantine, "held", held)
    assert books(mill.store).balance
