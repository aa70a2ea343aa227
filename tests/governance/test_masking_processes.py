"""Detectors in processes: the same findings, and an end to what does not come back."""

from __future__ import annotations

import os
import pickle
import signal
import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from governance.errors import MaskingError
from governance.masking.detection import Detector, TextDetector, TextKind
from governance.masking.memory import Memory
from governance.masking.process_detector import PART, SLOWEST, ProcessDetector, _Worker
from governance.masking.rules_digest import detectors_digest
from governance.masking.spans import Hit

Found = list[tuple[Hit, ...]]


class Toy(TextDetector):
    """Finds a process id, and does what a text tells it to do."""

    def find(self, texts: Sequence[tuple[str, TextKind]]) -> Found:
        for text, _ in texts:
            if text == "hang":
                time.sleep(60)
            if text == "die":
                os.kill(os.getpid(), signal.SIGKILL)
            if text == "fail":
                raise MaskingError("a detector failed (ValueError); nothing was masked")
        return [(Hit(0, len(text), "PID", float(os.getpid())),) for text, _ in texts]


@pytest.fixture
def two() -> Iterator[ProcessDetector]:
    made = ProcessDetector(2, time_limit=5.0, detector=Toy)
    made.load()
    yield made
    made.close()


def of(*texts: str) -> list[tuple[str, TextKind]]:
    return [(text, TextKind.TEXT) for text in texts]


def workers(found: Found) -> set[float]:
    return {hit.score for hits in found for hit in hits}


def test_texts_are_shared_out_and_come_back_in_order(two: ProcessDetector) -> None:
    texts = ["x" * length for length in (5, 4000, 17, 3000, 900, 0)]
    found = two.find(of(*texts))
    assert [hits[0].end for hits in found] == [len(text) for text in texts]
    assert len(workers(found)) == 2
    assert os.getpid() not in workers(found)
    assert workers(two.find(of(*texts))) == workers(found)  # the same workers again
    assert two.find([]) == []


def test_a_large_call_is_several_requests_each_with_its_limit(
    two: ProcessDetector, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits: list[float] = []
    answer = _Worker.answer

    def noted(worker: _Worker, until: float) -> Any:
        limits.append(until - time.monotonic())
        return answer(worker, until)

    monkeypatch.setattr(_Worker, "answer", noted)
    texts = ["x" * PART, "y" * (3 * PART), "z" * 10, ""]
    found = two.find(of(*texts))
    assert [hits[0].end for hits in found] == [len(text) for text in texts]
    allowed = [5.0 + count / SLOWEST for count in (PART, 3 * PART, 10)]
    assert [round(limit) for limit in limits] == [round(limit) for limit in allowed]


@pytest.mark.parametrize("word", ["hang", "die", "fail"])
def test_what_does_not_come_back_fails_the_call_and_nothing_after_it(word: str) -> None:
    one = ProcessDetector(1, time_limit=1.0, detector=Toy)
    one.load()
    before = workers(one.find(of("a")))
    begin = time.monotonic()
    with pytest.raises(MaskingError, match="nothing was masked") as caught:
        one.find(of("b", word))
    assert caught.value.reason == ("masking_timeout" if word == "hang" else "masking_failed")
    assert time.monotonic() - begin < 20
    after = workers(one.find(of("c")))
    assert len(after) == 1
    assert (after == before) == (word == "fail")  # who answers goes on
    one.close()


def test_the_digest_of_the_rules_is_one_for_all_processes() -> None:
    assert detectors_digest() == detectors_digest.__wrapped__()
    assert len(detectors_digest()) == 64


def test_memory_is_bounded_in_entries_and_bytes_and_holds_no_text() -> None:
    memory: Memory[str] = Memory(3, 10_000)
    names = [memory.name("t", "v", "text", f"somebody {place}") for place in range(5)]
    for place, name in enumerate(names):
        memory.put(name, str(place), 1)
        assert memory.get(names[0]) == ("0" if place < 3 else memory.get(names[0]))
    assert len(memory) == 3
    memory.put(names[4], "again", 2)
    assert memory.get(names[4]) == "again"
    memory.put(names[1], "large", 27)
    assert memory.bytes <= 10_000
    assert memory.get(names[4]) is None
    assert Memory(3, 10).name("a") != memory.name("a")
    assert memory.name("ab", "c") != memory.name("a", "bc")
    assert b"somebody" not in pickle.dumps([memory._held, memory._key])


def test_a_pattern_that_takes_too_long_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    detector = Detector()
    detector.load()
    monkeypatch.setattr("presidio_analyzer.pattern_recognizer.REGEX_TIMEOUT_SECONDS", 1e-9)
    with pytest.raises(MaskingError, match="TimeoutError"):
        detector.find(of("somebody@host.example " * 2000))
