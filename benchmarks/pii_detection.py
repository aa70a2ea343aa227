"""Detection of personal values in English sentences, beside Presidio out of the box, scored by presidio-evaluator.

Usage: python benchmarks/pii_detection.py [--json] [--cases FOLDER] [--evaluator FOLDER|none]

The sentences are ``presidio_research/synth_dataset_v2.json`` under the cases folder (1,500, with spans). Both systems
see the same texts in the same process: Tidemill's detectors (findings before any policy) and Presidio's default
registry over the same spaCy model, at the threshold of presidio-evaluator's wrapper. Templates are split into a
development and a held-out half by the SHA-256 of their id, so that no template is in both.

Type mapping ``presidio-research to tidemill, 1``: ``MAPPING`` below; DATE_OF_BIRTH is the data set's DATE_TIME, and a
type that the data set does not have counts as found wrongly if the default policy masks it, else not at all. Two views:
the types that the default policy masks, and those that it keeps. Overlap rules: ``pii_detection_scores.py``.

presidio-evaluator is installed into an environment of its own under ``--evaluator`` when it is not there; ``none``
leaves the scores out and measures speed only.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from governance.masking.detection import Detector, TextKind
from governance.masking.engine import MODEL
from governance.records.masking_policy import Action, MaskingPolicy

REQUIREMENT: Final = "presidio-evaluator==0.3.2"
WRAPPER_THRESHOLD: Final = 0.4
MASKED: Final = (
    "PERSON", "STREET_ADDRESS", "CREDIT_CARD", "PHONE_NUMBER", "EMAIL_ADDRESS", "IBAN_CODE", "US_SSN", "IP_ADDRESS",
    "US_DRIVER_LICENSE",
)  # fmt: skip
KEPT: Final = ("ORGANIZATION", "GPE", "DATE_TIME", "AGE", "NRP", "TITLE", "ZIP_CODE", "DOMAIN_NAME")
MAPPING: Final = {
    **{name: name for name in (*MASKED, *KEPT, "LOCATION")},
    "DATE_OF_BIRTH": "DATE_TIME",
    "URL": "DOMAIN_NAME",
    "BELIEF": "NRP",
    "ETHNICITY": "NRP",
    "POLITICAL_OPINION": "NRP",
}
OTHER: Final = "OTHER"
_Found = list[tuple[int, int, str, float]]


def half_of(template: int) -> str:
    """Which half a template is in."""
    digest = hashlib.sha256(f"presidio_research:{template}".encode()).digest()
    return "held_out" if digest[-1] % 2 else "development"


def mapped(found: _Found) -> _Found:
    """The findings in the data set's types."""
    policy = MaskingPolicy()
    named = []
    for start, end, kind, score in found:
        name = MAPPING.get(kind) or (OTHER if policy.action(kind) is Action.MASK else None)
        if name is not None:
            named.append((start, end, name, score))
    return named


def tidemill() -> Callable[[Sequence[str]], list[_Found]]:
    """The product's detectors."""
    detector = Detector()

    def find(texts: Sequence[str]) -> list[_Found]:
        found = detector.find([(text, TextKind.TEXT) for text in texts])
        return [[(hit.start, hit.end, hit.entity_type, hit.score) for hit in hits] for hits in found]

    return find


def presidio() -> Callable[[Sequence[str]], list[_Found]]:
    """Presidio as it comes; only its look-up of mail suffixes on the internet is switched off."""
    import tldextract
    from presidio_analyzer import AnalyzerEngine, BatchAnalyzerEngine
    from presidio_analyzer.nlp_engine import NlpEngineProvider

    tldextract.tldextract.TLD_EXTRACTOR = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
    models = [{"lang_code": "en", "model_name": MODEL}]
    nlp = NlpEngineProvider(nlp_configuration={"nlp_engine_name": "spacy", "models": models}).create_engine()
    engine = BatchAnalyzerEngine(AnalyzerEngine(nlp_engine=nlp, supported_languages=["en"]))

    def find(texts: Sequence[str]) -> list[_Found]:
        made = engine.analyze_iterator(texts, language="en", score_threshold=WRAPPER_THRESHOLD, batch_size=64)
        return [[(one.start, one.end, one.entity_type, one.score) for one in results] for results in made]

    return find


