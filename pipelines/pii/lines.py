"""Reads JSONL in bounded memory: each line gives one object, or says what is wrong with it and where.

A line is never longer in memory than ``LONGEST``; what is beyond it is skipped to the next line. JSON is read
strictly: no NaN, no number that a float cannot hold, no field twice. A message names line and field and never what
stands there, so that it can be logged.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import IO, Any, Final, NamedTuple

from pipelines.errors import LineError

LONGEST: Final = 16 * 2**20
"""Bytes of one line."""


class Line(NamedTuple):
    """One line that holds an object."""

    number: int
    value: dict[str, Any]


def read_lines(stream: IO[bytes], longest: int = LONGEST) -> Iterator[Line | LineError]:
    """The objects of a JSONL stream in order, a ``LineError`` in the place of each that is none; no blank line."""
    number = 0
    while data := stream.readline(longest + 1):
        number += 1
        if len(data) > longest and not data.endswith(b"\n"):
            _skip(stream)
            yield LineError(number, f"longer than {longest} bytes")
        elif data.strip():
            yield _read(number, data)


def parse_strictly(data: bytes | str) -> Any:
    """JSON without NaN, without numbers beyond a float, and without a field that occurs twice.

    Raises:
        ValueError: saying what is wrong, without what stands there.

    """
    try:
        return json.loads(data, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at column {error.colno}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 at byte {error.start + 1}") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _read(number: int, data: bytes) -> Line | LineError:
    try:
        value = parse_strictly(data.decode("utf-8-sig" if number == 1 else "utf-8"))
    except ValueError as error:
        words = f"not UTF-8 at byte {error.start + 1}" if isinstance(error, UnicodeDecodeError) else str(error)
        return LineError(number, words)
    if not isinstance(value, dict):
        return LineError(number, "not an object")
    return Line(number, value)


def _skip(stream: IO[bytes]) -> None:
    """Read on to the end of the line."""
    while (rest := stream.readline(2**16)) and not rest.endswith(b"\n"):
        pass


def _refuse(constant: str) -> Any:
    raise ValueError(f"not JSON: {constant} is no number")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("a number is too large")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a field occurs twice")
    return made
