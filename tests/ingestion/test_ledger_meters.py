"""The ledger's metrics: the store's numbers, whatever process asks, bounded in number and in cost."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from governance.errors import StoreError
from governance.keys import DerivedKeyProvider
from governance.records.ledger import Fate, LedgerLine
from governance.store import Store
from ingestion.budget import Budget
from ingestion.ledger_meters import OTHER, REASONS, TENANTS, LedgerMeters
from ingestion.meters import Meters
from ingestion.receiver import app_of
from ingestion.spool import Spool
from tests.ingestion.otlp_bodies import serving
from tests.ingestion.test_quarantine import Ward
from tests.support.clock import ManualClock
from tests.support.ids import SeededIds

Samples = dict[tuple[str, ...], float]


def samples(text: str, name: str) -> Samples:
    """Label values, in the order of their names, to the number."""
    return {
        tuple(value for _, value in sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name
    }


def line(tenant: str, day: str, received: int, reason: str = "") -> LedgerLine:
    return LedgerLine(tenant_id=tenant, day=day, received=received, fates={Fate.STORED: {reason: received}}, withheld=1)


class Book:
    """Lines that a test writes, and how often they were read."""

    def __init__(self, *lines: LedgerLine) -> None:
        self.lines, self.asked = list(lines), []  # type: ignore[var-annotated]
        self.seconds = 0.0
        self.clock = ManualClock()

    def read(self, since: str) -> Sequence[LedgerLine]:
        self.asked.append(since)
        return [one for one in self.lines if one.day >= since]

    def meters(self, folder: Path) -> Meters:
        spool = Spool(folder, DerivedKeyProvider("meters"), self.clock, SeededIds())
        return Meters(spool, Budget(1), LedgerMeters(self.read, self.clock, lambda: self.seconds))


@pytest.fixture
def ward(tmp_path: Path) -> Iterator[Ward]:
    ward = Ward(tmp_path)
    ward.mill.contract()
    yield ward
    ward.mill.close()


def test_they_are_what_the_ledger_says_and_survive_a_restart(ward: Ward, free_port: int) -> None:
    from ingestion.intake import Intake

    ward.fill()
    ward.heal()
    ward.quarantine.run()
    ward.detector.poison = {"poison"}
    ward.fill("b" * 32)
    for _ in range(2):  # each time a process that has counted nothing itself
        intake = Intake(ward.mill.spool, {"k": "acme"}, clock=ward.mill.clock, ledger=ward.mill.store.ledger.lines)
        with serving(app_of(intake), free_port) as url:
            text = httpx.get(f"{url}/metrics").text
        assert samples(text, "tidemill_ledger_received_total") == {("acme",): 4}
        assert samples(text, "tidemill_ledger_spans_total") == {("quarantined", "masking_failed", "acme"): 4}
        assert samples(text, "tidemill_ledger_released_total") == {("stored", "", "acme"): 2}
        assert samples(text, "tidemill_ledger_waiting") == {("acme",): 2}
        assert samples(text, "tidemill_ledger_withheld_total") == {("acme",): 0}
        assert samples(text, "tidemill_ledger_unbalanced_days") == {("acme",): 0}
        assert samples(text, "tidemill_ledger_readable") == {(): 1}
    ward.mill.clock.advance(days=3)
    ward.quarantine.run()
    text = (
        Intake(ward.mill.spool, {}, clock=ward.mill.clock, ledger=ward.mill.store.ledger.lines).meters.text().decode()
    )
    assert samples(text, "tidemill_ledger_expired_total") == {("masking_failed", "acme"): 2}
    assert samples(text, "tidemill_ledger_waiting") == {("acme",): 0}


def test_settled_days_are_read_once_and_scrapes_share_a_read(tmp_path: Path) -> None:
    book = Book(line("acme", "2025-01-01", 5), line("acme", "2026-03-01", 7))
    meters = book.meters(tmp_path)
    for _ in range(3):
        assert samples(meters.text().decode(), "tidemill_ledger_received_total") == {("acme",): 12}
    assert book.asked == ["", "2026-02-23"]
    book.seconds += 60
    book.lines.append(line("acme", "2026-03-02", 1))
    assert samples(meters.text().decode(), "tidemill_ledger_received_total") == {("acme",): 13}
    assert book.asked[2:] == ["2026-02-23"]
    book.seconds += 60
    book.clock.advance(days=30)
    assert samples(meters.text().decode(), "tidemill_ledger_received_total") == {("acme",): 13}
    assert book.asked[3:] == ["", "2026-03-25"]


def test_the_number_of_series_is_bounded_and_nothing_is_left_out(tmp_path: Path) -> None:
    many = [line(f"t{number:04d}", "2026-03-01", number) for number in range(TENANTS + 50)]
    many += [line("t0249", "2026-03-02", 1, f"reason {number}") for number in range(REASONS + 30)]
    text = Book(*many).meters(tmp_path).text().decode()
    received = samples(text, "tidemill_ledger_received_total")
    assert len(received) == TENANTS + 1
    assert received[OTHER,] == sum(range(50))
    assert sum(received.values()) == sum(one.received for one in many)
    spans = samples(text, "tidemill_ledger_spans_total")
    assert len([key for key in spans if key[2] == "t0249"]) == REASONS + 1
    assert sum(spans.values()) == sum(received.values())


def test_a_store_that_does_not_answer_costs_these_metrics_alone(tmp_path: Path) -> None:
    book = Book(line("acme", "2026-03-01", 7))
    meters = book.meters(tmp_path)
    meters.text()
    book.seconds += 60

    def broken(since: str) -> Sequence[LedgerLine]:
        raise StoreError("no database")

    for collector in list(meters.registry._collector_to_names):
        if isinstance(collector, LedgerMeters):
            collector._lines = broken
    text = meters.text().decode()
    assert samples(text, "tidemill_ledger_readable") == {(): 0}
    assert samples(text, "tidemill_ledger_received_total") == {}
    assert "tidemill_spool_bytes" in text


def test_findings_have_their_channel_and_type(tmp_path: Path) -> None:
    found = line("acme", "2026-03-01", 2).model_copy(update={"findings": {"user": {"PERSON": 3}}})
    text = Book(found, found).meters(tmp_path).text().decode()
    assert samples(text, "tidemill_ledger_findings_total") == {("user", "acme", "PERSON"): 6}


def test_a_day_that_does_not_balance_is_seen(tmp_path: Path) -> None:
    store = Store.open(f"sqlite:///{tmp_path / 'x.db'}", clock=ManualClock())
    store.ledger.record("acme", "2026-03-01", 2, [(Fate.STORED, "")], 0, "s")
    book = Book(*store.ledger.lines())
    text = book.meters(tmp_path / "spool").text().decode()
    assert samples(text, "tidemill_ledger_unbalanced_days") == {("acme",): 1}
    store.close()


def test_the_table_of_metrics_is_the_metrics(tmp_path: Path, root: Path) -> None:
    there: dict[str, list[str]] = {}
    for collector in Book().meters(tmp_path).registry._collector_to_names:
        for family in collector.describe():  # type: ignore[attr-defined] # every collector here describes itself
            name = f"{family.name}_total" if family.type == "counter" else family.name
            there[name] = list(getattr(family if isinstance(collector, LedgerMeters) else collector, "_labelnames", ()))
    page = (root / "docs" / "engineers.md").read_text()
    rows = re.findall(r"^\| `(tidemill_\w+)` \|([\w, ]*)\|", page, re.MULTILINE)
    assert {name: cell.replace(",", " ").split() for name, cell in rows} == there
