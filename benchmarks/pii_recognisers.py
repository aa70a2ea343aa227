"""Recognisers: the cases of Presidio's own recognisers, and texts a second.

Usage: python benchmarks/pii_recognisers.py [--json] [--cases FOLDER] [--texts N]

A case is a text, the types it is about and where they stand; ``expected_len`` 0 is a negative. They test recognisers
alone, most of them a bare number, so every match counts from any score on (``Detector.candidates``): "found" means that
a match of the type stands at each position, "silent" that there is none. What counts in production is another question:
how many of the positives reach the threshold without a word beside them is told as ``positives_at_threshold``.
The texts are those of ``benchmarks.chats``, about thirty words each. The cases (``pii/presidio_recognizer_cases`` under
the cases folder, by default the one beside the checkout) are optional; without them their figures are absent.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.chats import Sentences
from governance.masking.detection import Detector, TextKind
from governance.masking.recognisers import build
from governance.masking.spans import THRESHOLD


def of_case(case: dict[str, Any]) -> set[str]:
    """The types that a case is about: its own, or what its file is named after."""
    return set(case["entities"] or [case["source"].removeprefix("test_").removesuffix("_recognizer.py").upper()])


def right(case: dict[str, Any], spans: set[tuple[int, int]]) -> bool:
    """Whether the spans are what the case expects."""
    wanted = {(start, end) for start, end in case["expected_positions"]}
    if case["expected_len"] == 0:
        return not spans
    return wanted <= spans if wanted else len(spans) == case["expected_len"]


def cases(detector: Detector, file: Path) -> dict[str, Any]:
    """Positives found at their positions, negatives silent, and what is wrong by type."""
    counts: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for case in map(json.loads, file.read_text().splitlines()):
        kind = "negatives" if case["expected_len"] == 0 else "positives"
        hits = [hit for hit in detector.candidates(case["text"]) if hit.entity_type in of_case(case)]
        ok = right(case, {(hit.start, hit.end) for hit in hits})
        counts[kind] += 1
        counts[f"{kind}_right"] += ok
        counts[f"{kind}_at_threshold"] += any(hit.score >= THRESHOLD for hit in hits)
        if not ok:
            wrong["/".join(sorted(of_case(case)))] += 1
    shares = {kind: round(counts[f"{kind}_right"] / counts[kind], 4) for kind in ("positives", "negatives")}
    return {**counts, "found": shares["positives"], "silent": shares["negatives"], "wrong": dict(wrong)}


def speed(detector: Detector, count: int) -> dict[str, Any]:
    """Texts a second by the clock and by this process's processor time, best of three."""
    sentences = Sentences(random.Random(7))
    texts = [(sentences.text(30), TextKind.TEXT) for _ in range(count)]
    detector.find(texts)  # patterns compile on first use
    best = {"texts_per_second": 0.0, "texts_per_processor_second": 0.0}
    for _ in range(3):
        begin, spent = time.perf_counter(), time.process_time()
        detector.find(texts)
        spent, begin = time.process_time() - spent, time.perf_counter() - begin
        best["texts_per_second"] = max(best["texts_per_second"], round(count / begin, 1))
        best["texts_per_processor_second"] = max(best["texts_per_processor_second"], round(count / spent, 1))
    return {"texts": count, **best}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--cases", type=Path, default=ROOT.parent / "shared" / "cases")
    parser.add_argument("--texts", type=int, default=200)
    options = parser.parse_args()
    detector = Detector()
    listed = build()
    types = {entity for one in listed for entity in one.recogniser.supported_entities}
    result: dict[str, Any] = {"recognisers": len(listed), "types": len(types), **speed(detector, options.texts)}
    file = options.cases / "pii" / "presidio_recognizer_cases" / "cases.jsonl"
    if file.is_file():
        result["presidio_recognizer_cases"] = cases(detector, file)
    print(json.dumps(result) if options.json else "\n".join(f"{key}: {value}" for key, value in result.items()))


if __name__ == "__main__":
    main()
