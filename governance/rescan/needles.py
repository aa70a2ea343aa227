"""What a search looks for: a person's hash, the surrogates of their values, and the masked words of their runs.

A word is looked for in each form in which it may rest: as it is, as JSON writes it (once, and again inside a string
of JSON), as HTML writes it, in UTF-16, and as URLs and forms write it. Texts shorter than ``SHORTEST`` say too little
to be anybody's; a letter of Chinese, Japanese or Korean counts as three, since a whole sentence of them may be eight
long. Of more than ``MOST`` texts the others are counted as ``left_out``.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable
from functools import cached_property
from typing import Final
from urllib.parse import quote, quote_plus

from governance.records.base import Record, canonical_json

SHORTEST: Final = 16
"""Characters of a text from which it is looked for."""
CJK: Final = ("\u2e80", "\ud7ff")
"""From the radicals of Chinese to the syllables of Korean."""
WIDE: Final = ("utf-16-le", "utf-16-be")
MARKS: Final = (b"%20", b" \x00", b"\x00 ", b"%", b"+")
"""What nearly every form of ``rarer_forms`` holds one of: data without it is not searched for those with it."""
LONGEST: Final = 160
"""Characters of a text that are looked for: a longer one is known by its beginning."""
MOST: Final = 96
"""Texts that are looked for, the longest first."""


class Needles(Record):
    """What is looked for."""

    subject: str
    surrogates: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    left_out: int = 0
    """Texts beyond ``MOST``, which are not looked for."""

    @classmethod
    def of(cls, subject: str, surrogates: Iterable[str] = (), texts: Iterable[str] = ()) -> Needles:
        """The needles of what a person's runs say; lines of texts count for themselves."""
        lines = {line.strip()[:LONGEST] for text in texts for line in text.splitlines()}
        kept = sorted((line for line in lines if _weight(line) >= SHORTEST), key=lambda line: (-len(line), line))
        words, left_out = tuple(sorted(set(surrogates))), max(0, len(kept) - MOST)
        return cls(subject=subject, surrogates=words, texts=tuple(kept[:MOST]), left_out=left_out)

    def without(self, gone: Iterable[str]) -> Needles:
        """The needles without those words."""
        out = set(gone)
        return self.model_copy(
            update={
                "surrogates": tuple(one for one in self.surrogates if one not in out),
                "texts": tuple(one for one in self.texts if one not in out),
            }
        )

    @property
    def words(self) -> tuple[str, ...]:
        """Everything but the hash."""
        return (*self.surrogates, *self.texts)

    @property
    def counts(self) -> dict[str, int]:
        """How many of each kind are looked for, and how many texts are not since there are too many."""
        counted = {"hash": 1, "surrogates": len(self.surrogates), "texts": len(self.texts)}
        return counted | ({"texts_left_out": self.left_out} if self.left_out else {})

    @cached_property
    def forms(self) -> tuple[bytes, ...]:
        """Each needle in each form in which it may rest, as bytes."""
        found = {self.subject.encode()}
        for word in self.words:
            found |= forms(word)
        return tuple(sorted(found))

    @cached_property
    def rarer_forms(self) -> dict[bytes, tuple[bytes, ...]]:
        """Each needle in UTF-16, and as URLs and forms write it, by what stands in it and seldom elsewhere."""
        found = {word.encode(order, "surrogatepass") for word in (self.subject, *self.words) for order in WIDE}
        found |= {form for word in self.words for form in url_forms(word)}
        by_mark: dict[bytes, list[bytes]] = {}
        for form in sorted(found - set(self.forms)):
            by_mark.setdefault(next((mark for mark in MARKS if mark in form), b""), []).append(form)
        return {mark: tuple(of) for mark, of in by_mark.items()}

    def in_(self, data: bytes) -> bool:
        """Whether ``data`` holds any needle."""
        if any(form in data for form in self.forms):
            return True
        return any(mark in data and any(form in data for form in of) for mark, of in self.rarer_forms.items())

    def sealed_form(self) -> bytes:
        """The needles as bytes, for a file that is sealed."""
        return canonical_json(self.plain())


def _weight(line: str) -> int:
    return sum(3 if CJK[0] <= letter <= CJK[1] else 1 for letter in line)


def forms(word: str) -> set[bytes]:
    """The byte forms of one word."""
    once = json.dumps(word)[1:-1]
    texts = {word, once, json.dumps(word, ensure_ascii=False)[1:-1], json.dumps(once)[1:-1], html.escape(word)}
    return {text.encode("utf-8", "surrogatepass") for text in texts}


def url_forms(word: str) -> set[bytes]:
    """The word as URLs and forms write it, with codes of capital letters and of small ones."""
    plain = word.encode("utf-8", "surrogatepass")
    once = {quote(plain, safe=""), quote(plain), quote_plus(plain)}
    return {form.encode() for form in once | {re.sub("%..", lambda code: code.group().lower(), one) for one in once}}
