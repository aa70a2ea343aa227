"""k-anonymity: how many people share each combination of values that, together, could point at one of them.

Theory (Sweeney 2002). Quasi-identifiers are fields that identify nobody alone: a birth year, a postcode, a city. People
with equal values in all of them are a class; a dataset is k-anonymous when its smallest class has k people. A missing
value is a value like others. Where classes are too small, fields are made coarser: the single step
that leaves the fewest people under k comes first, until none is left, and what turns out not to be needed is taken
back. A suggestion says what to give up for what; it need not be the only one.

A value is made coarser by its shape: a date to its month, year, decade; a year to its decade; a number to a band of 5,
10, 20; a code (letters and digits, as postcodes) to its first three characters, then two; anything else is dropped.
Masked values take part as they stand: equal surrogates are equal people or places, so classes are as large as before
masking, and the measure is of the data as it was, not of what an outsider can look up.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from governance.records.base import Record

K: Final = 5
DROPPED: Final = "*"
LEVELS: Final = 4
_DATE: Final = re.compile(r"(\d{4})-(\d{2})-\d{2}")
_YEAR: Final = re.compile(r"(?:1[89]|20)\d{2}")
_NUMBER: Final = re.compile(r"\d{1,3}")
_CODE: Final = re.compile(r"(?=.*\d)[A-Za-z0-9][A-Za-z0-9 -]{2,9}")
_BANDS: Final = (5, 10, 20)
Row = Mapping[str, str]


class Step(Record):
    """One field made coarser, after those before it."""

    field: str
    level: int
    example: str
    """What a value becomes."""
    under_k: int
    """People in classes under k afterwards."""


class Anonymity(Record):
    """The classes of a dataset."""

    fields: tuple[str, ...]
    k: int
    people: int
    classes: int
    smallest: int
    """People in the smallest class; 0 without people."""
    under_k: int
    """People in classes of fewer than k."""
    unique: int
    """People who are a class of their own."""
    steps: tuple[Step, ...] = ()
    """What would help."""


def anonymity(rows: Sequence[Row], fields: Sequence[str], k: int = K) -> Anonymity:
    """The classes of rows, one row a person, over some fields."""
    sizes = _sizes(rows, fields)
    return Anonymity(
        fields=tuple(fields),
        k=k,
        people=len(rows),
        classes=len(sizes),
        smallest=min(sizes.values(), default=0),
        under_k=_under(sizes, k),
        unique=sum(size == 1 for size in sizes.values()),
        steps=tuple(suggested(rows, fields, k)) if rows else (),
    )


def suggested(rows: Sequence[Row], fields: Sequence[str], k: int = K) -> list[Step]:
    """How to make the classes large enough; nothing where they are. Of fewer than k people, all stay under k."""
    levels = _enough(rows, fields, k)
    steps: list[Step] = []
    so_far = dict.fromkeys(fields, 0)
    for field, level in levels.items():
        if level:
            so_far[field] = level
            under = _state(rows, so_far, k)[0]
            steps.append(Step(field=field, level=level, example=_example(rows, field, level), under_k=under))
    return steps


def _enough(rows: Sequence[Row], fields: Sequence[str], k: int) -> dict[str, int]:
    """A level for each field: up by the best single step while people are under k, then down where nothing is lost."""
    levels = dict.fromkeys(fields, 0)
    state = _state(rows, levels, k)
    while state[0] and any(level < LEVELS for level in levels.values()):
        up = [{**levels, field: level + 1} for field, level in levels.items() if level < LEVELS]
        levels = min(up, key=lambda one: _state(rows, one, k))
        state = _state(rows, levels, k)
    for field in fields:
        while levels[field] and _state(rows, down := {**levels, field: levels[field] - 1}, k)[0] <= state[0]:
            levels = down
    return levels


def _state(rows: Sequence[Row], levels: Mapping[str, int], k: int) -> tuple[int, int]:
    """People under k, and classes."""
    sizes = _sizes(coarser(rows, levels), list(levels))
    return _under(sizes, k), len(sizes)


def coarser(rows: Sequence[Row], levels: Mapping[str, int]) -> list[Row]:
    """The rows with each field at its level."""
    return [{field: generalised(row.get(field, ""), level) for field, level in levels.items()} for row in rows]


def generalised(value: str, level: int) -> str:
    """A value at a level: 0 is the value, ``LEVELS`` is nothing of it. A higher level never tells more."""
    if level <= 0:
        return value
    return DROPPED if level >= LEVELS or not value else _shortened(value, level)


def _shortened(value: str, level: int) -> str:
    if date := _DATE.fullmatch(value):
        return (f"{date[1]}-{date[2]}", date[1], f"{date[1][:3]}0s")[level - 1]
    if _YEAR.fullmatch(value):
        return (f"{value[:3]}0s", f"{value[:2]}00s", DROPPED)[level - 1]
    if _NUMBER.fullmatch(value):
        return _band(int(value), level)
    if _CODE.fullmatch(value):
        bare = re.sub(r"[ -]", "", value)
        return (f"{bare[:3]}...", f"{bare[:2]}...", f"{bare[:1]}...")[level - 1]
    return DROPPED


def _band(number: int, level: int) -> str:
    """Bands of 5, 10 and 20: each lies within the next."""
    width = _BANDS[level - 1]
    low = number // width * width
    return f"{low} to {low + width - 1}"


def _sizes(rows: Sequence[Row], fields: Sequence[str]) -> Counter[tuple[str, ...]]:
    return Counter(tuple(row.get(field, "") for field in fields) for row in rows)


def _under(sizes: Counter[tuple[str, ...]], k: int) -> int:
    return sum(size for size in sizes.values() if size < k)


def _example(rows: Sequence[Row], field: str, level: int) -> str:
    """What the most common value becomes."""
    common = Counter(row[field] for row in rows if row.get(field)).most_common(1)
    return generalised(common[0][0], level) if common else DROPPED
