"""Values that texts state: quantities, and whether a text states a value.

Theory. An answer is right when it *states* a value, whatever words stand around it. Text is folded (NFKC, case, white
space). A quantity is a number with the unit word after it; a value is stated only between boundaries, so ``14 days``
is not stated in ``114 days``, ``90 EUR`` not in ``4.90 EUR``, ``SO-12`` not in ``SO-123``. A quantity is also stated
in its attributive form (``14-day``), since a person would accept it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

_QUANTITY: Final = re.compile(
    r"(?<![^\W_])(?<!\d[.,])(?P<number>\d+(?:[.,]\d+)*)"
    r"(?:(?P<gap>[ -]?)(?P<unit>[^\W\d_]+|[%€$£]))?(?![^\W_])(?![.,]\d)"
)
_NOT_UNITS: Final = frozenset({
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "from", "if", "in", "is", "it", "no", "not", "of",
    "on", "or", "per", "than", "the", "then", "to", "was", "we", "with", "you",
})  # fmt: skip
_WHOLE: Final = re.compile(r"(?P<number>\d+(?:[.,]\d+)*)[ -]?(?P<unit>[^\W\d_]+|[%€$£])")
MOST_WORDS: Final = 5
"""A leaf of a tool result with more words is a text, not a value."""


def fold(text: str) -> str:
    """The text without differences of case, width and white space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def normalised(text: str) -> str:
    """The text's words alone: what two messages share when they differ in punctuation only."""
    return " ".join(re.findall(r"\w+", fold(text)))


def quantities(text: str) -> tuple[str, ...]:
    """The numbers of a text with their unit words, folded, each once, in order."""
    found: dict[str, None] = {}
    for match in _QUANTITY.finditer(fold(text)):
        unit = match["unit"]
        named = unit is not None and (unit not in _NOT_UNITS or not match["gap"])
        found[f"{match['number']} {unit}" if named else match["number"]] = None
    return tuple(found)


def unit_of(quantity: str) -> str:
    """The unit word of a quantity, without its plural; empty for a bare number."""
    return _singular(quantity.partition(" ")[2])


def _singular(unit: str) -> str:
    return unit.removesuffix("s") if len(unit) > 2 else unit  # seconds, milliseconds


def skeleton(text: str) -> str:
    """The folded text with each number replaced: equal for two versions of one statement."""
    return re.sub(r"\d+(?:[.,]\d+)*", "#", fold(text))


@lru_cache(maxsize=4096)
def _finder(value: str) -> re.Pattern[str]:
    folded = fold(value)
    whole = _WHOLE.fullmatch(folded)
    if whole:
        unit = _singular(whole["unit"])
        plural = "s?" if len(unit) > 1 else ""
        inner = rf"{re.escape(whole['number'])}[ -]?{re.escape(unit)}{plural}"
    else:
        inner = re.escape(folded)
    return re.compile(rf"(?<![^\W_])(?<!\d[.,]){inner}(?![^\W_])(?![.,]\d)")


def states(text: str, value: str) -> bool:
    """Whether ``text`` states ``value``. Nothing states an empty value."""
    return bool(fold(value)) and _finder(value).search(fold(text)) is not None


def leaves(value: Any) -> Iterator[str]:
    """The scalar leaves of a JSON value, as text; null and booleans say nothing."""
    if isinstance(value, dict):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)


def values_in(result: Any) -> tuple[str, ...]:
    """What a tool result states: its short leaves as they are, and the quantities of its texts.

    Several words around a number are a text, however short: the number is the value, the words are somebody's style.
    """
    found: dict[str, None] = {}
    for leaf in leaves(result):
        words, numbers = leaf.split(), quantities(leaf)
        if len(words) > MOST_WORDS or (len(words) > 1 and numbers):
            found.update(dict.fromkeys(numbers))
        else:
            found[fold(leaf).rstrip(".!?")] = None
    found.pop("", None)
    return tuple(found)
