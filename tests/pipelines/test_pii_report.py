"""The page about masking: numbers of the store, names as text, no raw value, and a real browser shows it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from governance.ports.masker import Masked
from governance.records.ledger import Fate
from governance.records.masking_list import ListAct, ListEvent, ListName
from governance.records.masking_policy import MaskingPolicy
from governance.records.message import Role, text_message
from governance.records.review import ReviewDecision, Reviewed, ReviewKind
from governance.records.rights import Purpose
from governance.records.row_review import RowReview
from governance.records.trajectory import Actor, Turn
from pipelines.cli import main
from pipelines.pii import examples, reporting
from pipelines.settings import load_settings
from pipelines.wiring import Mill
from tests.governance.store_records import T1, manifest, person, row, span_id, trajectory
from tests.ingestion.otlp_bodies import MailMasker
from tests.pipelines.test_pii_commands import Stars

HOSTILE = "<script>document.title='owned'</script>"
RATE = {"value": 0.9, "low": 0.5, "high": 1.0, "k": 9, "n": 10, "clusters": 10, "enough": False}
FIGURES = {
    "file": HOSTILE, "form": "tidemill", "rule": "overlap", "judged": "masking", "policy": "0" * 64, "method": "Wilson",
    "whole": {"texts": 10, "recall": RATE},
    "types": {HOSTILE: {"texts": 10, "recall": {**RATE, "enough": True}, "damaged": RATE}},
    "languages": {}, "channels": {},
}  # fmt: skip


class Tags(HTMLParser):
    """The tags of a page, and the text outside of styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.links: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in {"src", "href", "xlink:href"}]
        if tag not in {"meta", "path", "use", "br", "link"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def mill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mill]:
    monkeypatch.setenv("TIDEMILL_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TIDEMILL_AGENT", raising=False)
    with Mill(load_settings()) as opened:
        yield opened


@pytest.fixture
def filled(mill: Mill, tmp_path: Path) -> Mill:
    """A home with something in every part of the page, and hostile names."""
    now = mill.clock.now()
    fates = [(Fate.STORED, "")]
    mill.store.ledger.record("acme", "2026-03-01", 1, fates, 0, "a", {"user": {"PERSON": 3, HOSTILE: 1}})
    mill.store.ledger.record("acme", "2026-03-02", 1, fates, 0, "b", {"tool_results": {"PERSON": 2}})
    mill.store.ledger.record(HOSTILE, "2026-03-02", 1, fates, 0, "c", {HOSTILE: {"US_SSN": 4}})
    mill.store.quarantine.put("q" * 20, "acme", b"x", HOSTILE, now + timedelta(days=1), day="2026-03-01", spans=7)
    entry = ListEvent(
        tenant_id="acme", list_name=ListName.ALLOW, act=ListAct.ADD, entity_type="PERSON", mention="m" * 64, words=1,
        subject="s", owner=HOSTILE, reason=HOSTILE, actor="r-1", at=now, until=now + timedelta(days=9),
    )  # fmt: skip
    mill.store.masking_lists.add(entry)
    verdict = mill.store.rights.verdict(Purpose.COMPLY, "acme", person(1), T1)
    for step in (0, 1):
        rows = [row(trajectory(1, subject=person(1)), verdict, step)]
        mill.store.datasets.put(manifest(rows, scope=HOSTILE), rows, [])
    said = {"root": manifest(rows).root, "row": rows[0].digest(), "tenant_id": "acme", "leaks": {"PERSON": 2}}
    mill.store.row_reviews.put(RowReview.model_validate({**said, "reviewer": "r-1", "at": now}))
    decided = Reviewed(
        id="d", tenant_id="acme", kind=ReviewKind.SAMPLE, decision=ReviewDecision.MISSED, types=("PERSON",), found=1,
        missed=2, reviewer="r-1", at=now,
    )  # fmt: skip
    for name, missed in (("d1", 2), ("d2", 0), ("d3", 0)):
        mill.store.reviews.note(decided.model_copy(update={"id": name, "missed": missed}))
    (tmp_path / "figures.json").write_text(json.dumps(FIGURES))
    return mill


def told(*words: str) -> dict[str, Any]:
    result = CliRunner().invoke(main, ["pii", "report", *words, "--json"])
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return found


def test_names_are_text_whatever_they_are(filled: Mill, tmp_path: Path) -> None:
    done = told("--no-made-up", "--evaluation", str(tmp_path / "figures.json"))
    assert (done["values_replaced"], done["quarantined"]) == (10, 1)
    page = Path(done["report"]).read_text()
    assert Path(done["report"]).is_relative_to(filled.settings.home / "report")
    seen = Tags(page)
    assert "script" not in seen.tags
    assert seen.open == [], "every tag is closed"
    assert seen.text.count(HOSTILE) >= 6
    assert all(link.startswith("#") for link in seen.links), "it needs nothing from elsewhere"
    assert "m" * 64 not in page, "a list shows no keyed identifier"
    for words in (
        "too few to say",
        "not the policy in force",
        "not reviewed",
        "at most",
        "PERSON 2",
        "tool_results 2",
        "user 3",
    ):
        assert words in " ".join(seen.text.split())


def test_an_empty_home_has_a_page(mill: Mill) -> None:
    text = Tags(Path(told("--no-made-up")["report"]).read_text()).text
    for words in ("nothing", "no tenant", "no entry", "empty", "Not measured", "no dataset", "None were asked for"):
        assert words in text


