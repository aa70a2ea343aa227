"""Texts read, looked at by detectors and judged: what becomes of which spans of them.

Theory. Detectors and policy see segments (``reading``), so a value is found, allowed and denied by what is said,
however it is spelled. A text that is read in segments is looked at once more as it stands, for secrets: in code their
evidence may stand in the line around a string. Of these, what touches no finding of the segments counts too, as far as
it lies inside of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from governance.masking.detection import TextKind
from governance.masking.judgement import Judge, Judged
from governance.masking.mapped import decoded
from governance.masking.reading import Reading, Segment, read, whole
from governance.masking.same_values import SameValues
from governance.masking.spans import Hit

Text = tuple[str, TextKind]
Find = Callable[[Sequence[Text]], list[tuple[Hit, ...]]]
_BY_THE_LINE: Final = frozenset({"SECRET"})
"""Types whose evidence may stand outside of a segment."""


class Read(NamedTuple):
    """A text that was read, and what becomes of its spans."""

    reading: Reading | None
    judged: tuple[Judged, ...]


def judged_texts(texts: Sequence[Text], find: Find, judge: Judge) -> list[Read]:
    """What becomes of each text, in order; ``find`` is asked once, about each distinct segment."""
    readings = [read(text) for text, _ in texts]
    asked = dict.fromkeys(one for text, reading in zip(texts, readings, strict=True) for one in _asked(text, reading))
    found = dict(zip(asked, find(list(asked)), strict=True))
    return [Read(reading, _judged(text, reading, found, judge)) for text, reading in zip(texts, readings, strict=True)]


def judged_whole(text: str, entity_type: str, judge: Judge) -> Read:
    """What becomes of a text that is one value."""
    reading = whole(text)
    if reading is None:
        return Read(None, tuple(judge.judge(text, [Hit(0, len(text), entity_type, 1.0)])))
    [segment] = reading.segments
    hits = [Hit(0, len(segment.text), entity_type, 1.0)]
    return Read(reading, tuple(_placed(one, segment) for one in judge.judge(segment.text, hits)))


def _asked(text: Text, reading: Reading | None) -> list[Text]:
    if reading is None:
        return [text]
    return [*(_text(one, text[1]) for one in reading.segments if one.forced is None), text]


def _text(segment: Segment, kind: TextKind) -> Text:
    return segment.text, kind if segment.kind is None else segment.kind


def _judged(
    text: Text, reading: Reading | None, found: dict[Text, tuple[Hit, ...]], judge: Judge
) -> tuple[Judged, ...]:
    if reading is None:
        return tuple(judge.judge(text[0], found[text]))
    lines = [hit for hit in found[text] if hit.entity_type in _BY_THE_LINE]
    names = [one for one in reading.segments if one.is_name]
    made: list[tuple[Segment, list[Judged]]] = []
    for segment in reading.segments:
        own = () if segment.forced else found[_text(segment, text[1])]
        if not segment.is_name:
            made.append((segment, judge.judge(segment.text, _hits(segment, own, lines))))
    values = _values(made) if any(one.forced is None for one in names) else ()
    same = SameValues(((kind, judge.mention(kind, value)) for kind, value in values), judge.mention)
    for segment in names:
        told = replace(segment, forced=segment.forced or same.type_of(segment.text))
        own = () if told.forced else found[_text(segment, text[1])]
        made.append((segment, judge.judge(segment.text, _hits(told, own, lines))))
    placed = (_placed(one, segment) for segment, judged in made for one in judged)
    return tuple(sorted(placed, key=lambda one: one.hit.start))


def _hits(segment: Segment, own: Sequence[Hit], lines: Sequence[Hit]) -> list[Hit]:
    """What is found in a segment."""
    if segment.forced is not None:
        return [Hit(0, len(segment.text), segment.forced, 1.0)]
    return sorted([*own, *_of_lines(lines, segment, own)], key=lambda hit: hit.start)


def _values(made: Sequence[tuple[Segment, Sequence[Judged]]]) -> Iterator[tuple[str, str]]:
    """Type and value of each that is replaced."""
    for segment, judged in made:
        for one in judged:
            if not one.left:
                yield one.hit.entity_type, decoded(segment.text[one.hit.start : one.hit.end])


def _of_lines(lines: Sequence[Hit], segment: Segment, own: Sequence[Hit]) -> list[Hit]:
    """What was found in the whole text, where it lies in a segment and none of its own findings does."""
    inside = [hit for hit in (segment.inside(one) for one in lines) if hit is not None]
    return [hit for hit in inside if not any(hit.overlaps(one) for one in own)]


def _placed(one: Judged, segment: Segment) -> Judged:
    start, end = segment.said.raw(one.hit.start, one.hit.end)
    return one._replace(hit=replace(one.hit, start=start, end=end))
