"""What people type about values: types that exist, values from standard input or a hidden prompt, never arguments."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from difflib import get_close_matches

import click

from governance.errors import RecordError
from governance.masking.entity_types import known_types

LONGEST = 65_536


def check_types(types: Iterable[str], where: str) -> None:
    """Refuse types that nothing finds: in a policy they would have no effect.

    Raises:
        RecordError: naming ``where``, the type and the nearest that exists.

    """
    known = known_types()
    for name in sorted(set(types) - known):
        near = get_close_matches(name, sorted(known), n=1)
        raise RecordError(f"{where}: no finding has the type {name}" + (f"; did you mean {near[0]}?" if near else ""))


def read_lines(what: str) -> list[str]:
    """The lines on standard input, at least one; from a terminal one hidden line.

    Raises:
        RecordError: saying what is wrong, never what was typed.

    """
    if sys.stdin.isatty():
        return [click.prompt(what, hide_input=True)]
    data = sys.stdin.buffer.read(LONGEST + 1)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RecordError(f"{what} on standard input is not UTF-8") from error
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines or len(data) > LONGEST:
        raise RecordError(f"standard input must hold {what}, one a line, of {LONGEST} bytes at most")
    if not all(line.isprintable() for line in lines):
        raise RecordError(f"{what} on standard input holds control characters")
    return lines
