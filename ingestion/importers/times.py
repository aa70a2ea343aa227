"""Times of files in nanoseconds since 1970, whatever they are written in; 0 where there is none.

A number is in seconds, milliseconds, microseconds or nanoseconds, told by its size (each reading of a year after 1973
is unambiguous); a pair is seconds and nanoseconds; a text is ISO 8601, in UTC where it names no zone, exact to the
nanosecond. A file without times gets ``place``: a moment in March 1973 that grows with the position, so order is kept
and nobody takes it for a time.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, Final

from governance.records.base import to_unix_nano

_LAST: Final = 2**63 - 1
_SCALES: Final = ((10**17, 1), (10**14, 10**3), (10**11, 10**6), (1, 10**9))
_ISO: Final = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?:[.,](\d{1,9})\d*)?\s*(Z|[+-]\d\d:?\d\d)?", re.ASCII)
_NUMBER: Final = re.compile(r"\d{1,20}(\.\d{1,12})?", re.ASCII)
_DURATION: Final = re.compile(r"P(?:(\d{1,6})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,9})(?:\.(\d{1,9})\d*)?S)?)?")
_STEP: Final = 1_000_000
_BASE: Final = 10**17
"""The first number that is read as nanoseconds."""


def place(position: int) -> int:
    """The stand-in for the time of what comes at a position."""
    return _BASE + position * _STEP


def unix_nano(value: Any) -> int:
    """The time that a value says, or 0."""
    found = 0
    if isinstance(value, str):
        found = _from_text(value.strip())
    elif isinstance(value, list) and len(value) == 2 and all(isinstance(part, int) for part in value):
        found = value[0] * 10**9 + value[1]
    elif isinstance(value, int | float) and not isinstance(value, bool):
        found = _from_number(value)
    return found if 0 < found <= _LAST else 0


def _from_number(value: float) -> int:
    if not 0 < value < _LAST:
        return 0
    factor = next(factor for least, factor in _SCALES if value >= least or least == 1)
    return value * factor if isinstance(value, int) else round(value * factor)


def _from_text(value: str) -> int:
    if _NUMBER.fullmatch(value):
        return _from_number(float(value) if "." in value else int(value))
    found = _ISO.fullmatch(value)
    if found is None:
        return 0
    moment, fraction, zone = found.groups()
    try:
        at = datetime.fromisoformat(moment + (zone or "+00:00")).astimezone(UTC)
        return to_unix_nano(at) + int((fraction or "0").ljust(9, "0"))
    except (ValueError, OverflowError):
        return 0


def duration_nano(value: Any) -> int:
    """An ISO 8601 duration (``PT1M2.5S``), or 0."""
    found = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return 0
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups()[:4])
    whole = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    return whole * 10**9 + int((found[5] or "0").ljust(9, "0"))
