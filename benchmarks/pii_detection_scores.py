"""Scores findings with presidio-evaluator. Runs in the evaluator's own environment, never in Tidemill's.

It reads one JSON object from its standard input (``texts``, ``spans`` per text, ``systems`` with findings per text,
``views`` with the types that each counts, ``halves`` with the places of the texts) and prints one. The types are those
of the data set already (``benchmarks.pii_detection`` maps them); a type that the data set does not have is ``OTHER``
and counts as found wrongly wherever nothing is annotated.

- Tokens: spaCy's English tokeniser; a span colours the tokens it covers (``presidio_evaluator.span_to_tag``).
- A ``LOCATION`` takes the place type that is annotated under each of its tokens (``GPE``, ``ZIP_CODE``), and is a
  ``STREET_ADDRESS`` elsewhere. ``strict`` views leave that rule out: there it is a ``STREET_ADDRESS`` everywhere.
- Two rules, both the package's own with its default skip words: ``tokens`` (``TokenEvaluator``: each token counts), and
  ``spans`` (``SpanEvaluator``: runs of tokens whose characters overlap by at least 0.9 of their union, its default).
"""

from __future__ import annotations

import json
import math
import sys
from typing import Any

import pandas as pd
import spacy
from presidio_evaluator import span_to_tag
from presidio_evaluator.evaluation import SpanEvaluator, TokenEvaluator, get_skip_words

PLACES = {"GPE", "ZIP_CODE", "STREET_ADDRESS"}


def tags(text: str, tokens: Any, spans: list[list[Any]]) -> list[str]:
    """The type of each token."""
    if not spans:
        return ["O"] * len(tokens)
    starts, ends, types, scores = ([one[place] for one in spans] for place in range(4))
    coloured: list[str] = span_to_tag("IO", text, starts, ends, types, scores, tokens)
    return coloured


def placed(found: str, wanted: str, *, strict: bool) -> str:
    """The found type in the data set's words."""
    if found != "LOCATION":
        return found
    return wanted if wanted in PLACES and not strict else "STREET_ADDRESS"


def frame(job: dict[str, Any], documents: list[Any], system: str, places: list[int], view: dict[str, Any]) -> Any:
    """The table that the evaluators take: a row per token, types outside the view left out."""
    rows = []
    counted = set(view["types"])
    for place in places:
        text, tokens = job["texts"][place], documents[place]
        wanted = tags(text, tokens, [[*span, 1.0] for span in job["spans"][place]])
        found = tags(text, tokens, job["systems"][system][place])
        for token, gold, tag in zip(tokens, wanted, found, strict=True):
            mapped = placed(tag, gold, strict=view["strict"])
            rows.append(
                {
                    "sentence_id": place,
                    "token": token.text,
                    "annotation": gold if gold in counted else "O",
                    "prediction": mapped if mapped in counted else "O",
                    "start_indices": token.idx,
                }
            )
    return pd.DataFrame(rows)


def figures(result: Any) -> dict[str, Any]:
    """Precision, recall and F2 over all types together, and by type."""
    types = {
        name: {
            "annotated": one.num_annotated,
            "precision": rounded(one.precision),
            "recall": rounded(one.recall),
            "f2": rounded(one.f_beta),
        }
        for name, one in sorted(result.per_type.items())
    }
    return {
        "annotated": result.pii_annotated,
        "precision": rounded(result.pii_precision),
        "recall": rounded(result.pii_recall),
        "f2": rounded(result.pii_f),
        "types": types,
    }


def rounded(value: float) -> float | None:
    """Four digits; None for not a number."""
    return None if math.isnan(value) else round(float(value), 4)


def main() -> None:
    """Score every system in every view and half."""
    job = json.load(sys.stdin)
    nlp = spacy.blank("en")
    documents = [nlp.make_doc(text) for text in job["texts"]]
    rules = {
        "tokens": TokenEvaluator(skip_words=get_skip_words()),
        "spans": SpanEvaluator(skip_words=get_skip_words(), iou_threshold=0.9),
    }
    scores: dict[str, Any] = {}
    for system in job["systems"]:
        for half, places in job["halves"].items():
            for name, view in job["views"].items():
                table = frame(job, documents, system, places, view)
                made = {rule: figures(one.calculate_score_on_df(table, beta=2.0)) for rule, one in rules.items()}
                scores.setdefault(system, {}).setdefault(half, {})[name] = made
    print(json.dumps(scores))


if __name__ == "__main__":
    main()
