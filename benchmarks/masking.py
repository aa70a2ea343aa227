"""Masking: strings a second with and without the cache, and recall and damage on the structured cases.

Usage: python benchmarks/masking.py [--json] [--cases FOLDER] [--strings N]

The strings are customer messages of the shop example, all different. The cases (``pii/tau_structured`` under the cases
folder, by default the one beside the checkout) are optional; without them their figures are absent.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from examples.shop import wordings  # noqa: E402 - the checkout is not an installed package
from examples.shop.world import customer, slot  # noqa: E402
from governance.keys import DerivedKeyProvider  # noqa: E402
from governance.masking.presidio_masker import PresidioMasker  # noqa: E402


def messages(count: int) -> list[str]:
    """Distinct messages of made-up customers."""
    found: dict[str, None] = {}
    place = 0
    while len(found) < count:
        one = slot("harbor", 1, place // 1000 % 7, place % 1000, frozenset({"judgement"}))
        found[wordings.message(one, customer(one.customer_id, 1), 1)] = None
        place += 1
    return list(found)


def speed(masker: PresidioMasker, texts: list[str]) -> tuple[float, float]:
    """Strings a second by the clock, and by this process's processor time, which a busy machine does not change."""
    begin, spent = time.perf_counter(), time.process_time()
    masker.mask("bench", texts)
    spent, begin = time.process_time() - spent, time.perf_counter() - begin
    return round(len(texts) / begin, 1), round(len(texts) / spent, 1)


def quality(masker: PresidioMasker, file: Path) -> dict[str, Any]:
    """Recall of personal values and damage to values that must stay."""
    cases = [json.loads(line) for line in file.read_text().splitlines()]
    counts = {"personal": 0, "masked": 0, "must_keep": 0, "damaged": 0}
    for case, masked in zip(cases, masker.mask("bench", [case["text"] for case in cases]), strict=True):
        value = json.loads(masked.value) if case["format"] == "json" else masked.value
        counts["personal"] += len(case["pii_fields"]) + len(case["pii_spans"])
        counts["masked"] += sum(str(at(value, one["pointer"])) != one["value"] for one in case["pii_fields"])
        counts["masked"] += sum(
            any(found.start <= one["start"] and found.end >= one["end"] for found in masked.findings)
            for one in case["pii_spans"]
        )
        counts["must_keep"] += len(case["must_keep"])
        counts["damaged"] += sum(
            one["value"] not in (str(at(value, one["pointer"])) if one.get("pointer") else masked.value)
            for one in case["must_keep"]
        )
    return counts | {"recall": round(counts["masked"] / counts["personal"], 4)}


def at(value: Any, pointer: str) -> Any:
    """The value at a JSON pointer."""
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--cases", type=Path, default=ROOT.parent / "shared" / "cases")
    parser.add_argument("--strings", type=int, default=1000)
    options = parser.parse_args()
    masker = PresidioMasker(DerivedKeyProvider("benchmark"))
    masker.mask("warm-up", ["Hello, this is Anna Miller, (212) 555-0134."])
    texts = messages(options.strings)
    cold, warm = speed(masker, texts), speed(masker, texts)
    result: dict[str, Any] = {
        "strings": len(texts),
        "strings_per_second": cold[0],
        "strings_per_processor_second": cold[1],
        "strings_per_second_cached": warm[0],
    }
    cases = options.cases / "pii" / "tau_structured" / "cases.jsonl"
    if cases.is_file():
        result["tau_structured"] = quality(masker, cases)
    print(json.dumps(result) if options.json else "\n".join(f"{key}: {value}" for key, value in result.items()))


if __name__ == "__main__":
    main()
