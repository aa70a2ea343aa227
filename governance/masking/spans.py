"""Spans of personal values in a text, and how overlapping ones become one.

Theory. Recognisers see the same characters differently; replacing each of their findings in turn eats text between
them. So overlaps are resolved once, before anything is replaced: what a pattern found wins over what the language
model guessed, the guess keeping only what lies outside; findings that still overlap become one finding over their
union, under the type of the strongest. Text outside the union stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from governance.masking import words

THRESHOLD: Final = 0.4
"""Findings below it are none."""
PROTECTED: Final = re.compile(
    r"(?<![\w@.+\-])(?:[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9a-f]{64}|[0-9a-f]{32})(?![\w@+]|[.\-]\w)"
)
"""UUIDs, trace ids and digests: never personal by themselves, and looking like phone numbers in parts."""
_NAME_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019\-\u2010.][^\W\d_]+)*")
_CODE: Final = re.compile(r"[A-Z]{2,}")


@dataclass(frozen=True)
class Hit:
    """One finding in a text."""

    start: int
    end: int
    entity_type: str
    score: float

    def overlaps(self, other: Hit) -> bool:
        """Whether the two share a character."""
        return self.start < other.end and other.start < self.end


def resolve(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """Findings without overlap, in order."""
    merged: list[Hit] = []
    for hit in sorted(hits, key=lambda one: (one.start, -one.end, -one.score, one.entity_type)):
        if not merged or not hit.overlaps(merged[-1]):
            merged.append(hit)
            continue
        last = merged[-1]
        winner = max(last, hit, key=lambda one: (one.score, one.end - one.start))
        merged[-1] = replace(winner, start=last.start, end=max(last.end, hit.end))
    return tuple(merged)


def outside(hits: Sequence[Hit], taken: Sequence[Hit]) -> list[Hit]:
    """What is left of ``hits`` outside ``taken``."""
    left: list[Hit] = []
    for hit in hits:
        pieces = [hit]
        for other in taken:
            pieces = [piece for one in pieces for piece in _cut(one, other)]
        left.extend(pieces)
    return left


def _cut(hit: Hit, other: Hit) -> list[Hit]:
    if not hit.overlaps(other):
        return [hit]
    pieces = (replace(hit, end=other.start), replace(hit, start=other.end))
    return [piece for piece in pieces if piece.start < piece.end]


def protected(text: str) -> list[Hit]:
    """The ids in a text."""
    return [Hit(match.start(), match.end(), "ID", 1.0) for match in PROTECTED.finditer(text)]


def unprotected(text: str, hits: Iterable[Hit]) -> list[Hit]:
    """The findings that do not lie inside an id."""
    safe = protected(text)
    return [hit for hit in hits if not any(one.start <= hit.start and hit.end <= one.end for one in safe)]


def name_spans(text: str, hit: Hit, *, strict: bool) -> list[Hit]:
    """The parts of a guessed name that can be one: words in capitals, without codes and words that never name anyone.

    ``strict`` demands that a part holds a known given name: in a field of an API, most capital words are data.
    """
    runs: list[list[re.Match[str]]] = [[]]
    for match in _NAME_WORD.finditer(text, hit.start, hit.end):
        gap = text[runs[-1][-1].end() : match.start()] if runs[-1] else ""
        if not _may_name(text, match):
            runs.append([])
        elif gap.strip(" .\u00a0"):
            runs.append([match])
        else:
            runs[-1].append(match)
    return [part for run in runs if (part := _span_of(run, hit, strict=strict)) is not None]


def _may_name(text: str, match: re.Match[str]) -> bool:
    word = match.group()
    around = text[max(match.start() - 1, 0) : match.start()] + text[match.end() : match.end() + 1]
    if any(char.isdigit() or char in "_@/#" for char in around):
        return False
    folded = _bare(word).casefold()
    return folded not in words.NEVER_NAMES and (word[0].isupper() or folded in words.PARTICLES)


def _span_of(run: list[re.Match[str]], hit: Hit, *, strict: bool) -> Hit | None:
    while run and run[0].group().casefold() in words.TITLES | words.PARTICLES:
        run = run[1:]
    while run and run[-1].group()[0].islower():
        run = run[:-1]
    if not run:
        return None
    known = any(part.casefold() in words.GIVEN for match in run for part in re.split(r"\W", match.group()))
    codes = all(_CODE.fullmatch(match.group()) for match in run)
    if not known and (strict or codes):
        return None
    if codes and len(run) == 1 and len(run[0].group()) <= 3:
        return None
    return replace(hit, entity_type="PERSON", start=run[0].start(), end=run[-1].start() + len(_bare(run[-1].group())))


def _bare(word: str) -> str:
    """A word without the possessive ending."""
    return re.sub(r"['\u2019]s$", "", word)


def spread(text: str, names: Sequence[Hit]) -> list[Hit]:
    """Every other place where a word of a found name stands by itself, in capitals."""
    parts = {
        part
        for hit in names
        for part in _NAME_WORD.findall(text[hit.start : hit.end])
        if len(part) > 2 and part[0].isupper() and part.casefold() not in words.PARTICLES
    }
    return [
        Hit(match.start(), match.start() + len(_bare(match.group())), "PERSON", THRESHOLD)
        for match in _NAME_WORD.finditer(text)
        if _bare(match.group()) in parts and _may_name(text, match)
    ]
