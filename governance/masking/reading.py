"""How a text is read for masking: in segments, each with what it says and where that is spelled.

Theory. A text is one leaf, and stays one. Read, it is a list of segments in order: each string of JSON in it (whole,
cut off, after a prefix, inside a string of JSON again) under the names of its fields, each number that these names make
personal, and the prose between. Detectors and policy see what a segment says; findings and edits are spans of the raw
text, over whole spellings (``mapped``), and what is written there is spelled as the segment is. So JSON in a text is
masked as the same JSON alone, and stays JSON.

Most texts hold nothing of that. ``read`` says so by None, after one look at their characters.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import quote as percent_encoded
from urllib.parse import quote_plus as form_encoded

from governance.masking import field_names, fields
from governance.masking.detection import TextKind
from governance.masking.json_tokens import PROSE, Region, Token, regions
from governance.masking.mapped import Mapped, characters, decoded, entities, escapes, is_spelled, may_hide, meant
from governance.masking.profile import plain
from governance.masking.spans import Hit

DEEPEST: Final = 8
"""JSON in strings of JSON; what lies deeper is read as text."""
LONGEST_NUMBER: Final = 15
"""Digits that a number takes from what is no number: as many as every JSON reader keeps exactly."""
_OPENS: Final = re.compile(r"[{\[]\s{0,300}[\"'{\[A-Za-z_$:]")
_NAMED: Final = re.compile(r"[\"']\s{0,20}(?::|=>)")
_DATE: Final = re.compile(r"\s*((?:18|19|20)\d\d)(, ?)(\d{1,2})(, ?)(\d{1,2})(?=\s*(?:,|$))")
"""The day of a date that Python writes."""
_PERCENT: Final = re.compile(r"%[0-9A-Fa-f]{2}")
Encoder = Callable[[str], str]


@dataclass(frozen=True)
class Segment:
    """A part of a text that is read by itself."""

    said: Mapped
    kind: TextKind | None
    """None in prose: as what the whole text is."""
    forced: str | None = None
    """The entity type that a field's name demands for the whole of it."""
    encoders: tuple[Encoder, ...] = ()
    """How a value is spelled here, the innermost first."""
    holder: int | None = None
    """Where the object of a field's name begins in the raw text."""

    @property
    def text(self) -> str:
        """What it says."""
        return self.said.text

    @property
    def is_name(self) -> bool:
        """Whether it is the name of a field."""
        return self.kind is TextKind.NAME

    def inside(self, hit: Hit) -> Hit | None:
        """A finding in the raw text as one in what is said here; None where nothing of it is."""
        start, end = bisect_right(self.said.ends, hit.start), bisect_left(self.said.begins, hit.end)
        return replace(hit, start=start, end=end) if start < end else None


class Reading:
    """A text as it is read."""

    def __init__(self, raw: str, segments: list[Segment]) -> None:
        """``segments`` in order, none of them empty."""
        self._raw = raw
        self.segments = segments
        self._begins = [one.said.begins[0] for one in segments]

    @property
    def has_fields(self) -> bool:
        """Whether a field's name says what some value is."""
        return any(one.forced for one in self.segments)

    def value(self, start: int, end: int) -> str:
        """What is said by a span of the raw text."""
        found = self._within(start, end)
        return meant(self._raw[start:end]) if found is None else decoded(found[0].text[found[1] : found[2]])

    def written(self, made: str, start: int, end: int) -> str:
        """How a value is spelled in the place of a span of the raw text."""
        found, spelling = self._within(start, end), self._raw[start:end]
        value = self.value(start, end)
        if spelling.count("+") > value.count("+"):
            made = form_encoded(made)
        elif _PERCENT.search(spelling) and not _PERCENT.search(value):
            made = percent_encoded(made, safe="")
        for encode in found[0].encoders if found else ():
            made = encode(made)
        return made

    def named(self, made: str, start: int, end: int) -> tuple[int, str] | None:
        """The name that a field has with ``made`` in the place of a span, and which object's; None outside of names."""
        found = self._within(start, end)
        if found is None or found[0].holder is None:
            return None
        said = found[0].said
        return found[0].holder, self._raw[said.begins[0] : start] + made + self._raw[end : said.ends[-1]]

    def _within(self, start: int, end: int) -> tuple[Segment, int, int] | None:
        """The segment that a span lies in, and where in it."""
        place = bisect_right(self._begins, start) - 1
        if place < 0 or end > self.segments[place].said.ends[-1]:
            return None
        said = self.segments[place].said
        return self.segments[place], bisect_left(said.begins, start), bisect_right(said.ends, end)


def read(text: str) -> Reading | None:
    """How a text is read; None where it says what it is written as, from its beginning to its end."""
    if not _is_unusual(text) and not is_spelled(text):
        return None
    segments = list(_prose(Mapped.of(text), None, (), 0))
    if len(segments) == 1 and segments[0] == Segment(Mapped.of(text), None):
        return None
    return Reading(text, segments)


def whole(text: str) -> Reading | None:
    """How a text is read that is one value; None where it says what it is written as."""
    said = characters(Mapped.of(text)) if is_spelled(text) else None
    return None if said is None or not said.text else Reading(text, [Segment(said, None)])


