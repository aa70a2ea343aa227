"""What the language model says about a text, worked out only where somebody asks.

Presidio's ``NlpArtifacts`` makes the tokens, lower-case forms and keywords of every text beforehand, and most texts
hold nothing that needs any of it. These are the same facts, each made when it is first read. The keywords are a set:
they are only ever asked for membership, and a list would make that quadratic in a long text.

Imported when an engine is loaded, not before: it imports Presidio.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from presidio_analyzer.nlp_engine import NlpArtifacts


class LazyArtifacts(NlpArtifacts):  # type: ignore[misc] # Presidio's types are not followed
    """Artifacts of one text, for Presidio's recognisers and its context enhancer."""

    def __init__(self, nlp_engine: Any, language: str, *, text: str = "", doc: Any = None) -> None:
        """``doc`` is what the model made of the text; without one only tokens are made."""
        self.nlp_engine = nlp_engine
        self.language = language
        self._text = text
        self._doc = doc

    @cached_property
    def tokens(self) -> Any:
        """The tokens."""
        return self.nlp_engine.nlp[self.language].make_doc(self._text) if self._doc is None else self._doc

    @cached_property
    def tokens_indices(self) -> list[int]:
        """Where each token begins."""
        return [token.idx for token in self.tokens]

    @cached_property
    def lemmas(self) -> list[str]:
        """Each token's lower-case form: there is no lemmatiser."""
        return [token.lower_ for token in self.tokens]

    @cached_property
    def keywords(self) -> frozenset[str]:
        """The words that can be context."""
        return frozenset(NlpArtifacts.set_keywords(self.nlp_engine, self.lemmas, self.language))

    @cached_property
    def _named(self) -> tuple[list[Any], list[float]]:
        ents = [] if self._doc is None else self._doc.ents
        scores = self.nlp_engine._get_scores_for_entities(self._doc) if ents else []
        found: tuple[list[Any], list[float]] = self.nlp_engine._get_updated_entities(ents, scores)
        return found

    @property
    def entities(self) -> list[Any]:
        """What the model takes for names."""
        return self._named[0]

    @property
    def scores(self) -> list[float]:
        """How sure it counts as being of each."""
        return self._named[1]
