"""Secrets: recall and look-alikes on labelled sets that are not part of the project.

Usage: python benchmarks/pii_secrets.py [--json] [--cases FOLDER] [--misses]

How it counts (the sets lie under ``FOLDER/pii``, by default the one beside the checkout).
``secrets_gitleaks``: texts labelled secret or not_secret by the tests of one rule each. A secret is found when any part
of its text is; a look-alike is flagged when any part of its text is found as a secret, also when it is one by another
rule (a JWT that stands where a password should).
``noren_ground_truth``: spans. One is found when findings cover its whole value; the part before the value (a header's
or parameter's name, the scheme) need not be. Cards and mail addresses count with their own types. Look-alikes are
the texts without a span that say themselves that they hold none (not, invalid, broken, short, missing, incomplete, no,
without, UUID, an id); the texts without a span that hold a token all the same are counted as ``unlabelled``.
"""

from __future__ import annotations

import argparse
import base64
import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from governance.masking.detection import Detector, TextKind
from governance.masking.spans import Hit

_BEFORE_VALUE = re.compile(r"[?&]?[\w-]+(?:: ?|=)(?:(?:Bearer|Basic|Token) )?", re.IGNORECASE)
_SAYS_NONE = re.compile(r"\b(not|invalid|broken|short|missing|incomplete|no|without|uuids?|ids?)\b", re.IGNORECASE)
Row = tuple[bool, str, str]
"""Whether it was found, what it is, its text."""
_TYPES = {"credit_card": "CREDIT_CARD", "email": "EMAIL_ADDRESS"}


def gitleaks(detector: Detector, file: Path) -> dict[str, Any]:
    """The set of texts."""
    cases = [json.loads(line) for line in file.read_text().splitlines()]
    texts = [base64.b64decode(case["text_b64"]).decode("utf-8", "replace") for case in cases]
    found = [any(hit.entity_type == "SECRET" for hit in hits) for hits in find(detector, texts)]
    rows = [
        (case["label"] == "secret", hit, case["rule"], text)
        for case, hit, text in zip(cases, found, texts, strict=True)
    ]
    return figures([row[1:] for row in rows if row[0]], [row[1:] for row in rows if not row[0]])


def noren(detector: Detector, folder: Path) -> dict[str, Any]:
    """The sets of spans."""
    cases = [case for file in sorted(folder.glob("*.json")) for case in json.loads(file.read_text())]
    positives: list[Row] = []
    negatives: list[Row] = []
    unlabelled: list[Row] = []
    for case, hits in zip(cases, find(detector, [case["text"] for case in cases]), strict=True):
        text = case["text"]
        for one in case["annotations"]:
            kind = _TYPES.get(one["type"], "SECRET")
            positives.append((covered(text, one, [hit for hit in hits if hit.entity_type == kind]), case["id"], text))
        if not case["annotations"]:
            flagged = any(hit.entity_type in {"SECRET", *_TYPES.values()} for hit in hits)
            (negatives if _SAYS_NONE.search(text) else unlabelled).append((flagged, case["id"], text))
    counted = figures(positives, negatives)
    return {**counted, "unlabelled": len(unlabelled), "unlabelled_found": sum(row[0] for row in unlabelled)}


def covered(text: str, one: dict[str, Any], hits: list[Hit]) -> bool:
    """Whether findings cover the value of a labelled span."""
    before = _BEFORE_VALUE.match(text, one["start"], one["end"])
    start = before.end() if before else one["start"]
    end = one["end"]
    if one["type"] == "sec_set_cookie":
        start, end = text.index("=", start) + 1, text.index(";", start)
    wanted = {place for place in range(start, end) if not text[place].isspace()}
    return wanted <= {place for hit in hits for place in range(hit.start, hit.end)}


def find(detector: Detector, texts: list[str]) -> list[tuple[Hit, ...]]:
    """Findings of texts taken as data, in which guesses do not count."""
    return detector.find([(text, TextKind.CODE) for text in texts])


def figures(positives: list[Row], negatives: list[Row]) -> dict[str, Any]:
    """The counts, the two rates, and what was missed and flagged."""
    found, flagged = sum(row[0] for row in positives), sum(row[0] for row in negatives)
    return {
        "secrets": len(positives),
        "found": found,
        "recall": round(found / max(len(positives), 1), 4),
        "look_alikes": len(negatives),
        "flagged": flagged,
        "look_alike_rate": round(flagged / max(len(negatives), 1), 4),
        "missed": [row[1:] for row in positives if not row[0]],
        "wrongly": [row[1:] for row in negatives if row[0]],
    }


def report(detector: Detector, cases: Path) -> dict[str, dict[str, Any]]:
    """The figures of each set that is there."""
    sets = {
        "secrets_gitleaks": (gitleaks, cases / "pii" / "secrets_gitleaks" / "cases.jsonl"),
        "noren_ground_truth": (noren, cases / "pii" / "noren_ground_truth"),
    }
    return {name: measure(detector, path) for name, (measure, path) in sets.items() if path.exists()}


def main() -> None:
    """Measure each set."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--cases", type=Path, default=ROOT.parent / "shared" / "cases", help="folder of the cases")
    parser.add_argument("--misses", action="store_true", help="with what was missed and what was flagged")
    asked = parser.parse_args()
    made = report(Detector(), asked.cases)
    if not made:
        sys.exit(f"no labelled sets under {asked.cases / 'pii'}: name their folder with --cases")
    for counted in made.values():
        if not asked.misses:
            del counted["missed"], counted["wrongly"]
    if asked.json:
        print(json.dumps(made))
        return
    for name, counted in made.items():
        print(name)
        for key, value in counted.items():
            lines = "".join(f"\n    {row}" for row in value) if isinstance(value, list) else f" {value}"
            print(f"  {key}:{lines}")


if __name__ == "__main__":
    main()
