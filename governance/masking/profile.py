"""The few cheap facts of a text that say which recognisers can find anything in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

_LETTERS: Final = re.compile(r"[^\W\d_]+")
UNSPACED: Final = "\u0e00-\u0e7f\u1100-\u11ff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3"
"""Letters of the scripts that write words and their particles together, as a regular expression's set has them."""
_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
_STUCK: Final = re.compile(f"[0-9A-Za-z][{UNSPACED}]|[{UNSPACED}][0-9A-Za-z]")
_PLAIN: Final = {
    **{code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)},
    **dict.fromkeys((0x3000, 0x00A0, 0x2007, 0x202F), 0x20),
    **dict.fromkeys((*range(0x2010, 0x2016), 0x2212, 0xFE58, 0xFE63), 0x2D),
}


def plain(text: str) -> str:
    """The text with full-width characters, dashes and hard spaces as the plain ones; every position stays."""
    return text if text.isascii() else text.translate(_PLAIN)


def parted(text: str) -> str:
    """The text with a dot for each letter of a script that writes particles onto a value (``4111로``).

    Digits and Latin letters end there as they end at a space; every position stays.
    """
    return _UNSPACED.sub("\u00b7", text) if not text.isascii() and _STUCK.search(text) else text


def lower(text: str) -> str:
    """The text in lower case; every position stays, which ``str.lower`` alone does not promise."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(char.lower()[:1] for char in text)


@dataclass(frozen=True)
class TextProfile:
    """Facts of one text, each computed once when asked for."""

    text: str

    @cached_property
    def digits(self) -> int:
        """How many digits it has, of any script."""
        return sum(map(str.isdigit, self.text))

    @cached_property
    def capital(self) -> bool:
        """Whether it has an upper-case or title-case letter."""
        return any(char.isupper() or char.istitle() for char in self.text)

    @cached_property
    def hangul(self) -> bool:
        """Whether it has a Korean syllable."""
        return any("\uac00" <= char <= "\ud7a3" for char in self.text)

    @cached_property
    def words(self) -> frozenset[str]:
        """Its runs of letters, in lower case."""
        return frozenset(_LETTERS.findall(self.lowered))

    @cached_property
    def lowered(self) -> str:
        """The text in lower case, position by position."""
        return lower(self.text)

    @cached_property
    def folded(self) -> str:
        """The text without case."""
        return self.text.casefold()
