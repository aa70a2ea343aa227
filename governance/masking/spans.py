"""Spans of personal values in a text, and how overlapping ones become one.

Theory. Recognisers see the same characters differently; replacing each of their findings in turn eats text between
them. So overlaps are resolved once, before anything is replaced: what a pattern found wins over what the language
model guessed, the guess keeping only what lies outside; findings that still overlap become one finding over their
union, under the type of the strongest. Text outside the union stays as it is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

THRESHOLD: Final = 0.4
"""Findings below it are none."""
PROTECTED: Final = re.compile(
    r"(?<![\w@.+\-])(?:[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9a-f]{64}|[0-9a-f]{32})(?![\w@+]|[.\-]\w)"
)
"""UUIDs, trace ids and digests: never personal by themselves, and looking like phone numbers in parts."""


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
    whole = resolve(taken)
    ends = [one.end for one in whole]
    left: list[Hit] = []
    for hit in hits:
        place, at = bisect_right(ends, hit.start), hit.start
        while place < len(whole) and whole[place].start < hit.end:
            if at < whole[place].start:
                left.append(replace(hit, start=at, end=whole[place].start))
            at = ends[place]
            place += 1
        if at < hit.end:
            left.append(hit if at == hit.start else replace(hit, start=at))
    return left


def protected(text: str) -> list[Hit]:
    """The ids in a text."""
    return [Hit(match.start(), match.end(), "ID", 1.0) for match in PROTECTED.finditer(text)]


def unprotected(text: str, hits: Iterable[Hit]) -> list[Hit]:
    """The findings that do not lie inside an id; an id is a secret only where its name calls it one."""
    safe = protected(text)
    starts = [one.start for one in safe]

    def is_safe(hit: Hit) -> bool:
        place = bisect_right(starts, hit.start) - 1
        return place >= 0 and hit.end <= safe[place].end

    return [hit for hit in hits if hit.entity_type == "SECRET" or not is_safe(hit)]


def without_hosts(hits: Sequence[Hit]) -> list[Hit]:
    """Without the mail addresses that begin inside a secret: ``word@host`` of a URL with credentials is none."""
    secrets = [hit for hit in hits if hit.entity_type == "SECRET"]
    return [
        hit
        for hit in hits
        if hit.entity_type != "EMAIL_ADDRESS" or not any(one.start < hit.start < one.end < hit.end for one in secrets)
    ]
