"""The report: everything from a trace is text, and a real browser shows every picture."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from pipelines.demo.table import show
from pipelines.report.render import render, write

HOSTILE = "<script>document.title='owned'</script>{{ 7*7 }}{% raw %}"


def summary(**changes: Any) -> dict[str, Any]:
    evaluation = {
        "champion_success": 0.1, "candidate_success": 0.9, "difference": 0.8, "low": 0.7, "high": 0.9, "tasks": 96,
        "p_value": 1e-9, "verdict": "pass", "method": "paired", "reasons": ["better", HOSTILE],
        "families": [{"family": HOSTILE, "tasks": 40, "champion": 0.1, "candidate": 0.9}],
    }  # fmt: skip
    return {
        "agent": HOSTILE, "scope": "a@b", "window": "2026-11-16 to 2026-11-22", "troubles": ["x"], "seed": 7,
        "sessions": {"total": 600, "real": 48, "simulated": 552},
        "days": [{"day": "2026-11-16", "success": 3, "failure": 2, "unknown": 1}],
        "ledger": [{"tenant": "t", "day": "d", "received": 3, "stored": 3, "updated": 0, "duplicate": 0, "rejected": 0,
                    "quarantined": 0, "withheld": 1, "balances": True}],
        "rows": [{"step": "runs trained on", "considered": 5, "kept": 3, "excluded": {HOSTILE: 2}}],
        "patterns": [{"lever": "weights", "key": HOSTILE, "trajectories": 5, "subjects": 4, "reason": HOSTILE}],
        "proposals": [{"lever": "context", "pattern": HOSTILE, "text": HOSTILE}],
        "evaluation": evaluation, "rebuilt": evaluation, "arms": [],
        "release": {"promoted": "True in 1 s", "probe": "near"}, "cycle": {"outcome": "improved"},
        "erasure": {"artifacts": [{"kind": "task", "state": "deleted", "count": 2}], "facts": {"tainted": HOSTILE}},
        "deployments": [{"version": 1, "release": "abc", "reason": HOSTILE, "at": "now"}],
        "steps": [{"step": "week", "seconds": 3.0}],
        **changes,
    }  # fmt: skip


def test_what_a_trace_says_is_never_markup() -> None:
    page = render(summary())
    assert "<script>" not in page
    assert "{{ 7*7 }}" in page
    assert "49" not in page.split("{{ 7*7 }}")[0][-200:]
    assert page.count("<svg") == 4


def test_a_cycle_without_a_candidate_has_a_report() -> None:
    from pipelines.demo.summary import EMPTY_EVALUATION

    page = render(summary(evaluation=EMPTY_EVALUATION, erasure=None, proposals=[], patterns=[]))
    assert "no pattern" in page
    assert "No request in this run" in page


def test_the_table_names_the_interval() -> None:
    assert "95% interval +0.700 to +0.900" in show(summary())


@pytest.mark.browser
def test_a_browser_shows_the_report(tmp_path: Path) -> None:
    from tests.conftest import services_required

    chromium = shutil.which("chromium")
    if chromium is None:
        if services_required():
            pytest.fail("chromium is required here and missing")
        pytest.skip("chromium is missing")
    from playwright.sync_api import sync_playwright

    page_file = write(summary(), tmp_path / "index.html")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 900, "height": 1200})
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(page_file.as_uri())
        assert page.title() == "Tidemill: one turn of the loop"
        boxes = [picture.bounding_box() for picture in page.query_selector_all("svg")]
        assert len(boxes) == 4
        assert all(box and box["width"] > 300 and box["height"] > 60 for box in boxes)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 900, "nothing runs out of the page"
        assert not errors
        browser.close()
