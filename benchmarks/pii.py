"""Masking of traces: Tidemill beside Presidio called for each attribute, with the findings compared one by one.

Traces of 20 turns whose every model call repeats the history (``benchmarks.chats``): no text stands in two traces.
Both ways run in one process on one thread of Python, loaded and warm, over the same spans, with the same recognisers,
the same language model behind the same cut-down pipeline, the same threshold and the same rules for names:

- Tidemill: ``masked_drafts`` with ``PresidioMasker`` and the real ``Detector``, one call for each trace, an empty cache
  before the first. Its time holds everything that masking does: walking, surrogates, mentions, putting back.
- ``per_attribute``: ``AnalyzerEngine.analyze`` for each string of each span, as often as it stands there: attributes,
  names, and each message of the history. The roles and part types inside of messages are left out of it, which
  Tidemill reads too; nothing is replaced. This is the way whose findings can be compared: ``findings_equal`` says
  that every string of every span had the same findings (type, place, score) in both.
- ``raw_attribute``: ``AnalyzerEngine.analyze`` for each string attribute as OTLP brought it, the messages as one JSON
  text. It sees other texts (escapes, neighbours in JSON), so its findings differ and are not compared.

Texts a second by length are of ``Detector.find`` alone on new texts; ``processes`` compares ``ProcessDetector`` of one
and of two workers on the same texts.

    python -m benchmarks.pii --json
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a file or as a module

from benchmarks.chats import Chats, Sentences
from governance import carriers
from governance.keys import DerivedKeyProvider
from governance.masked_drafts import Draft, masked_drafts
from governance.masking.detection import Detector, TextDetector, TextKind
from governance.masking.engine import Engine
from governance.masking.presidio_masker import PresidioMasker
from governance.masking.process_detector import ProcessDetector
from governance.masking.spans import THRESHOLD, Hit
from governance.masking.walker import Leaf, leaves
from governance.own_id import OwnId
from governance.records.span import Span
from governance.records.trajectory import UNKNOWN_SUBJECT
from ingestion import dialects
from ingestion.dialects.histories import remember
from ingestion.otlp_decode import PROTOBUF, decode

KEYS: Final = DerivedKeyProvider("benchmark")
START: Final = 1_780_000_000_000_000_000
LENGTHS: Final = (100, 300, 1000, 3000)
CHARACTERS: Final = 60_000
"""Of new texts for each length."""
Found = dict[tuple[str, TextKind], tuple[Hit, ...]]


@dataclass
class Trace:
    """The spans of one trace, raw and as the door drafts them."""

    raw: list[Span] = field(default_factory=list)
    drafts: list[Draft] = field(default_factory=list)


def traces(count: int, seed: int) -> list[Trace]:
    """Traces decoded from OTLP and read by their dialect."""
    found: dict[str, Trace] = {}
    body = next(Chats(seed, START).requests(count))
    for span in decode(body, PROTOBUF, received_unix_nano=START):
        if isinstance(span, Span):
            found.setdefault(span.trace_id, Trace()).raw.append(span)
    for trace in found.values():
        trace.raw.sort(key=lambda span: span.start_unix_nano)
        with remember():
            for span in trace.raw:
                bare = carriers.without_content(carriers.without_server_keys(dialects.strip(span)))
                trace.drafts.append((bare, dialects.read(span)))
    return list(found.values())


class Recorded(TextDetector):
    """The detector, with what it found."""

    def __init__(self, detector: TextDetector) -> None:
        """Nothing found yet."""
        self._detector = detector
        self.found: Found = {}

    def find(self, texts: Sequence[tuple[str, TextKind]]) -> list[tuple[Hit, ...]]:
        """What it finds."""
        hits = self._detector.find(texts)
        self.found.update(zip(texts, hits, strict=True))
        return hits


class PresidiosEngine:
    """Presidio's own engine, called for one text after the other, in the place of ours."""

    def __init__(self, engine: Engine) -> None:
        """The same recognisers and the same language model."""
        self.listed = engine.listed
        self.language = engine.language
        self._analyzer = engine.presidio()

    def read_ahead(self, asked: Sequence[Any]) -> None:
        """Nothing is read ahead of its text."""

    def read(self, texts: Sequence[str], batch: int) -> Iterator[Any]:  # noqa: ARG002 - the engine's
        """The language model reads when a text is analysed."""
        yield from [None] * len(texts)

    def analyze(self, text: str, artifacts: Any, asked: Sequence[Any]) -> list[Any]:  # noqa: ARG002 - the engine's
        """What Presidio finds."""
        found: list[Any] = self._analyzer.analyze(text, language="en", score_threshold=THRESHOLD)
        return found


class PerText(Detector):
    """The rules for names over Presidio's own engine."""

    def __init__(self, engine: Engine) -> None:
        """Every recogniser is asked about every text."""
        super().__init__(prefilter=False)
        self._engine = PresidiosEngine(engine)


