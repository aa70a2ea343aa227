"""A text with what was judged in it replaced.

The spans are of the raw text; the value that a surrogate stands for is what the span says, and the surrogate is spelled
as its place is (``reading``). Everything outside the spans is kept byte for byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from governance.masking.judgement import Judged, word_count
from governance.masking.reading import Reading
from governance.masking.spans import Hit, outside
from governance.masking.surrogate import Surrogates
from governance.ports.masker import Finding
from governance.records.masking_policy import Outcome


class Applied(NamedTuple):
    """A masked text, what was replaced in it and what was found and left."""

    text: str
    findings: tuple[Finding, ...]
    kept: tuple[Finding, ...] = ()


def apply(text: str, judged: Sequence[Judged], surrogates: Surrogates, reading: Reading | None = None) -> Applied:
    """The text with each masked span replaced, and what was found in it."""
    parts: list[str] = []
    findings: list[Finding] = []
    kept: list[Finding] = []
    names: set[tuple[int, str]] = set()
    done = length = 0
    for one in judged:
        hit = one.hit
        value = text[hit.start : hit.end] if reading is None else reading.value(hit.start, hit.end)
        made = text[hit.start : hit.end] if one.left else surrogates.make(hit.entity_type, value)
        if reading is not None and not one.left:
            made = reading.written(made, hit.start, hit.end)
        parts += [text[done : hit.start], made]
        begin = length + hit.start - done
        length, done = begin + len(made), hit.end
        (kept if one.left else findings).append(_finding(one, value, surrogates, (begin, length)))
        apart = _apart(names, reading, made, hit)
        parts.append(apart)
        length += len(apart)
    return Applied("".join([*parts, text[done:]]), tuple(findings), tuple(kept))


def _apart(names: set[tuple[int, str]], reading: Reading | None, made: str, hit: Hit) -> str:
    """What keeps a field's name apart from the same one in its object: a member more, never one less."""
    added = ""
    while reading and (name := reading.named(made + added, hit.start, hit.end)):
        if name not in names:
            names.add(name)
            break
        added += "_"
    return added


def around(text: str, judged: Sequence[Judged], shield: Sequence[Hit]) -> list[Judged]:
    """What is judged, outside the surrogates that are there already; those stay, and signs left beside them."""
    found = [Judged(hit, Outcome.MARKED) for hit in shield]
    for one in judged:
        parts = outside([one.hit], shield)
        found += [Judged(hit, one.outcome) for hit in parts if hit == one.hit or _says(text[hit.start : hit.end])]
    return sorted(found, key=lambda one: one.hit.start)


def _says(text: str) -> bool:
    return any(map(str.isalnum, text))


def _finding(one: Judged, value: str, surrogates: Surrogates, masked: tuple[int, int]) -> Finding:
    return Finding(
        pointer="",
        start=one.hit.start,
        end=one.hit.end,
        entity_type=one.hit.entity_type,
        score=one.hit.score,
        mention=surrogates.mention(one.hit.entity_type, value),
        masked_start=masked[0],
        masked_end=masked[1],
        words=word_count(value),
        outcome=one.outcome,
        near=one.near,
    )
