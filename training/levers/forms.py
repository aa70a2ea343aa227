"""Forms: what accepted values have in common that refused ones lack, as JSON Schema.

Theory. Three forms are tried, the tightest first: a closed set, when few values were seen often; a pattern, by
generalising over character classes; a type, when accepted and refused values are of different JSON types. A pattern
keeps a run of letters that all values share as it is, and turns digits and differing runs into classes with their
lengths (``SO-1234``, ``SO-9876`` give ``^SO-[0-9]{4}$``). A form is returned only if it admits every accepted value
and none of the refused; otherwise there is none, since a guess would mislead again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from training.schemas import valid

MOST_MEMBERS: Final = 6
LEAST_SEEN: Final = 3
"""How often each member of a closed set must have been seen on average."""

_CLASSES: Final = (("[0-9]", re.compile("[0-9]")), ("[A-Z]", re.compile("[A-Z]")), ("[a-z]", re.compile("[a-z]")))
_RUNS: Final = re.compile(r"[0-9]+|[A-Z]+|[a-z]+|[^0-9A-Za-z]")
_WORDS: Final = re.compile(r"[0-9A-Za-z]+|[^0-9A-Za-z]")
_TYPES: Final[dict[type, str]] = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array"}


def infer(accepted: Sequence[Any], rejected: Sequence[Any], seen: int) -> dict[str, Any] | None:
    """The tightest form that admits all of ``accepted`` and none of ``rejected``, or None.

    ``accepted`` holds each value once; ``seen`` is how often they were seen together.
    """
    if not accepted or not rejected:
        return None
    for form in _candidates(accepted, seen):
        admits = all(valid(form, value) for value in accepted)
        if admits and not any(valid(form, value) for value in rejected):
            return form
    return None


def _candidates(accepted: Sequence[Any], seen: int) -> Iterator[dict[str, Any]]:
    kinds = {_TYPES.get(type(value)) for value in accepted}
    if len(kinds) != 1 or None in kinds:
        return
    kind = kinds.pop()
    if kind == "string":
        values = sorted(set(accepted))
        if len(values) <= MOST_MEMBERS and seen >= LEAST_SEEN * len(values):
            yield {"type": "string", "enum": values}
        for pieces in (_RUNS, _WORDS):
            pattern = generalise(values, pieces)
            if pattern is not None:
                yield {"type": "string", "pattern": pattern}
    yield {"type": kind}


def generalise(values: Sequence[str], pieces: re.Pattern[str] = _RUNS) -> str | None:
    """A pattern over the pieces that all values are made of, or None where they are made of different ones."""
    if not values or not all(values):
        return None
    rows = [pieces.findall(value) for value in values]
    if len({len(row) for row in rows}) != 1:
        return None
    parts = [_part(column) for column in zip(*rows, strict=True)]
    return None if None in parts else f"^{''.join(part for part in parts if part)}$"


def _part(column: Sequence[str]) -> str | None:
    """One place of the pattern: the shared text, or the classes and lengths that were seen."""
    classes = "".join(name[1:-1] for name, rule in _CLASSES if any(rule.search(text) for text in column))
    plain = all(text.isascii() and text.isalnum() for text in column)
    if len(set(column)) == 1 and not (plain and "0-9" in classes):
        return _literal(column[0])
    if not plain:
        return None
    shortest, longest = min(map(len, column)), max(map(len, column))
    return f"[{classes}]{{{shortest}}}" if shortest == longest else f"[{classes}]{{{shortest},{longest}}}"


def _literal(text: str) -> str:
    """The text in a regular expression that ECMA-262 and Python read alike."""
    return "".join(f"\\{char}" if char in r".^$*+?{}[]\|()/" else char for char in text)


_PIECES: Final = re.compile(r"\[([^\]]+)\]\{(\d+)(?:,(\d+))?\}|((?:\\.|[^\[\\])+)")
_NAMES: Final = {"0-9": "digits", "A-Z": "capital letters", "a-z": "small letters"}


def describe(form: dict[str, Any]) -> str:
    """The form in words, without an example: a small model copies an example instead of what the customer wrote."""
    if "enum" in form:
        return f"one of {', '.join(map(str, form['enum']))}"
    if "pattern" not in form:
        return f"a JSON {form['type']}"
    pieces = []
    for classes, least, most, literal in _PIECES.findall(form["pattern"][1:-1]):
        if literal:
            pieces.append(re.sub(r"\\(.)", r"\1", literal))
        else:
            count = least if most in {"", least} else f"{least} to {most}"
            pieces.append(f"{count} {_NAMES.get(classes, 'letters or digits')}")
    return " and ".join(pieces)
