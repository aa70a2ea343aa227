"""spaCy behind Presidio, cut down to what names need.

Imported when an engine is loaded, not before: it imports spaCy. Without the lemmatiser a token's lemma is its
lower-case form, which is what Presidio's context words are compared with.
"""

from __future__ import annotations

from typing import Any, Final

import spacy
from presidio_analyzer.nlp_engine import NerModelConfiguration, SpacyNlpEngine

_UNUSED: Final = ["tagger", "parser", "attribute_ruler", "lemmatizer"]
_IGNORED: Final = [
    "CARDINAL", "DATE", "EVENT", "FAC", "LANGUAGE", "LAW", "MONEY", "NORP", "ORDINAL", "PERCENT", "PRODUCT", "QUANTITY",
    "TIME", "WORK_OF_ART",
]  # fmt: skip


class NamesOnlyEngine(SpacyNlpEngine):  # type: ignore[misc] # Presidio's types are not followed
    """Tokens and entities, nothing else."""

    def __init__(self, model: str) -> None:
        """``model`` is an installed package."""
        configuration = NerModelConfiguration(labels_to_ignore=_IGNORED)
        super().__init__([{"lang_code": "en", "model_name": model}], configuration)

    def load(self) -> None:
        """Load the installed package; a missing one is an error, not a download."""
        self.nlp = {"en": spacy.load(self.models[0]["model_name"], exclude=_UNUSED)}

    def tokens_only(self, text: str) -> Any:
        """The text's tokens, for patterns and their context words."""
        return self._doc_to_nlp_artifact(self.nlp["en"].make_doc(text), "en")

    def _doc_to_nlp_artifact(self, doc: Any, language: str) -> Any:
        for token in doc:
            token.lemma_ = token.lower_
        return super()._doc_to_nlp_artifact(doc, language)
