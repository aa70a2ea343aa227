"""Names of people and companies, word by word, in the script of the original.

"Anna" and "Anna Miller" stay the same person in any order, since each word has one surrogate; particles and titles
stay. Surrogate words are made of syllables (``name_parts``) and carry the tenant's mark (``Seed.marked``), so that a
word can be told as a surrogate with the key and by nobody else. A Korean name keeps its length: the family syllable
(or two, of four) and the given name have a surrogate each, so ``김민수`` and ``민수`` agree. No specification sets
names apart that nobody may bear; that the made-up ones are nobody's is likely, not certain.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from governance.masking import words
from governance.masking.draw import Draw, Seed
from governance.masking.makers import name_parts
from governance.masking.makers.name_parts import Syllables
from governance.masking.makers.shape import alphabet, shaped

_WORD: Final = re.compile(r"(?:[^\W\d_]|(?<=\w)[\u0300-\u036f\u093e-\u094d\u0e31\u0e34-\u0e3a\u0e47-\u0e4e])+")
_ATTEMPTS: Final = 4096
_KOREAN_FAMILIES: Final = frozenset("김박최강조장임권황안송류홍곽백허배손")
"""Syllables that begin a name of two; a word of two that begins otherwise is a given name."""
_KOREAN_PLACES: Final = frozenset("시도군구읍면동리로길")
"""What a place's name ends in."""
_LEGAL_FORMS: Final = frozenset(
    words.listed(
        """
        ag bank bv co company corp corporation gmbh group holding holdings inc incorporated kg limited llc llp ltd nv
        of oy plc pty sa sarl se spa srl the and
        """
    )
)


def person(seed: Seed, value: str) -> str:
    """The name with each of its words replaced."""
    kept = words.PARTICLES | words.TITLES
    if all(_stays(match.group(), kept) for match in _WORD.finditer(value)):
        kept = frozenset()
    made = _WORD.sub(lambda match: _of(match.group(), seed, kept), value)
    return made if made != value else shaped(seed, "PERSON", value)


def organization(seed: Seed, value: str) -> str:
    """A company: its words replaced, its legal form kept."""
    made = _WORD.sub(
        lambda match: match.group() if match.group().casefold() in _LEGAL_FORMS
        else _cased(_marked(seed, "ORGANIZATION", match.group().casefold(), name_parts.FAMILY), match.group()),
        value,
    )  # fmt: skip
    return made if made != value else shaped(seed, "ORGANIZATION", value)


def family_word(seed: Seed, kind: str, word: str) -> str:
    """A made-up word that looks like a family or a place, written like the original; a Korean one keeps its length."""
    if script_of(word) == "HANGUL":
        stem, ending = (word[:-1], word[-1]) if len(word) > 1 and word[-1] in _KOREAN_PLACES else (word, "")
        return _korean_given(seed, stem) + ending
    return _cased(_marked(seed, kind, word.casefold(), name_parts.FAMILY), word)


def _stays(word: str, kept: frozenset[str]) -> bool:
    return bool(kept) and (word.casefold() in kept or (len(word) == 1 and word.islower()))


def _of(word: str, seed: Seed, kept: frozenset[str]) -> str:
    if _stays(word, kept):
        return word
    script = script_of(word)
    if script == "HANGUL":
        return _korean(seed, word)
    if script == "CJK":
        return "".join(_han(seed, piece) for piece in (word[:1], word[1:]) if piece)
    folded = unicodedata.normalize("NFKC", word).casefold()
    if len(word) == 1:
        return _initial(seed, word)
    if script in name_parts.SCRIPTS:
        return _cased(_marked(seed, "PERSON", folded, name_parts.SCRIPTS[script]), word)
    kind = name_parts.GIVEN if folded in words.GIVEN else name_parts.FAMILY
    return _cased(_marked(seed, "PERSON", folded, kind), word)


def script_of(word: str) -> str:
    """The script of a word's first letter, as Unicode names it."""
    return unicodedata.name(word[0], "LATIN").split()[0]


def build(syllables: Syllables, draw: Draw) -> str:
    """One name of a kind, in small letters."""
    count = 1 + draw.below(syllables.most_middles) if syllables.middles else 0
    middles = [draw.pick(syllables.middles) for _ in range(count)]
    return "".join([draw.pick(syllables.starts), *middles, draw.pick(syllables.ends)]).casefold()


def _marked(seed: Seed, kind: str, word: str, syllables: Syllables) -> str:
    """The made-up word of a word, with the mark."""
    return next(
        made
        for made in (build(syllables, draw) for draw in _draws(seed, kind, word))
        if made != word and seed.marked("NAME", made)
    )


def _draws(seed: Seed, kind: str, word: str) -> Iterator[Draw]:
    return (seed.draw(kind, word, attempt) for attempt in range(_ATTEMPTS))


def _initial(seed: Seed, letter: str) -> str:
    options = alphabet(letter)
    place = options.find(letter)
    return options[seed.shifted("INITIAL", place, len(options))] if place >= 0 else letter


def _korean(seed: Seed, word: str) -> str:
    """The family part and the given part of a Korean name, each by its own surrogate."""
    cut = 2 if len(word) >= 4 else 1 if len(word) == 3 or (len(word) == 2 and word[0] in _KOREAN_FAMILIES) else 0
    family = "".join(_korean_family(seed, place, char) for place, char in enumerate(word[:cut]))
    return family + _korean_given(seed, word[cut:]) if word[cut:] else family


def _korean_family(seed: Seed, place: int, char: str) -> str:
    """Another syllable: one for each of the frequent families, as many as there are syllables for them."""
    known = name_parts.KOREAN_FAMILIES.find(char)
    number = known if known >= 0 else len(name_parts.KOREAN_FAMILIES) + ord(char)
    options = name_parts.KOREAN_FAMILY
    made = options[seed.placed(f"KOREAN FAMILY {place}", number, len(options))]
    return made if made != char else _other(seed, f"KOREAN FAMILY {place}", char, options)


def _korean_given(seed: Seed, given: str) -> str:
    for draw in _draws(seed, "KOREAN GIVEN", given):
        made = "".join(draw.pick(name_parts.KOREAN_GIVEN) for _ in given)
        if made != given and (len(given) == 1 or seed.marked("NAME", made)):
            break
    return made


def _han(seed: Seed, piece: str) -> str:
    for draw in _draws(seed, "HAN", piece):
        made = "".join(draw.pick(name_parts.HAN) for _ in piece)
        if made != piece:
            break
    return made


def _other(seed: Seed, kind: str, char: str, options: tuple[str, ...]) -> str:
    return next(made for draw in _draws(seed, kind, char) if (made := draw.pick(options)) != char)


def _cased(name: str, word: str) -> str:
    if word.isupper():
        return name.upper()
    return name if word.islower() else name.capitalize()


MAKERS: Final[Mapping[str, Callable[[Seed, str], str]]] = {
    **dict.fromkeys(("PERSON", "KR_PERSON", "URL_PERSON"), person),
    "ORGANIZATION": organization,
}
