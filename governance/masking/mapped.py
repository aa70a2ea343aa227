"""A text as a reader sees it, with the place in the raw text of each of its characters.

Theory. A value can be spelled in many ways: escaped as in JSON, with characters that nobody sees, in letters that are
put together of several, percent-encoded in a web address, as an HTML entity. A ``Mapped`` is what such a text says, and
of each character where its spelling begins and ends. Each step (``escapes``, ``characters``) gives another ``Mapped``
over the same raw text, so steps compose. A span of it is a span of whole spellings: what is replaced is never a part of
an escape, and takes hidden characters with it.

Composed is what NFC composes (Unicode Annex 15); invisible is what Unicode's ``Default_Ignorable_Code_Point`` names,
and a few format characters more. Percent-encoding (RFC 3986) is read in words that look like addresses. What delimits
there (quotes, ``& # ; < > %``) stays encoded, so that parameters end where they ended. A ``+`` is the space of forms
between words, or between numbers, that are all of a parameter; elsewhere it says nothing (Base64 has it too).
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final
from urllib.parse import unquote

Change = tuple[int, int, str]
"""From, to, and what stands there instead."""
_HIDDEN: Final = (
    "\u00ad\u034f\u061c\u115f\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_INVISIBLE: Final = re.compile(f"[{_HIDDEN}]+")
_MATHEMATICAL: Final = re.compile("[\U0001d400-\U0001d7ff\u2460-\u249b\u24b6-\u24e9]")
"""Letters and digits in another dress that no NFC undresses."""
_DRESSED: Final = re.compile("[\uff01-\uff5e\U0001d400-\U0001d7ff\u2460-\u249b\u24b6-\u24e9]")
_ASCII_SIGNS: Final = ("\\u00", "\\x", "%", "&#")
_ASCII_SPELLED: Final = re.compile(r"\\u00[2-7]|\\x[2-7]|%(?:25)*[2-7][0-9A-Fa-f]|&#")
_ESCAPE: Final = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[\"'\\/bfnrt])"
)
_PATH: Final = re.compile(r"(?<![\w\\])[A-Za-z]:\\(?![\\\"])[^\s\"'<>|]*")
"""A path of Windows, whose backslashes escape nothing."""
_SIMPLE: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_ENTITY: Final = re.compile(r"&(?:amp;){0,3}(#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_WORD: Final = re.compile(r"[^\s\"'<>]+")
_ADDRESS: Final = re.compile(r"://|www\.|[=@/]|%(?:25){0,3}40|%[0-9A-Fa-f]{2}[^%]{1,60}%[0-9A-Fa-f]{2}")
_NON_ASCII: Final = r"[^\W\d_]|%[C-Fc-f][0-9A-Fa-f]|%[89ABab][0-9A-Fa-f]"
_PLUS: Final = re.compile(
    r"(?<==)(?:(?:%2[Bb])?\d{1,19}(?:\+\d{1,19}){1,7}"
    rf"|(?:{_NON_ASCII}){{1,60}}(?:\+(?:{_NON_ASCII}){{1,60}}){{1,7}})(?=[&#\s\"'<>;,)]|$)"
)
"""A parameter whose spaces are written as ``+``."""
_CODED: Final = re.compile(r"%(?:25){0,3}([0-9A-Fa-f]{2})")
_DELIMITS: Final = frozenset("\"'<>&#;%")
_LONGEST_CLUSTER: Final = 32
"""Of a letter and its marks: more of them are no letter, and sorting them is slow."""
_CONJOINING: Final = ("\u1160", "\u11ff")
"""Korean vowels and finals that join the letter before."""


@dataclass(frozen=True)
class Mapped:
    """What a text says, and where."""

    text: str
    begins: Sequence[int]
    """Where in the raw text the spelling of each character begins,"""
    ends: Sequence[int]
    """and where it ends."""

    @classmethod
    def of(cls, text: str) -> Mapped:
        """The text as it is written."""
        return cls(text, range(len(text)), range(1, len(text) + 1))

    def part(self, start: int, end: int) -> Mapped:
        """The characters from ``start`` to ``end``."""
        return Mapped(self.text[start:end], self.begins[start:end], self.ends[start:end])

    def raw(self, start: int, end: int) -> tuple[int, int]:
        """Where the characters from ``start`` to ``end`` (one at least) are spelled."""
        return self.begins[start], self.ends[end - 1]

    def changed(self, changes: Iterable[Change]) -> Mapped:
        """With other characters in some places, in order; each of them is spelled by all that it stands for."""
        texts: list[str] = []
        begins: list[int] = []
        ends: list[int] = []
        done = 0
        for start, end, made in changes:
            texts += [self.text[done:start], made]
            begins += [*self.begins[done:start], *[self.begins[start]] * len(made)]
            ends += [*self.ends[done:start], *[self.ends[end - 1]] * len(made)]
            done = end
        if not done:
            return self
        rest = self.part(done, len(self.text))
        return Mapped("".join([*texts, rest.text]), [*begins, *rest.begins], [*ends, *rest.ends])


def escapes(mapped: Mapped, *, paths: bool = True) -> Mapped:
    """With the escapes of JSON and its relatives read; ``paths`` of Windows are left."""
    if "\\" not in mapped.text:
        return mapped
    kept = [match.span() for match in _PATH.finditer(mapped.text)] if paths else []
    return mapped.changed(_without(_escapes(mapped.text), kept))


def entities(mapped: Mapped) -> Mapped:
    """With HTML entities read."""
    return mapped.changed(_entities(mapped.text)) if "&" in mapped.text else mapped


def characters(mapped: Mapped) -> Mapped:
    """With the characters that are meant: entities, percent-encoding, nothing hidden, letters composed."""
    mapped = entities(mapped)
    if "%" in mapped.text or _has_plus(mapped.text):
        mapped = mapped.changed(sorted([*_percents(mapped.text), *_pluses(mapped.text)]))
    if mapped.text.isascii():
        return mapped
    mapped = mapped.changed((*match.span(), "") for match in _INVISIBLE.finditer(mapped.text))
    if not unicodedata.is_normalized("NFC", mapped.text):
        mapped = mapped.changed(_composed(mapped.text))
    return mapped.changed(_undressed(mapped.text))


def is_spelled(text: str) -> bool:
    """Whether ``characters`` may change the text: cheap, and never False where it does."""
    if "&" in text or "%" in text or _has_plus(text):
        return True
    return not text.isascii() and (
        _INVISIBLE.search(text) is not None
        or not unicodedata.is_normalized("NFC", text)
        or _MATHEMATICAL.search(text) is not None
    )


def may_hide(text: str) -> bool:
    """Whether something may be said in the text that is not written: cheap, and never False where it is."""
    return "\\" in text or is_spelled(text) or (not text.isascii() and _DRESSED.search(text) is not None)


def may_hide_ascii(text: str) -> bool:
    """The same of ASCII letters, digits and signs that no encoder escapes by itself: most texts hide none."""
    if any(sign in text for sign in _ASCII_SIGNS) and _ASCII_SPELLED.search(text):
        return True
    return not text.isascii() and (_INVISIBLE.search(text) or _DRESSED.search(text)) is not None


def meant(text: str) -> str:
    """The characters that are meant by a text."""
    return characters(Mapped.of(text)).text if is_spelled(text) else text


def decoded(value: str) -> str:
    """A value of which something was left percent-encoded because it delimits."""
    return unquote(value) if _CODED.search(value) and not any(map(str.isspace, value)) else value


def _without(changes: Iterable[Change], kept: Sequence[tuple[int, int]]) -> Iterator[Change]:
    """The changes that begin in none of the places, which are in order."""
    place = 0
    for change in changes:
        while place < len(kept) and kept[place][1] <= change[0]:
            place += 1
        if place == len(kept) or change[0] < kept[place][0]:
            yield change


def _escapes(text: str) -> Iterator[Change]:
    for match in _ESCAPE.finditer(text):
        yield *match.span(), _unescaped(match.group())


def _unescaped(escape: str) -> str:
    kind = escape[1]
    if len(escape) > 6:  # two halves of one character
        return (escape.encode().decode("unicode_escape")).encode("utf-16", "surrogatepass").decode("utf-16")
    if kind in "ux":
        return chr(int(escape[2:], 16))
    return _SIMPLE.get(kind, kind)


def _entities(text: str) -> Iterator[Change]:
    for match in _ENTITY.finditer(text):
        entity = f"&{match.group(1)};"
        made = html.unescape(entity)
        if made != entity and not made.endswith(";"):
            yield *match.span(), made


def _percents(text: str) -> Iterator[Change]:
    for word in _WORD.finditer(text):
        if "%" in word.group() and _ADDRESS.search(word.group()):
            yield from _percents_in(text, *word.span())


def _has_plus(text: str) -> bool:
    return "+" in text and "=" in text and _PLUS.search(text) is not None


def _pluses(text: str) -> Iterator[Change]:
    for match in _PLUS.finditer(text) if "+" in text else ():
        for place in range(*match.span()):
            if text[place] == "+":
                yield place, place + 1, " "


def _percents_in(text: str, start: int, end: int) -> Iterator[Change]:
    found = list(_CODED.finditer(text, start, end))
    place = 0
    while place < len(found):
        size = _size(int(found[place].group(1), 16))
        char = found[place : place + size]
        made = _character(char) if size and len(char) == size else ""
        if made and made not in _DELIMITS and made.isprintable():
            yield char[0].start(), char[-1].end(), made
            place += size
        else:
            place += 1


def _size(lead: int) -> int:
    """How many bytes a character of UTF-8 has that begins with this one; 0 for none."""
    return 1 if lead < 0x80 else 0 if lead < 0xC2 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4 * (lead < 0xF5)


def _character(coded: Sequence[re.Match[str]]) -> str:
    if any(one.end() != other.start() for one, other in pairwise(coded)):
        return ""
    try:
        return bytes(int(one.group(1), 16) for one in coded).decode()
    except UnicodeDecodeError:
        return ""


def _composed(text: str) -> Iterator[Change]:
    start = 0
    for place in range(1, len(text) + 1):
        if place < len(text) and place - start < _LONGEST_CLUSTER and _joins(text[place]):
            continue
        cluster = text[start:place]
        made = unicodedata.normalize("NFC", cluster)
        if made != cluster:
            yield start, place, made
        start = place


def _joins(char: str) -> bool:
    return unicodedata.combining(char) != 0 or _CONJOINING[0] <= char <= _CONJOINING[1]


def _undressed(text: str) -> Iterator[Change]:
    for match in _MATHEMATICAL.finditer(text):
        made = unicodedata.normalize("NFKC", match.group())
        if len(made) == 1 and made.isalnum():
            yield *match.span(), made
