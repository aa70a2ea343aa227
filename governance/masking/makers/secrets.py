"""Secrets: the same prefix, length and alphabet, and nothing that a provider accepts.

A token keeps what names its kind (``ghp_``, ``sk-proj-``, ``AKIA``, the lines around a private key), so that it is
still read as a token of that kind. Its last characters follow from the others under the tenant's key (``Seed.tag``):
that proves it a surrogate. A checksum of the provider's (GitHub's CRC32, a key's own structure) is not recomputed, and
where a drawn token happens to hold GitHub's it is drawn again: no provider takes it for one of its own. Crypto
addresses are made the same way, their checksum broken, so that nothing can be sent to one.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Mapping
from typing import Final

from governance.masking.draw import Draw, Seed
from governance.masking.makers.shape import alphabet

TAG: Final = 4
"""Characters at a secret's end that prove it."""
SHORTEST_PROVEN: Final = 16
"""Letters and digits from which a secret carries a proof."""
_PREFIX: Final = re.compile(
    r"[A-Za-z]{2,10}[_\-](?:[A-Za-z]{2,8}[_\-])*(?=[^_\-]{6})|(?:AKIA|ASIA|ABIA|ACCA|AIza|eyJ|bc1|0x|SG\.|EAA)(?=\w{8})"
)
_PEM: Final = re.compile(r"-----(?:BEGIN|END)[^\n-]*-----")
_BASE62: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def secret(seed: Seed, value: str) -> str:
    """Another secret of the same form."""
    for attempt in range(256):
        made = _made(seed, value, attempt)
        if made != value and not _github(made):
            break
    return made


def proven(seed: Seed, token: str) -> bool:
    """Whether a token's end follows from the rest of it under the tenant's key."""
    places = _places(token)
    return len(places) >= SHORTEST_PROVEN and _tagged(seed, token, places) == token


def _made(seed: Seed, value: str, attempt: int) -> str:
    draw = seed.draw("SECRET", value, attempt)
    places = _places(value)
    made = _put(value, places, [_like(value[place], places, value, draw) for place in places])
    return _tagged(seed, made, places) if len(places) >= SHORTEST_PROVEN else made


def _tagged(seed: Seed, text: str, places: list[int]) -> str:
    """The text with its last characters as the others demand."""
    end = places[-TAG:]
    rest = "".join(text[place] for place in places[:-TAG])
    draw = seed.tag("SECRET", rest)
    return _put(text, end, [draw.pick(_alphabet(text[place], rest)) for place in end])


def _places(value: str) -> list[int]:
    """Where a character may change: letters and digits outside the prefix and the lines around a key."""
    fixed = {place for match in _PEM.finditer(value) for place in range(*match.span())}
    prefix = _PREFIX.match(value)
    if prefix is not None:
        fixed |= set(range(prefix.end()))
    return [place for place, char in enumerate(value) if place not in fixed and alphabet(char)]


def _like(char: str, places: list[int], value: str, draw: Draw) -> str:
    return draw.pick(_alphabet(char, "".join(value[place] for place in places[:-TAG])))


def _alphabet(char: str, body: str) -> str:
    """Hexadecimal and base32 stay what they are."""
    if body and set(body.casefold()) <= set("0123456789abcdef") and char.casefold() in "0123456789abcdef":
        return alphabet(char) if char.isdecimal() else "ABCDEF" if char.isupper() else "abcdef"
    if body.isupper() and char.isdecimal() and set(filter(str.isdecimal, body)) <= set("234567"):
        return "234567"
    return alphabet(char)


def _put(text: str, places: list[int], chars: list[str]) -> str:
    made = list(text)
    for place, char in zip(places, chars, strict=True):
        made[place] = char
    return "".join(made)


def _github(token: str) -> bool:
    """Whether the last six characters are the CRC32 of the rest, as in GitHub's tokens."""
    match = re.fullmatch(r"gh[pousr]_(\w+)(\w{6})", token)
    if match is None:
        return False
    number, text = zlib.crc32(match[1].encode()), ""
    while number:
        number, rest = divmod(number, 62)
        text = _BASE62[rest] + text
    return text.rjust(6, "0") == match[2]


MAKERS: Final[Mapping[str, Callable[[Seed, str], str]]] = dict.fromkeys(("SECRET", "CRYPTO", "PASSWORD"), secret)