def timed(find: Callable[[Sequence[str]], list[_Found]], texts: list[str]) -> tuple[list[_Found], dict[str, float]]:
    """The findings, and texts a second by the clock and by this process's processor time."""
    find(texts[:8])  # loads the model
    begin, spent = time.perf_counter(), time.process_time()
    found = find(texts)
    spent, begin = time.process_time() - spent, time.perf_counter() - begin
    return found, {
        "texts_per_second": round(len(texts) / begin, 1),
        "texts_per_processor_second": round(len(texts) / spent, 1),
    }


def python_of(folder: Path) -> Path:
    """The evaluator's interpreter, its environment made when it is not there."""
    python = folder / "bin" / "python"
    probe = [str(python), "-c", "import presidio_evaluator.evaluation"]
    if not python.exists() or subprocess.run(probe, check=False, capture_output=True).returncode:
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", REQUIREMENT], check=True, stdout=sys.stderr)
    return python


def scores(folder: Path, cases: list[dict[str, Any]], systems: dict[str, list[_Found]]) -> dict[str, Any]:
    """What presidio-evaluator says."""
    halves: dict[str, list[int]] = {"development": [], "held_out": []}
    for place, case in enumerate(cases):
        halves[half_of(case["template_id"])].append(place)
    masked = (*MASKED, OTHER)
    job = {
        "texts": [case["full_text"] for case in cases],
        "spans": [
            [(one["start_position"], one["end_position"], one["entity_type"]) for one in case["spans"]]
            for case in cases
        ],
        "systems": {name: [mapped(one) for one in found] for name, found in systems.items()},
        "halves": halves,
        "views": {
            "masked": {"types": masked, "strict": False},
            "masked_strict": {"types": masked, "strict": True},
            "kept": {"types": KEPT, "strict": False},
        },
    }
    program = Path(__file__).with_name("pii_detection_scores.py")
    ran = subprocess.run(
        [str(python_of(folder)), str(program)], input=json.dumps(job), text=True, check=True, stdout=subprocess.PIPE
    )
    made: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return made


def measure(file: Path, evaluator: Path | None) -> dict[str, Any]:
    """Everything."""
    cases = json.loads(file.read_text())
    texts = [case["full_text"] for case in cases]
    systems, speed = {}, {}
    for name, make in (("tidemill", tidemill), ("presidio", presidio)):
        systems[name], speed[name] = timed(make(), texts)
    return {
        "benchmark": "pii_detection",
        "sentences": len(cases),
        "templates": len({case["template_id"] for case in cases}),
        "speed": speed,
        "scores": scores(evaluator, cases, systems) if evaluator else None,
    }


def table(found: dict[str, Any]) -> str:
    """The figures for people."""
    lines = [f"{name}: {one['texts_per_processor_second']} texts per processor-second" for name, one in
             found["speed"].items()]  # fmt: skip
    for name, halves in (found["scores"] or {}).items():
        for half, views in halves.items():
            for view, rules in views.items():
                for rule, one in rules.items():
                    figures = " ".join(f"{key} {one[key]}" for key in ("precision", "recall", "f2"))
                    lines.append(f"{name:9} {half:12} {view:14} {rule:7} {figures} of {one['annotated']}")
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--cases", type=Path, default=ROOT.parent / "shared" / "cases" / "pii")
    parser.add_argument("--evaluator", default=str(ROOT / "build" / "presidio-evaluator"), help="a folder, or none")
    options = parser.parse_args()
    file = options.cases / "presidio_research" / "synth_dataset_v2.json"
    if not file.exists():
        raise SystemExit(f"{file} is not there: give the folder of the cases with --cases")
    found = measure(file, None if options.evaluator == "none" else Path(options.evaluator))
    print(json.dumps(found) if options.json else table(found))


if __name__ == "__main__":
    main()