def test_one_tenant_and_days_from_one_on(filled: Mill, tmp_path: Path) -> None:
    filled.tenant_keys.of("acme")
    out = tmp_path / "page.html"
    done = told("--tenant", "acme", "--since", "2026-03-02", "--no-made-up", "--out", str(out))
    assert (done["values_replaced"], done["report"]) == (2, str(out))
    assert "US_SSN" not in out.read_text()


def test_a_file_that_holds_no_figures_is_named(mill: Mill, tmp_path: Path) -> None:
    (tmp_path / "no.json").write_text("[]")
    result = CliRunner().invoke(main, ["pii", "report", "--no-made-up", "--evaluation", str(tmp_path / "no.json")])
    assert result.exit_code == 1
    assert "no.json: not what `tidemill pii evaluate --json` prints" in result.stderr


def test_the_policy_of_each_tenant_is_shown_with_its_version(mill: Mill, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = MaskingPolicy.model_validate(
        {"actions": {"ORGANIZATION": "mask", "HEALTH": "keep"}, "thresholds": {"PERSON": 0.7}}
    )
    monkeypatch.setattr(type(mill.policies), "policy", lambda self, tenant: policy)
    mill.store.ledger.record("acme", "2026-03-01", 1, [(Fate.STORED, "")], 0, "a")
    made = reporting.summary(mill, None, "", [])
    (shown,) = made["policies"]
    assert (shown["version"], shown["mask"], shown["thresholds"]) == (policy.version, ["ORGANIZATION"], {"PERSON": 0.7})
    assert "HEALTH" in shown["keep"]
    assert "BELIEF" in shown["quarantine"]
    assert policy.version[:12] in reporting.render(made)


def test_the_sample_of_traffic_has_a_rate(filled: Mill) -> None:
    (acme, *_) = [one for one in reporting.summary(filled, None, "", [])["reviews"] if one["tenant"] == "acme"]
    assert (acme["texts"], acme["missing"], acme["values_missed"]) == (3, 1, 2)
    assert (acme["low"], acme["high"]) == pytest.approx((0.0084, 0.9057), abs=1e-4)
    assert acme["low"] < acme["value"] < acme["at_most"] < acme["high"]


def said(number: int, text: str) -> Any:
    turn = Turn(actor=Actor.CUSTOMER, message=text_message(Role.USER, text), span_id=span_id(0), at=T1)
    return trajectory(number, subject=person(number), turns=(turn,))


def test_examples_of_stored_runs_hide_every_value_and_stay_outside_the_home(
    mill: Mill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = mill.clock.now()
    run = said(1, "x" * 100 + f" ask @ or @ {HOSTILE} " + "y" * 100).model_copy(
        update={"started_at": now - timedelta(1)}
    )
    mill.store.trajectories.put(run)
    mill.store.ledger.record("acme", "2026-03-01", 1, [(Fate.STORED, "")], 0, "a")
    monkeypatch.setattr(Mill, "masker", Stars())
    refused = CliRunner().invoke(main, ["pii", "report", "--no-made-up", "--examples", "5"])
    assert refused.exit_code == 2
    out = tmp_path / "page.html"
    told("--no-made-up", "--examples", "5", "--out", str(out))
    text = Tags(out.read_text()).text
    assert text.count("[AT] or [AT]") == 2, "each value with its neighbour hidden as well"
    assert "@" not in text
    assert "y" * 70 not in text
    assert "script" not in Tags(out.read_text()).tags
    assert "read_for_comply" in {event.action for event in mill.store.audit.list("acme")}


class Opaque(MailMasker):
    """Replaces addresses and says where."""

    def mask(self, tenant_id: str, values: Sequence[Any]) -> list[Masked]:
        return [
            Masked(
                value=one.value,
                findings=tuple(found.model_copy(update={"masked_end": 0}) for found in one.findings),
                quarantine=("HEALTH",) if "hospital" in value else (),
            )
            for value, one in zip(values, super().mask(tenant_id, values), strict=True)
        ]


def test_made_up_texts_are_shown_masked() -> None:
    shown = examples.made_up(Opaque(), "t")
    assert len(shown) == len(examples.MADE_UP)
    assert "clara.barlow@corp.example" not in json.dumps(shown)
    assert {"quarantined: HEALTH", "masked"} == {one["outcome"] for one in shown}


@pytest.mark.browser
def test_a_browser_shows_the_page(filled: Mill, tmp_path: Path) -> None:
    from tests.conftest import services_required

    chromium = shutil.which("chromium")
    if chromium is None:
        if services_required():
            pytest.fail("chromium is required here and missing")
        pytest.skip("chromium is missing")
    from playwright.sync_api import sync_playwright

    page_file = Path(told("--no-made-up", "--evaluation", str(tmp_path / "figures.json"))["report"])
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 900, "height": 1200})
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(page_file.as_uri())
        assert page.title() == "Tidemill: masking"
        boxes = [picture.bounding_box() for picture in page.query_selector_all("svg")]
        assert len(boxes) == 2
        assert all(box and box["width"] > 300 and box["height"] > 60 for box in boxes)
        assert page.evaluate("document.documentElement.scrollWidth") <= 900, "nothing runs out of the page"
        assert page.evaluate("document.scripts.length") == 0
        assert not errors
        browser.close()
