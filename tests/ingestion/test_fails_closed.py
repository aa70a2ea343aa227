"""PII-08: what a detector that is down, or does not come back, should have read is sealed, counted and tried again."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from governance.door import Door
from governance.errors import MaskingError
from governance.masking.detection import Detector, TextDetector, TextKind
from governance.masking.presidio_masker import PresidioMasker
from governance.masking.process_detector import ProcessDetector
from governance.masking.spans import Hit
from governance.masking.surrogate import Surrogates
from governance.records.rights import Purpose
from ingestion.drain import Drain
from ingestion.ledger_meters import LedgerMeters
from ingestion.people import Subjects
from ingestion.quarantine import Quarantine
from tests.ingestion.test_drain import KEYS, Mill, run_of

A, B = "a" * 32, "b" * 32
SAID = "SSN 078-05-1120"
Texts = Sequence[tuple[str, TextKind]]
Found = list[tuple[Hit, ...]]


class Down(Detector):
    """Cannot be reached until it is up; what it raises inside is what a client of a service raises."""

    def __init__(self, fault: Exception) -> None:
        super().__init__()
        self.fault: Exception | None = fault

    def load(self) -> None:
        """There is nothing to load."""

    def _analyse(self, texts: Texts) -> Found:
        if self.fault is not None:
            raise self.fault
        return Numbers().find(texts)


class Numbers(TextDetector):
    """Finds the number above; does not come back from a text that says so."""

    def find(self, texts: Texts) -> Found:
        if any("hang" in text for text, _ in texts):
            time.sleep(120)
        at = [text.find("078-05-1120") for text, _ in texts]
        return [(Hit(place, place + 11, "US_SSN", 1.0),) if place >= 0 else () for place in at]


@pytest.fixture
def mill(tmp_path: Path) -> Iterator[Mill]:
    mill = Mill(tmp_path)
    mill.contract()
    yield mill
    mill.close()


def quarantine(mill: Mill, detector: TextDetector) -> Quarantine:
    """The mill's door over a detector, and the quarantine behind it."""
    mill.door = Door(mill.store, PresidioMasker(KEYS, detector=detector), KEYS, mill.clock)
    mill.drain = Drain(mill.spool, mill.door, mill.store, clock=mill.clock, hold=timedelta(0))
    return Quarantine(mill.spool, mill.door, mill.store, Subjects(mill.door.subject), mill.clock)


def counted(mill: Mill, reason: str) -> float | None:
    registry = CollectorRegistry()
    registry.register(LedgerMeters(mill.store.ledger.lines, mill.clock))
    labels = {"tenant": "acme", "fate": "quarantined", "reason": reason}
    return registry.get_sample_value("tidemill_ledger_spans_total", labels)


@pytest.mark.parametrize(
    "fault", [ConnectionError("HTTP 500"), TimeoutError("no answer"), ValueError("not JSON"), KeyError("entities")]
)
def test_a_detector_that_fails_leaves_nothing_in_clear_and_is_asked_again(
    mill: Mill, tmp_path: Path, fault: Exception
) -> None:
    detector = Down(fault)
    held = quarantine(mill, detector)
    mill.send(*run_of(A, text=SAID))
    assert mill.drain.run().fates == {"quarantined": 2}
    assert counted(mill, "masking_failed") == 2
    assert mill.trajectories() == mill.trajectories(Purpose.TRAIN_WEIGHTS) == ()
    assert not any(b"078-05" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    tried: list[int] = [held.run().failed for _ in range(3)]
    assert tried == [2, 0, 0], "the next attempt waits"
    detector.fault = None
    mill.clock.advance(hours=6)
    assert held.run().released == {"stored": 2}
    mill.drain.run()
    (run,) = mill.trajectories(Purpose.TRAIN_WEIGHTS)
    assert run.turns[0].message.text.startswith("SSN ")
    assert "078-05" not in run.model_dump_json()


def test_a_detector_that_does_not_come_back_is_ended_and_costs_no_other_trace(
    mill: Mill, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    detector = ProcessDetector(1, time_limit=1.0, detector=Numbers)
    end: Callable[[], None] = detector.close
    request.addfinalizer(end)
    held = quarantine(mill, detector)
    mill.send(*run_of(A, text=f"hang, {SAID}"), *run_of(B, text=SAID))
    begin = time.monotonic()
    assert mill.drain.run().fates == {"quarantined": 2, "stored": 2}
    assert time.monotonic() - begin < 100
    assert mill.line().fates == {"quarantined": {"masking_timeout": 2}, "stored": {"": 2}}
    assert counted(mill, "masking_timeout") == 2
    assert [run.trace_id for run in mill.trajectories(Purpose.DEBUG)] == [B]
    assert held.run().failed == 2
    (record,) = mill.store.quarantine.list()
    assert (record.reason, record.attempts) == ("masking_timeout", 1)
    assert not any(b"078-05" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def nested(levels: int, form: str) -> str:
    """JSON of so many levels that holds the number above."""
    before, behind = {"list": ("[", "]"), "object": ('{"a":', "}")}[form]
    return before * levels + json.dumps(SAID) + behind * levels


@pytest.mark.parametrize(("levels", "form"), [(120, "object"), (400, "object"), (3000, "list")])
def test_json_of_any_depth_costs_its_own_trace_and_nobody_elses(mill: Mill, levels: int, form: str) -> None:
    quarantine(mill, Numbers())
    mill.contract("bolt")
    deep = nested(levels, form)
    root, tool = run_of(A)[1], run_of(A)[0]
    tool["attributes"].append({"key": "gen_ai.tool.call.result", "value": {"stringValue": deep}})
    mill.send(tool, root, *run_of(B, text=SAID))
    other = run_of("c" * 32)
    other[1]["attributes"].append({"key": "note", "value": {"stringValue": deep}})
    mill.send(*other, tenant_id="bolt")
    mill.send(*run_of("d" * 32, text=SAID), tenant_id="bolt")
    report = mill.drain.run()
    assert report.fates == {"quarantined": 4, "stored": 4}
    assert list(mill.spool.sealed()) == []
    assert mill.line("bolt").fates == {"quarantined": {"masking_failed": 2}, "stored": {"": 2}}
    assert [run.trace_id for run in mill.trajectories(Purpose.DEBUG)] == [B]


@pytest.mark.parametrize("fault", [RecursionError("deep"), ValueError("078-05-1120"), TypeError("078-05-1120")])
def test_whatever_masking_raises_is_a_masking_error_without_words(
    mill: Mill, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    def broken(*_: object) -> str:
        raise fault

    monkeypatch.setattr(Surrogates, "make", broken)
    masker = PresidioMasker(KEYS, detector=Numbers())
    for failing in (
        lambda: masker.mask("acme", [SAID]),
        lambda: masker.mask_again("acme", [SAID], ()),
        lambda: masker.mask_fields("acme", {"ssn": SAID}, {"ssn": "US_SSN"}),
    ):
        with pytest.raises(MaskingError, match=type(fault).__name__) as caught:
            failing()
        assert "078" not in str(caught.value)
