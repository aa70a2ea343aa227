"""Contamination: what is measured on must not be what was learned from, also when it was reworded.

Theory. A held-out text is contaminated by a learned one when the two are equal once case, width, white space and
punctuation are gone (*exact*), when they share a run of ``GRAM`` words (*n-gram*: a passage was copied), or when their
sets of ``SHINGLE`` successive words are alike to ``NEAR`` by Jaccard (*near-duplicate*: words were changed here and
there). The strongest kind counts. A text shorter than a shingle has only the first. Candidates come from an index of
shingles, so each held-out text meets those that share one with it and no others; the comparison itself is exact, not
sketched.

Sources: Brown et al. 2020, arXiv 2005.14165, appendix C (13-gram overlap); Broder 1997 (resemblance of documents).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final

from governance.records.base import Record
from training.values import normalised

GRAM: Final = 13
SHINGLE: Final = 3
NEAR: Final = 0.7
Words = tuple[str, ...]


class Overlap(StrEnum):
    """How a held-out text stands in what was learned from, the strongest first."""

    EXACT = "exact"
    NGRAM = "ngram"
    NEAR = "near_duplicate"


class Hit(Record):
    """A held-out text that was learned from."""

    held_out: str
    learned: str
    """The first of the learned texts, by id, that it overlaps with so."""
    overlap: Overlap


class Contamination(Record):
    """What comparing two sets gave."""

    held_out: int
    learned: int
    hits: tuple[Hit, ...]

    @property
    def clean(self) -> bool:
        """Whether nothing that is measured on was learned from."""
        return not self.hits

    def counts(self) -> dict[str, int]:
        """Kind of overlap to the number of held-out texts."""
        found = Counter(hit.overlap.value for hit in self.hits)
        return {kind.value: found[kind.value] for kind in Overlap}


def contamination(learned: Mapping[str, str], held_out: Mapping[str, str]) -> Contamination:
    """Compare the texts of two sets, each by id."""
    index = _Index(learned)
    found = ((id_, index.strongest(text)) for id_, text in sorted(held_out.items()))
    hits = tuple(Hit(held_out=id_, learned=hit[1], overlap=hit[0]) for id_, hit in found if hit is not None)
    return Contamination(held_out=len(held_out), learned=len(learned), hits=hits)


class _Index:
    """Learned texts, by what they may share."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._exact: dict[Words, str] = {}
        self._grams: dict[Words, str] = {}
        self._shingles: dict[str, frozenset[Words]] = {}
        self._holders: dict[Words, list[str]] = defaultdict(list)
        for id_, text in sorted(texts.items()):
            words = _words(text)
            if not words:
                continue
            self._exact.setdefault(words, id_)
            for gram in _runs(words, GRAM):
                self._grams.setdefault(gram, id_)
            self._shingles[id_] = frozenset(_runs(words, SHINGLE))
            for shingle in self._shingles[id_]:
                self._holders[shingle].append(id_)

    def strongest(self, text: str) -> tuple[Overlap, str] | None:
        words = _words(text)
        if words in self._exact:
            return Overlap.EXACT, self._exact[words]
        shared = [self._grams[gram] for gram in _runs(words, GRAM) if gram in self._grams]
        if shared:
            return Overlap.NGRAM, min(shared)
        near = self._near(frozenset(_runs(words, SHINGLE)))
        return None if near is None else (Overlap.NEAR, near)

    def _near(self, mine: frozenset[Words]) -> str | None:
        common = Counter(id_ for shingle in mine for id_ in self._holders.get(shingle, ()))
        alike = (id_ for id_, count in common.items() if count >= NEAR * (len(mine) + len(self._shingles[id_]) - count))
        return min(alike, default=None)


def _words(text: str) -> Words:
    return tuple(normalised(text).split())


def _runs(words: Words, size: int) -> Iterable[Words]:
    return (words[at : at + size] for at in range(len(words) - size + 1))
