"""What evidence is worth: the scores of an identifier by what speaks for it.

Theory. A passing checksum alone is weak: one in ten of all numbers of a length passes. So a shape stays below the
threshold, with valid check digits a little less far, and words beside it lift it over: words of its own kind more than
words that several countries share.
"""

from __future__ import annotations

from typing import Final

ALONE: Final = 0.3
"""The most that a shape scores without check digits and words."""
CHECKED: Final = 0.35
"""The score of a shape with valid check digits, without words: below the threshold."""
SHARED: Final = 0.5
"""The score beside words that several kinds share."""
OWN: Final = 0.65
"""The score beside words of this kind alone."""
ANNOUNCED: Final = 0.95
"""The score of a value right behind its name: more than any shape has by itself, check digits apart."""
BONUS: Final = 0.2
"""What valid check digits add beside words."""


def weigh(score: float, *, checked: bool, own: bool, shared: bool) -> float:
    """The score of a shape that a recogniser gave ``score``, with that evidence."""
    if own or shared:
        return (OWN if own else SHARED) + (BONUS if checked else 0.0)
    return CHECKED if checked else min(score, ALONE)


def of_shared_words(score: float) -> bool:
    """Whether that is the score of words that say the kind of an identifier and not its country."""
    return score in {SHARED, SHARED + BONUS}
