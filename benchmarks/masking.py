"""Masking of structured agent traffic: recall of personal values, and damage to values that must stay.

Usage: python benchmarks/masking.py [--json] [--cases FOLDER]

The cases (``pii/tau_structured`` under the cases folder, by default the one beside the checkout) are no part of the
project; without them there is nothing to measure. How fast masking is stands in ``benchmarks/pii.py``.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

PREFIX = "Result: "
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from governance.keys import DerivedKeyProvider
from governance.masking.presidio_masker import PresidioMasker


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
    return counts | {"recall": round(counts["masked"] / counts["personal"], 4)} | in_texts(masker, cases)


def in_texts(masker: PresidioMasker, cases: list[dict[str, Any]]) -> dict[str, int]:
    """How many of the JSON values are masked behind a prefix as they are alone."""
    values = [case["text"] for case in cases if case["format"] == "json"]
    alone = masker.mask("bench", values)
    behind = masker.mask("bench", [PREFIX + value for value in values])
    same = sum(
        json.loads(one.value) == json.loads(other.value.removeprefix(PREFIX))
        for one, other in zip(alone, behind, strict=True)
    )
    return {"json_values": len(values), "equal_in_a_text": same}


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
    options = parser.parse_args()
    cases = options.cases / "pii" / "tau_structured" / "cases.jsonl"
    if not cases.is_file():
        parser.error(f"no cases at {cases}")
    result = quality(PresidioMasker(DerivedKeyProvider("benchmark")), cases)
    print(json.dumps(result) if options.json else "\n".join(f"{key}: {value}" for key, value in result.items()))


if __name__ == "__main__":
    main()
