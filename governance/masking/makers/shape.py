"""Shapes: the same string in other characters, class for class.

``shaped`` keeps length, punctuation and the class of every character (digit, capital, small letter). A value of up to
``LONGEST_CODE`` letters and digits is mapped one to one (``Seed.others``): two values of a shape never share a
surrogate, and the same letters and digits have the same one however they are grouped. Digits alone begin with a zero
where the value does and nowhere else, so that a number keeps its count of digits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from typing import Final

from governance.masking.draw import Draw, Seed

_CAPITALS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LONGEST_CODE: Final = 40
"""Letters and digits of a value that is mapped one to one."""


@lru_cache(maxsize=4096)
def alphabet(char: str) -> str:
    """The characters that may stand in a character's place: of its script and case; none where it is punctuation."""
    if char.isdecimal():
        return "0123456789"
    if not char.isalpha():
        return ""
    if char.isascii():
        return _CAPITALS if char.isupper() else _CAPITALS.lower()
    block = map(chr, range(ord(char) & ~31, (ord(char) | 31) + 1))
    return "".join(one for one in block if one.isalpha() and one.isupper() == char.isupper()) or char


def shaped(seed: Seed, kind: str, value: str) -> str:
    """Another string of the value's shape; the value itself only where it has neither letters nor digits."""
    folded = value.casefold()
    body = compact(value)
    boxes = leading([alphabet(char) or char for char in capitals(body)], body)
    size = prod(map(len, boxes))
    if size > 1 and len(body) <= LONGEST_CODE:
        other = seed.shifted(kind if body.isdecimal() else f"{kind}\x1f{shape_of(body)}", place_in(boxes, body), size)
        return refill(value, like_cased(body, at_place(boxes, other)), str.isalnum)
    for attempt in range(64):
        draw = seed.draw(kind, folded, attempt)
        made = "".join(like(char, draw) for char in value)
        if made.casefold() != folded:
            return made
    return value


def leading(boxes: list[str], body: str) -> list[str]:
    """The boxes, of which the first of a number has a zero where the number begins with one, and only there."""
    if len(body) < 2 or not body.isdecimal():
        return boxes
    first = "0" if int(body[0]) == 0 else boxes[0].replace("0", "")
    return [first, *boxes[1:]] if first and (first != "0" or "0" in boxes[0]) else boxes


def like(char: str, draw: Draw) -> str:
    """Another character of the same class."""
    options = alphabet(char)
    return _wide(char, draw.pick(options)) if options else char


def refill(value: str, fresh: str, where: Callable[[str], bool] = str.isdecimal) -> str:
    """``value`` with its digits (or what ``where`` names) replaced in order, its punctuation kept."""
    rest = iter(fresh)
    return "".join(_wide(char, next(rest, "0")) if where(char) else char for char in value)


def _wide(old: str, new: str) -> str:
    """A digit in the script of the one it replaces (full-width, Arabic-Indic)."""
    return chr(ord(old) - int(old) + int(new)) if not old.isascii() and old.isdecimal() and new.isdecimal() else new


def compact(value: str) -> str:
    """The letters and digits of a value."""
    return "".join(char for char in value if char.isalnum())


def capitals(body: str) -> str:
    """With capitals in place of small Latin letters: case says nothing about a number."""
    return "".join(char.upper() if char.isascii() else char for char in body)


def like_cased(body: str, made: str) -> str:
    """What was made, with small letters where the original has them."""
    return "".join(new.lower() if old.isascii() and old.islower() else new for old, new in zip(body, made, strict=True))


def shape_of(body: str) -> str:
    """The classes of its characters, written as one of each class."""
    return "".join((alphabet(char) or char)[0] for char in capitals(body))


def place_in(boxes: Sequence[str], body: str) -> int:
    """Which of all strings that the boxes allow it is; each box holds the characters that may stand at its place."""
    place = 0
    for box, char in zip(boxes, capitals(body), strict=True):
        place = place * len(box) + box.index(str(int(char)) if char.isdecimal() else char)
    return place


def at_place(boxes: Sequence[str], place: int) -> str:
    """The string at a place among all that the boxes allow."""
    made = []
    for box in reversed(boxes):
        place, rest = divmod(place, len(box))
        made.append(box[rest])
    return "".join(reversed(made))
