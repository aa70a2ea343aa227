"""spaCy behind Presidio, cut down to what names need.

Imported when an engine is loaded, not before: it imports spaCy. Without the lemmatiser a token's lemma is its
lower-case form, which is what Presidio's context words are compared with.
"""

from __future__ import annotations

from typing import Any, Final

import spacy
from presidio_analyzer.nlp_engine import NerModelConfiguration, SpacyNlpEngine

from governance.masking.artifacts import LazyArtifacts

_UNUSED: Final = ["tok2vec", "tagger", "parser", "attribute_ruler", "lemmatizer"]
"""The entity recogniser has token vectors of its own; the shared ``tok2vec`` serves the tagger and parser only."""
_IGNORED: Final = [
    "CARDINAL", "DATE", "EVENT", "LANGUAGE", "LAW", "MONEY", "ORDINAL", "PERCENT", "PRODUCT", "QUANTITY", "TIME",
    "WORK_OF_ART",
]  # fmt: skip


_LABELS: Final = {"PERSON": "PERSON", "ORG": "ORGANIZATION", "GPE": "GPE", "LOC": "GPE", "FAC": "GPE", "NORP": "NRP"}
"""The model's labels in the words of the findings; a street address is found by its form, never by the model."""


class NamesOnlyEngine(SpacyNlpEngine):  # type: ignore[misc] # Presidio's types are not followed
    """Tokens and entities, nothing else."""

    def __init__(self, model: str) -> None:
        """``model`` is an installed package."""
        configuration = NerModelConfiguration(labels_to_ignore=_IGNORED, model_to_presidio_entity_mapping=_LABELS)
        super().__init__([{"lang_code": "en", "model_name": model}], configuration)

    def load(self) -> None:
        """Load the installed package; a missing one is an error, not a download."""
        self.nlp = {"en": spacy.load(self.models[0]["model_name"], exclude=_UNUSED)}

    def tokens_only(self, text: str) -> LazyArtifacts:
        """The text's tokens, for patterns and their context words; made when somebody reads them."""
        return LazyArtifacts(self, "en", text=text)

    def _doc_to_nlp_artifact(self, doc: Any, language: str) -> LazyArtifacts:
        return LazyArtifacts(self, language, doc=doc)