def strings(draft: Draft) -> Iterator[tuple[str, TextKind]]:
    """Every string of a span, but the roles and types inside of its messages."""
    span, content = draft
    values: list[Any] = [{"span": carriers.strings_of(span)}]
    if content is not None:
        values += [message.plain() for side in (content.input, content.output) for message in side]
    for value in values:
        for leaf in leaves(value):
            if leaf.forced is None and not _envelope(leaf):
                yield leaf.text, leaf.kind


def _envelope(leaf: Leaf) -> bool:
    return leaf.pointer == "/role" or (leaf.pointer.startswith("/parts/") and leaf.pointer.endswith("/type"))


def of_tidemill(given: Iterable[Trace], detector: TextDetector) -> tuple[float, Found]:
    """Seconds, and what was found."""
    recorded = Recorded(detector)
    masker = PresidioMasker(KEYS, detector=recorded)
    own_id = OwnId(None, UNKNOWN_SUBJECT)
    begin = time.perf_counter()
    for trace in given:
        for finish in masked_drafts(masker, "benchmark", trace.drafts, Counter()):
            finish(own_id)
    return time.perf_counter() - begin, recorded.found


def of_presidio(given: Iterable[Trace], detector: Detector, found: Found) -> tuple[float, int, int]:
    """Seconds of Presidio for each string, how many strings, and how many had other findings."""
    compared = differing = 0
    spent = 0.0
    for trace in given:
        for draft in trace.drafts:
            for text in strings(draft):
                begin = time.perf_counter()
                [hits] = detector.find([text])
                spent += time.perf_counter() - begin
                compared += 1
                differing += hits != found.get(text)
    return spent, compared, differing


def of_raw(given: Iterable[Trace], engine: Engine) -> float:
    """Seconds of Presidio for each string attribute as it came."""
    analyzer = engine.presidio()
    begin = time.perf_counter()
    for trace in given:
        for span in trace.raw:
            for value in span.attributes.values():
                if isinstance(value, str):
                    analyzer.analyze(value, language="en", score_threshold=THRESHOLD)
    return time.perf_counter() - begin


def by_length(detector: TextDetector, seed: int) -> dict[str, float]:
    """Texts a second, new texts of each length."""
    made = Sentences(random.Random(seed))
    rates = {}
    for length in LENGTHS:
        texts = [(made.of_length(length), TextKind.TEXT) for _ in range(CHARACTERS // length)]
        begin = time.perf_counter()
        detector.find(texts)
        rates[str(length)] = round(len(texts) / (time.perf_counter() - begin), 1)
    return rates


def by_processes(seed: int) -> dict[str, float]:
    """Texts a second of 300 characters with one worker and with two, and their ratio; the same texts for both."""
    made = Sentences(random.Random(seed))
    texts = [(made.of_length(300), TextKind.TEXT) for _ in range(CHARACTERS // 300)]
    rates: dict[str, float] = {}
    for workers in (1, 2):
        detector = ProcessDetector(workers, time_limit=600)
        detector.load()
        detector.find(texts[: 8 * workers])
        begin = time.perf_counter()
        detector.find(texts)
        rates[str(workers)] = round(len(texts) / (time.perf_counter() - begin), 1)
        detector.close()
    return rates | {"ratio": round(rates["2"] / rates["1"], 2)}


def measure(chosen: argparse.Namespace) -> dict[str, Any]:
    """Everything, in one run."""
    detector, engine = Detector(), Engine()
    naive = PerText(engine)
    warm, given, few = traces(1, 1), traces(chosen.traces, 2), traces(chosen.traces, 2)[: chosen.presidio_traces]
    of_tidemill(warm, detector)
    of_presidio(warm[:1], naive, {})
    spans = sum(len(trace.raw) for trace in given)
    spent, found = of_tidemill(given, detector)
    few_spans = sum(len(trace.raw) for trace in few)
    slow, compared, differing = of_presidio(few, naive, found)
    raw = few_spans / of_raw(few, engine)
    ours, theirs = spans / spent, few_spans / slow
    return {
        "spans": spans,
        "tidemill_spans_per_s": round(ours, 1),
        "per_attribute_spans_per_s": round(theirs, 2),
        "raw_attribute_spans_per_s": round(raw, 2),
        "speedup_vs_per_attribute": round(ours / theirs, 1),
        "speedup_vs_raw_attribute": round(ours / raw, 1),
        "findings_equal": differing == 0 and compared > 0,
        "strings_compared": compared,
        "strings_with_findings": sum(bool(hits) for hits in found.values()),
        "strings_differing": differing,
        "texts_per_s": by_length(detector, 3),
        "processes": by_processes(4),
        "load": round(os.getloadavg()[0], 1),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--traces", type=int, default=10, help="traces that Tidemill masks")
    parser.add_argument("--presidio-traces", type=int, default=2, help="how many of them Presidio reads")
    chosen = parser.parse_args()
    found = measure(chosen)
    print(json.dumps(found) if chosen.json else "\n".join(f"{key}: {value}" for key, value in found.items()))


if __name__ == "__main__":
    main()
