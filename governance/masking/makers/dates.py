"""Dates of birth, other dates and ages.

A date keeps its form and its decade: the day is mapped onto another day of the same ten years, one to one
(``Seed.shifted``), so ages stay plausible, equal dates stay equal in every form, and two dates never become one. Any
day of a decade may be somebody's: the specification of a date has no range in which none lies, so a surrogate of a date
cannot be told from a date.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from governance.masking.draw import Seed
from governance.masking.makers.shape import shaped

_MONTHS: Final = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
                  "november", "december")  # fmt: skip
_PARTS: Final = re.compile(r"\d+|[^\W\d_]{3,}")
_PACKED: Final = re.compile(r"\d{8}|\d{6}")
_PIVOT: Final = 30
"""A year of two digits below it is of this century."""
_YEARS: Final = 10
_LAST_DAY: Final = 31


@dataclass(frozen=True)
class _Form:
    """Where in a text the parts of a date stand."""

    year: re.Match[str]
    month: re.Match[str]
    day: re.Match[str]

    @property
    def padded(self) -> bool:
        """Whether its numbers are written with two digits."""
        day, month = self.day.group(), self.month.group()
        return day.startswith("0") or (month.isdecimal() and len(month) == len(day) == 2)

    def date(self) -> date | None:
        """The date, if it is one."""
        month = _month(self.month.group())
        year, day = _year(self.year.group()), int(self.day.group())
        if month is None or not 1 <= month <= 12 or not 1 <= year <= 9989 or not 1 <= day <= monthrange(year, month)[1]:
            return None
        return date(year, month, day)


def birth(seed: Seed, value: str) -> str:
    """Another day of the same decade, written alike; what is no date keeps its shape."""
    digits = value.strip()
    if _PACKED.fullmatch(digits):
        return value.replace(digits, _packed(seed, digits))
    form = _form(value)
    known = form.date() if form else None
    if form is None or known is None:
        return shaped(seed, "DATE", value)
    new = _other_day(seed, known)
    parts = {form.year: _like_year(form.year.group(), new), form.day: _number(new.day, form)}
    parts[form.month] = _like_month(form, new)
    for match in sorted(parts, key=re.Match.start, reverse=True):
        value = value[: match.start()] + parts[match] + value[match.end() :]
    return value


def moment(seed: Seed, value: str) -> str:
    """A date in a text: a date by its form; digits otherwise, and words without any become a tag."""
    if any(char.isdigit() for char in value):
        return birth(seed, value)
    return f"[date {seed.draw('DATE_TIME', value.casefold()).hex(6)}]"


def age(seed: Seed, value: str) -> str:
    """Another age of the same ten years."""
    return re.sub(r"\d+", lambda match: _other_age(seed, match.group()), value) if re.search(r"\d", value) else (
        shaped(seed, "AGE", value)
    )  # fmt: skip


def _other_age(seed: Seed, digits: str) -> str:
    number = int(digits)
    return str(number - number % 10 + seed.shifted(f"AGE {number // 10}", number % 10, 10)).zfill(len(digits))


def _other_day(seed: Seed, known: date) -> date:
    first = date(known.year - known.year % _YEARS or 1, 1, 1)
    days = (date(first.year - first.year % _YEARS + _YEARS, 1, 1) - first).days
    return first + timedelta(days=seed.shifted(f"DATE {first.year}", (known - first).days, days))


def _packed(seed: Seed, digits: str) -> str:
    """``19900405`` or ``900405``; other orders and impossible days keep their shape."""
    cut = len(digits) - 4
    month, day, year = int(digits[cut : cut + 2]), int(digits[cut + 2 :]), _year(digits[:cut])
    if not 1 <= month <= 12 or not 1 <= year <= 9989 or not 1 <= day <= monthrange(year, month)[1]:
        return shaped(seed, "DATE", digits)
    new = _other_day(seed, date(year, month, day))
    return f"{new.year % 10**cut:0{cut}d}{new.month:02d}{new.day:02d}"


def _form(value: str) -> _Form | None:
    """Year, month and day of the first three parts that can be them."""
    parts = [match for match in _PARTS.finditer(value) if match.group().isdecimal() or _month(match.group())]
    parts = parts[:3]
    if len(parts) < 3:
        return None
    named = [part for part in parts if not part.group().isdecimal()]
    if len(named) > 1 or any(len(part.group()) not in {1, 2, 4} for part in parts if part not in named):
        return None
    years = [part for part in parts if (len(part.group()) == 4 or _is_year(value, part)) and part not in named]
    year = years[0] if years else parts[2]
    rest = [part for part in parts if part is not year]
    if named:
        return None if year in named else _Form(year, named[0], next(part for part in rest if part not in named))
    month_first = year is parts[0] or ("." not in value and int(rest[0].group()) <= 12)
    return _Form(year, rest[0], rest[1]) if month_first else _Form(year, rest[1], rest[0])


def _is_year(value: str, part: re.Match[str]) -> bool:
    """Whether two digits are a year: Korean says so behind them, or no day is so large."""
    if not part.group().isdecimal():
        return False
    return value.startswith("년", len(value) - len(value[part.end() :].lstrip())) or int(part.group()) > _LAST_DAY


def _year(text: str) -> int:
    number = int(text)
    return number if len(text) > 2 else number + (2000 if number < _PIVOT else 1900)


def _month(text: str) -> int | None:
    if text.isdecimal():
        return int(text)
    folded = text.casefold()
    return next((place for place, name in enumerate(_MONTHS, 1) if name == folded or name[:3] == folded
                 or (name[:4] == folded and name == "september")), None)  # fmt: skip


def _like_year(text: str, new: date) -> str:
    return f"{new.year:04d}" if len(text) == 4 else f"{new.year % 100:02d}"


def _like_month(form: _Form, new: date) -> str:
    text = form.month.group()
    if text.isdecimal():
        return _number(new.month, form)
    full = _month(text)
    name = _MONTHS[new.month - 1]
    name = name if full is not None and len(text) == len(_MONTHS[full - 1]) else name[: len(text)]
    return name.upper() if text.isupper() else name.capitalize() if text[0].isupper() else name


def _number(number: int, form: _Form) -> str:
    return f"{number:02d}" if form.padded else f"{number}"


MAKERS: Final[Mapping[str, Callable[[Seed, str], str]]] = {"DATE_OF_BIRTH": birth, "DATE_TIME": moment, "AGE": age}
