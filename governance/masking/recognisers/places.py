"""Street addresses of many countries, on one line or several.

Theory. A text becomes a string with one letter for each word, which says what the word can be in an address: a number,
a kind of street, a part of a house, a country, another word in capitals. An address is a match of a regular expression
over that string: a core that has a number beside a kind of street (in either order), a box at a post office or a unit
of a house, then a tail of places, which is taken as far as it ends in something that only addresses have (a postal
code, a country) or stands behind a comma. A number beside words in capitals alone is an address only with such a tail,
with a unit, or right behind words that announce one.

A place on its own (a city, a country) is no address: the language model finds it, under its own type.
"""

from __future__ import annotations

import re
from calendar import month_abbr, month_name
from functools import cache
from typing import Final, NamedTuple

from governance.masking import words
from governance.masking.profile import TextProfile
from governance.masking.recognisers import address_words
from governance.masking.recognisers.kit import Finder, Listed

_TOKEN: Final = re.compile(
    r"[^\W\d_]+\d\w*|\d+[A-Za-z]?(?:[-/]\d+[A-Za-z]?)*\b\.?|"
    r"[^\W\d_]+(?:['\u2019\-/][^\W\d_]+)*\.?|\n[ \t>|*]*|[^\s\w]|\w+"
)
_PARTICLES: Final = words.PARTICLES | frozenset(
    words.listed("of the do dos das des e delle degli los las am an auf zum zur ten ter op")
)
_MONTHS: Final = frozenset(name.casefold() for name in (*month_name, *month_abbr))
_REGION: Final = re.compile(r"[A-Z]{2,3}")

# One letter for each token: N a short number, Z one that may be a postal code, P a postal code of several groups, D a
# number with a dot; S, F, Q, A, C a kind of street (last, first, both, after the name, compound); U and V a unit (of a
# dwelling, of any building), B a box, K a country, R a region's code; W a word in capitals, v one without in a text
# without capitals, r a short one without, p a particle; "," and "&" themselves, n the end of a line, x anything else.
_WORD: Final = "[WKRpv]"
_BEFORE: Final = r"(?:[NZP]{1,3},?)"
_BEHIND: Final = r"[NZPD]"
_FIRST: Final = rf"[FQ](?:{_WORD}|px|[SFQAC]){{0,5}}[WKRvSQAC]"
_STREET: Final = (
    rf"(?:{_BEFORE}?(?:{_FIRST}|{_WORD}{{1,3}}[AQ]|[WKRv]{{0,2}}C),?{_BEHIND}|"
    rf"{_BEFORE}(?:[WKRpvFACS]{{1,5}}[SQ]R?(?!p)|{_FIRST}|{_WORD}{{1,3}}A|[WKRv]{{0,2}}C))"
)
_PLACES: Final = r"(?:[WKRpvS]{1,5}[,n]{0,3}){0,4}"
_POSTAL: Final = rf"(?:[,n]{{0,3}}{_PLACES}(?:rn?)?[ZP](?:[,n]{{0,2}}K)?(?![NZ]))"
_CODE_FIRST: Final = r"(?:[,n]{1,2}[ZP][WKRv]{1,3}(?:[,n]{1,2}K)?)"
_COUNTRY: Final = rf"(?:[,n]{{0,2}}{_PLACES}K)"
_CITY: Final = r"(?:,n?[WRSp]{1,3}(?:,n?[WR]{1,3})?)"
_END: Final = rf"(?:{_CODE_FIRST}|{_POSTAL}|{_COUNTRY}|{_CITY})"
_CITY_AND_MORE: Final = r"(?:[,n]{1,2}[WKRpvS]{1,4}[,n]{1,3}(?:rn?|R[,n]{0,2})?[ZPK][ZP]?)"
_UNITS: Final = rf"(?:(?:[WRpvS]{{0,4}}[,n]{{0,2}}[UV][NZRD])+(?:{_END}|[WR]{{1,4}})?)"
_TAIL: Final = rf"(?:{_UNITS}|{_END})?"
_NUMBER_FIRST: Final = rf"[NZP]{{1,2}}[WRpv]{{1,4}}(?:[xr]?{_BEHIND})?"
_LOOSE: Final = rf"(?:{_NUMBER_FIRST}|[WRv]{{1,3}}[xr]?{_BEHIND})"
_ADDRESS: Final = re.compile(
    rf"{_BEFORE}?B{_TAIL}|{_STREET}{_TAIL}|[WRv]{{1,3}}{_BEHIND}{_CODE_FIRST}|{_LOOSE}(?=[WRvS]{{0,3}}[,n]{{0,2}}U){_UNITS}|{_NUMBER_FIRST}{_CITY_AND_MORE}"
)
_ANNOUNCED: Final = re.compile(rf"(?:{_STREET}|{_LOOSE}|[NZP]?[WRp]{{1,3}}[SQ]){_TAIL}")
_BETWEEN: Final = re.compile(rf"[NZP]{{1,2}}[WRp]{{1,4}}[NZ]{_TAIL}|[WRp]{{1,4}}[NZ],[WR]{{1,3}},?[KRZP]")
_STARTS: Final = "NZPWRFQCpv"
_CORNER: Final = re.compile(rf"[^,n&]{{1,6}}&[NZP]?[WRpvSFQAC]{{1,4}}{_BEHIND}?")


