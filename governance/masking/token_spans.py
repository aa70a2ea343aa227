"""From what a model says of each token to spans of the text.

Theory. A token is a part of a word, and a word is personal as a whole or not at all: the tokens of one word share the
mean of what is said of each. Where words are written without spaces or carry particles (Korean, Chinese, Japanese,
Thai), each token stands for itself, so that a particle stays outside. Words of one type, one after the other with
nothing but white space between, are one span, unless the model says that the same label begins anew. The score of a
span is the mean of its words.

Places are those of the text that was read. A span ends behind the combining marks of its last letter, which tokenizers
drop, begins and ends with no white space, and has a letter or a digit.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from governance.masking.spans import Hit

_ALONE: Final = re.compile("[\u0e00-\u0eff\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7a3]")
"""Letters of scripts in which a run of letters is no single word."""
DIGITS: Final = 3
"""Of a score: the order in which texts are read changes what lies behind."""


class Token(NamedTuple):
    """A part of a text and what a model says of it."""

    start: int
    end: int
    shares: Sequence[float]
    """The probability of each type."""
    label: str
    """The likeliest label, without the sign of its place."""
    begins: bool
    """Whether that sign says that a span begins here."""


class _Word(NamedTuple):
    start: int
    end: int
    kind: int
    score: float
    label: str
    begins: bool


def spans_of(text: str, tokens: Sequence[Token], types: Sequence[str]) -> list[Hit]:
    """The spans that tokens make; ``types`` names the shares, the first of them is nothing."""
    found: list[list[_Word]] = []
    for word in _words(text, tokens):
        if word.kind == 0:
            continue
        if found and _goes_on(text, found[-1][-1], word):
            found[-1].append(word)
        else:
            found.append([word])
    return [_hit(text, run, types) for run in found if any(map(str.isalnum, text[run[0].start : run[-1].end]))]


def _words(text: str, tokens: Sequence[Token]) -> Iterator[_Word]:
    word: list[Token] = []
    for token in _without_space(text, tokens):
        if word and not _within(text, word[-1], token):
            yield _judged(word)
            word = []
        word.append(token)
    if word:
        yield _judged(word)


def _without_space(text: str, tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        start, end = token.start, token.end
        while start < end and text[start].isspace():
            start += 1
        while end > start and text[end - 1].isspace():
            end -= 1
        if start < end:
            yield token._replace(start=start, end=end)


def _within(text: str, before: Token, after: Token) -> bool:
    """Whether two tokens are parts of one word, or of one character."""
    if after.start < before.end:
        return True
    between = text[before.end : after.start]
    if any(not _is_mark(char) for char in between):
        return False
    return _in_word(text[before.end - 1]) and _in_word(text[after.start])


def _in_word(char: str) -> bool:
    return (char.isalnum() or _is_mark(char)) and not _ALONE.match(char)


def _is_mark(char: str) -> bool:
    return unicodedata.category(char).startswith("M")


def _judged(word: Sequence[Token]) -> _Word:
    means = [sum(shares) / len(word) for shares in zip(*(token.shares for token in word), strict=True)]
    kind = max(range(len(means)), key=means.__getitem__)
    return _Word(word[0].start, max(token.end for token in word), kind, means[kind], word[0].label, word[0].begins)


def _goes_on(text: str, before: _Word, after: _Word) -> bool:
    """Whether the second word belongs to the span of the first."""
    between = text[before.end : after.start]
    if before.kind != after.kind or any(not (char.isspace() or _is_mark(char)) for char in between):
        return False
    return not (after.begins and after.label == before.label)


def _hit(text: str, run: Sequence[_Word], types: Sequence[str]) -> Hit:
    end = run[-1].end
    while end < len(text) and _is_mark(text[end]):
        end += 1
    return Hit(run[0].start, end, types[run[0].kind], round(sum(word.score for word in run) / len(run), DIGITS))