def said_at(text: str, find: Callable[[str], list[tuple[int, int]]]) -> list[tuple[int, int]]:
    """Where in a text something is said, in order: as it is written, and in any other spelling of it."""
    found = find(text)
    if not may_hide(text):
        return found
    reading = read(text)
    for segment in reading.segments if reading else [Segment(Mapped.of(text), None)]:
        spans = (segment.said.raw(*span) for span in find(plain(segment.text)))
        found += [span for span in spans if all(span[1] <= start or end <= span[0] for start, end in found)]
    return sorted(found)


def _is_unusual(text: str) -> bool:
    """Whether a text may hold escapes or JSON: a few looks for a sign, which most texts have none of."""
    return (
        "\\" in text
        or (("{" in text or "[" in text) and _OPENS.search(text) is not None)
        or ((":" in text or "=>" in text) and ('"' in text or "'" in text) and _NAMED.search(text) is not None)
    )


def _prose(mapped: Mapped, token: Token | None, encoders: tuple[Encoder, ...], depth: int) -> Iterator[Segment]:
    """The segments of a text that may hold JSON; ``token`` is the string of JSON that it is."""
    done = 0
    for region in _regions(mapped.text, token) if depth < DEEPEST else ():
        yield from _between(mapped.part(done, region.start), encoders, depth)
        for one in region.tokens:
            yield from _token(mapped.part(one.start, one.end), one, encoders, depth, mapped.begins[one.holder])
        done = region.end
    yield from _between(mapped.part(done, len(mapped.text)), encoders, depth)


def _regions(text: str, token: Token | None) -> Iterator[Region]:
    return regions(text) if token is None else regions(text, token.path, token.siblings)


def _between(mapped: Mapped, encoders: tuple[Encoder, ...], depth: int) -> Iterator[Segment]:
    """The segments of prose: escapes in it are read, and what they hid."""
    coded = escapes(entities(mapped))
    if coded is not mapped and depth < DEEPEST and _is_unusual(coded.text):
        yield from _prose(coded, None, (_escaped, *encoders), depth + 1)
    elif any(map(str.isalnum, coded.text)):
        said = characters(coded)
        if said.text:
            yield Segment(said, None, None, encoders)


def _token(mapped: Mapped, token: Token, encoders: tuple[Encoder, ...], depth: int, holder: int) -> Iterator[Segment]:
    """The segments of a string of JSON, or a number; of a field's name where it may be a value."""
    if not token.quote:
        forced = fields.forced_type(token.path, token.siblings, mapped.text)
        if forced is not None:
            yield Segment(mapped, TextKind.CODE, forced, (digits, *encoders))
        return
    if token.quote == PROSE:
        yield from _object(mapped, token, encoders, depth)
        return
    coded, spelled = escapes(mapped, paths=False), (_quoted(token.quote), *encoders)
    if token.is_name:
        yield from _name(characters(coded), token, spelled, holder)
        return
    if depth < DEEPEST and _is_unusual(coded.text) and any(_regions(coded.text, token)):
        yield from _prose(coded, token, spelled, depth + 1)
        return
    again = escapes(coded)
    if (said := characters(again)).text:
        spelled = spelled if again is coded else (_escaped, *spelled)
        forced = fields.forced_type(token.path, token.siblings, said.text)
        yield Segment(said, fields.text_kind(token.path, said.text), forced, spelled)


def _object(mapped: Mapped, token: Token, encoders: tuple[Encoder, ...], depth: int) -> Iterator[Segment]:
    """The segments of what a program wrote between the brackets of an object: a date in a field that says whose."""
    date = _DATE.match(mapped.text)
    said = _iso(mapped.part(date.start(1), date.end()), date) if date else None
    if said and (forced := fields.forced_type(token.path, token.siblings, said.text)):
        yield Segment(said, TextKind.CODE, forced, (_numbers, *encoders))
    else:
        yield from _prose(mapped, None, encoders, depth + 1)


def _iso(mapped: Mapped, date: re.Match[str]) -> Mapped:
    """A date of three numbers as one of ISO 8601."""
    at = date.start(1)
    signs = {2: "-", 3: date.group(3).zfill(2), 4: "-", 5: date.group(5).zfill(2)}
    return mapped.changed((date.start(n) - at, date.end(n) - at, made) for n, made in signs.items())


def _numbers(date: str) -> str:
    """A date of ISO 8601 as three numbers, as Python writes them."""
    return ", ".join(part.lstrip("0") or "0" for part in date.split("-"))


def _name(said: Mapped, token: Token, encoders: tuple[Encoder, ...], holder: int) -> Iterator[Segment]:
    told = field_names.type_below(token.path)
    forced = field_names.forced_type(told, said.text) if told and said.text else None
    if forced is not None or field_names.may_be_value(said.text):
        yield Segment(said, TextKind.NAME, forced, encoders, holder)


def digits(text: str) -> str:
    """The number that stands for a number in a field: the digits of what would stand for it in a text, all of them."""
    if text.isascii() and text.isdecimal():
        return text.lstrip("0") or "0"
    kept = "".join(char for char in text if char.isdecimal() and char.isascii())[:LONGEST_NUMBER]
    return kept.lstrip("0") or "0"


def _quoted(quote: str) -> Encoder:
    return _escaped if quote == '"' else _single


def _escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _single(text: str) -> str:
    return _escaped(text).replace('\\"', '"').replace("'", "\\'")