class _Token(NamedTuple):
    start: int
    end: int
    letter: str


class AddressRecognizer(Finder):
    """Addresses as wholes: house number, street, unit, city, region, postal code, country."""

    entity = "LOCATION"

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where addresses stand."""
        found = [match.span() for match in address_words.MILITARY.finditer(text)]
        tokens = _tokens(text, lower=not any(map(str.isupper, text)))
        letters = "".join(token.letter for token in tokens)
        found += [_span(text, tokens, *match.span()) for match in _ADDRESS.finditer(letters)]
        for place, token in enumerate(tokens):
            if token.letter in _STARTS and (match := _announced(text, token.start, letters, place)):
                found.append(_span(text, tokens, *match.span()))
        starts = {token.start: place for place, token in enumerate(tokens) if token.letter in _STARTS}
        for cue in address_words.CORNER.finditer(text):
            if cue.end() in starts and (match := _CORNER.match(letters, starts[cue.end()])):
                found.append((cue.start(), _span(text, tokens, *match.span())[1]))
        return found


def _announced(text: str, start: int, letters: str, place: int) -> re.Match[str] | None:
    """What stands right behind words that announce an address."""
    cue = address_words.CUE.search(text, max(start - 40, 0), start)
    if cue is None:
        at = address_words.AT.search(text, max(start - 8, 0), start)
        return _BETWEEN.match(letters, place) if at else None
    return _ANNOUNCED.match(letters, place)


def _span(text: str, tokens: list[_Token], first: int, last: int) -> tuple[int, int]:
    """The characters of the tokens, without punctuation at their end."""
    start, end = tokens[first].start, tokens[last - 1].end
    return start, start + len(text[start:end].rstrip(" ,.\n"))


def _tokens(text: str, *, lower: bool) -> list[_Token]:
    wholes = [(match.span(), "B") for match in address_words.BOX.finditer(text)]
    wholes += [(match.span(), "P") for match in address_words.POSTCODE.finditer(text)]
    taken = {start: (end, letter) for (start, end), letter in sorted(wholes, reverse=True)}
    tokens, place = [], 0
    while (match := _TOKEN.search(text, place)) is not None:
        start, end, letter = match.start(), match.end(), ""
        if start in taken:
            end, letter = taken[start]
        elif country := _country_end(text, match):
            end, letter = country, "K"
        else:
            letter = _letter(match.group(), lower=lower)
            if match.group().endswith(".") and letter in "WKRvpx&rZ" and end - start > 2:
                end -= 1  # the end of a sentence, which no address crosses
        tokens.append(_Token(start, end, letter))
        place = end
    return tokens


def _letter(token: str, *, lower: bool) -> str:
    """What a token can be in an address."""
    if token[0] == "\n":
        return "n"
    if any(map(str.isdecimal, token)) and (not token[0].isdecimal() or len(re.findall("[-/]", token)) > 1):
        return "x"  # a code, a date
    if token[0].isdecimal():
        digits = token.rstrip(".")
        return "Z" if digits.isdecimal() and 4 <= len(digits) <= 6 else "D" if token.endswith(".") else "N"
    if not token[0].isalpha():
        return token if token in {",", "&"} else "x"
    folded = token.casefold().rstrip(".")
    kind = _kind(folded)
    if kind and (token[0].isupper() or folded not in address_words.PLAIN or (lower and kind in "SQU")):
        return kind
    return _plain(token.rstrip("."), folded, lower=lower)


def _plain(word: str, folded: str, *, lower: bool) -> str:
    """A word that names no kind of street."""
    if word == "and":
        return "&"
    if folded in _PARTICLES:
        return "p"
    if folded in _MONTHS:
        return "x"
    if word[0].isupper():
        return "R" if _REGION.fullmatch(word) else "W"
    if folded in words.NEVER_NAMES:
        return "x"
    return "v" if lower else "r" if len(folded) in {2, 3} else "x"


@cache
def _kind(folded: str) -> str:
    first, last = folded in address_words.STREET_FIRST, folded in address_words.STREET_LAST
    if folded in address_words.UNITS:
        return "U" if folded in address_words.DWELLINGS else "V"
    if first or last:
        return "Q" if first and last else "F" if first else "S"
    if folded in address_words.STREET_AFTER_NAME:
        return "A"
    return "C" if address_words.is_compound(folded) else ""


def _country_end(text: str, match: re.Match[str]) -> int:
    """Where the country's name ends that begins with this word, or 0."""
    names = address_words.countries().get(match.group().casefold().rstrip("."), ())
    for name in names:
        end = match.start() + len(name)
        if text[match.start() : end].casefold() == name and not text[end : end + 1].isalnum():
            part = address_words.PART_OF.match(text, end)
            return part.end() if part else end
    return 0


def _may_address(profile: TextProfile) -> bool:
    return profile.digits >= 1 or "corner" in profile.folded


def build() -> list[Listed]:
    """The finder."""
    return [Listed(AddressRecognizer(), _may_address)]
