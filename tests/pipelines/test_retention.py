"""Retention by the clock: the daily job leaves nothing overdue, and says so where something is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from governance.records.retention import RETENTION, RetentionClass
from governance.records.signal import Signal, SignalKind
from governance.store import Store
from pipelines.assets import TurnResource, nothing_overdue, swept_store
from pipelines.definitions import definitions
from pipelines.settings import load_settings
from pipelines.wiring import Mill, shared_mill


@pytest.fixture
def mill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mill]:
    monkeypatch.setenv("TIDEMILL_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TIDEMILL_AGENT", raising=False)
    yield shared_mill(load_settings())
    shared_mill(load_settings()).close()
    shared_mill.cache_clear()


def materialised() -> tuple[Any, bool]:
    done = dg.materialize([swept_store, nothing_overdue], resources={"turn": TurnResource()})
    (check,) = done.get_asset_check_evaluations()
    return done.asset_materializations_for_node("swept_store")[0].metadata, bool(check.passed)


def test_what_is_overdue_is_swept_and_what_stays_overdue_is_told(mill: Mill, monkeypatch: pytest.MonkeyPatch) -> None:
    now = mill.clock.now()
    signal = Signal(
        id="s", tenant_id="acme", trajectory_id="acme/t", subject="x", kind=SignalKind.REVIEW, detail={}, at=now
    )
    mill.store.signals.put_all([signal])
    assert materialised()[0]["rows"].value == 0
    late = now + RETENTION[RetentionClass.CONTENT] + timedelta(days=1)
    monkeypatch.setattr(type(mill.clock), "now", lambda _: late)
    with monkeypatch.context() as broken:
        broken.setattr(Store, "sweep", lambda _store, _now: {})
        assert materialised()[1] is False
    metadata, passed = materialised()
    assert passed
    assert metadata["tables"].value["signals"] == 1


def test_it_runs_each_day() -> None:
    repository = definitions.get_repository_def()
    schedule = repository.get_schedule_def("daily")
    assert schedule.job_name == "retention"
    assert schedule.default_status is dg.DefaultScheduleStatus.RUNNING
