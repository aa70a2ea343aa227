"""Values under a name as programs write them in a text: markup, tables, settings, lines of a log, parameters.

Theory. ``<dob>1980-01-02</dob>``, ``dob=1980-01-02``, ``dob: 1980-01-02`` and a column ``dob`` say what a field ``dob``
says, so ``fields`` is asked the same question: which type has the value under this name, beside these others. A text is
no record, though: ``login: use the form`` and ``first_name=name`` are written in manuals and code. So a value counts
when it is written as one of its type is, and, where a line is all there is (``name: value``, ``name=value``), a name of
a person begins with a capital letter, and short codes and special categories are left to who reads sentences. Secrets
have readers of their own (``secret_context``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any, Final, NamedTuple

from presidio_analyzer import LocalRecognizer, RecognizerResult

from governance.masking import fields
from governance.masking.profile import TextProfile, plain
from governance.masking.recognisers.births import DATE
from governance.masking.recognisers.kit import Listed
from governance.masking.values import can_be
from governance.masking.weights import ANNOUNCED
from governance.records.masking_policy import SPECIAL_CATEGORIES

_LABEL: Final = r"[^\W\d][\w.\-]{1,40}"
_TAG: Final = re.compile(
    rf"<(?:\w{{1,20}}:)?(?P<name>{_LABEL})(?:\s[^<>]{{0,200}})?>\s*+(?P<value>[^<>]{{1,200}})</(?:\w{{1,20}}:)?(?P=name)>"
)
_PAIR: Final = re.compile(
    rf"(?<![\w.\-])(?P<name>{_LABEL})=(?:\"(?P<double>[^\"\n]{{1,200}})\"|'(?P<single>[^'\n]{{1,200}})'|"
    r"(?P<parameter>[^\n&=;,\"'<>()\[\]{}|]{1,200})(?=&)|(?P<bare>[^\s&;,\"'<>()\[\]{}|]{1,200}))"
)
_LINE: Final = re.compile(
    r"^[ \t]{0,40}(?:- )?(?P<name>[^\W\d][\w.\- ]{1,40}?)[ \t]{0,4}:[ \t]+(?P<value>[^\n]{1,200}?)[ \t\r]*$",
    re.MULTILINE,
)
_SEPARATORS: Final = ("|", "\t", ",", ";")
_CELL: Final = {
    sign: re.compile(rf" *+(?P<value>\"(?:[^\"]|\"\")*+\"(?= *+(?:{sign}|$))|[^{sign}]*+) *+(?P<sign>{sign}|$)")
    for sign in map(re.escape, _SEPARATORS)
}
"""By the separator, escaped: a cell in quotes may hold it."""
_LONGEST_HEAD: Final = 40
_MOST_WORDS: Final = 4
_JOINS: Final = frozenset({"and", "or", "the", "a", "an", "your", "their", "please", "with", "then"})
_ROLES: Final = frozenset({"user", "username", "login"})
"""Names that stand before what somebody says, and in manuals."""
_MOST_CELLS: Final = 200
_WORD: Final = r"[^\W\d_][^\W\d_.'\u2019\-]*"
_NAME: Final = re.compile(rf"{_WORD}(?:[ \u00a0]{_WORD}){{0,3}}|[^\W\d_]+, {_WORD}(?: {_WORD}){{0,2}}")
_PHONE: Final = re.compile(r"\+?[\d(][\d\s().\-/]{5,24}(?: ?(?:x|ext\.?) ?\d{1,6})?")
_BIRTH: Final = re.compile(rf"{DATE.pattern}|\d{{6}}|\d{{8}}|\d{{4}}년 ?\d{{1,2}}월 ?\d{{1,2}}일", re.IGNORECASE)
_ID: Final = re.compile(r"(?=[^\s]*[\d_@])\S{3,80}")
_NUMBERED: Final = re.compile(
    r"(?=(?:\D*\d){4})(?:[A-Za-z]{1,3}[ \-])?[A-Za-z]{0,5}\d[A-Za-z\d]*(?:[ .\-/][A-Za-z]{0,5}\d[A-Za-z\d]*){0,6}"
    r"(?:[ \-][A-Za-z])?"
)
_ONE_WORD: Final = re.compile(r"\S+")
_PLACE: Final = re.compile(r"(?=.*\d)(?=.*[^\W\d_]).+|[가-힣]{2,}.*|\d{4,6}(?:-\d{4})?", re.DOTALL)
_SHORT: Final = ("CVV", "PIN", "OTP")
"""Codes too short to say anything by their form: in a line, ``codes`` finds them."""
_FORMS: Final = {
    "EMAIL_ADDRESS": _ONE_WORD, "PHONE_NUMBER": _PHONE, "DATE_OF_BIRTH": _BIRTH, "PERSON": _NAME, "LOCATION": _PLACE,
    "USER_ID": _ID, **dict.fromkeys(_SHORT, re.compile(r"[\w\- ]+")), "CRYPTO": _ONE_WORD,
    "IP_ADDRESS": _ONE_WORD, "MAC_ADDRESS": _ONE_WORD, "IBAN_CODE": _NUMBERED,
}  # fmt: skip
"""How a value of a type is written; what is not named here is an identifier with digits."""


class Form(Enum):
    """What says that a value stands under a name."""

    MARKUP = "markup"
    TABLE = "table"
    LINE = "line"


class Labelled(NamedTuple):
    """A value, with the name that it stands under."""

    name: tuple[str, ...]
    """Folded."""
    start: int
    end: int
    form: Form


def labelled(text: str) -> Iterator[tuple[Labelled, frozenset[str]]]:
    """The values of a text under names, each with the names that stand beside it."""
    for group in (list(_tags(text)), list(_pairs(text)), list(_lines(text)), *_tables(text)):
        beside = frozenset(one.name[-1] for one in group)
        yield from ((one, beside) for one in group)


def entity(one: Labelled, beside: frozenset[str], value: str) -> str | None:
    """The type of a value under a name, where it is written as one is; None for any other."""
    told = fields.forced_type(one.name, beside, value)
    if told is None or told == "SECRET" or (told == "USER_ID" and ("@" in value or one.name[-1] in _ROLES)):
        return None
    if told in SPECIAL_CATEGORIES:
        return told if one.form is not Form.LINE and can_be(told, value) else None
    if _FORMS.get(told, _NUMBERED).fullmatch(value) is None:
        return None
    in_doubt = told in _SHORT or (told == "PERSON" and not _is_capital(value))
    return None if in_doubt and one.form is Form.LINE else told


def _is_capital(name: str) -> bool:
    return not name[0].islower()


def _fold(label: str) -> tuple[str, ...]:
    return fields.fold("_".join(label.strip().strip("*").split()))


def _tags(text: str) -> Iterator[Labelled]:
    if "</" in text:
        for match in _TAG.finditer(text):
            start = match.start("value")
            yield from _one(match.group("name"), start, start + len(match.group("value").rstrip()), Form.MARKUP)


def _pairs(text: str) -> Iterator[Labelled]:
    if "=" in text:
        for match in _PAIR.finditer(text):
            yield from _one(match.group("name"), *match.span(str(match.lastgroup)), Form.LINE)


def _lines(text: str) -> Iterator[Labelled]:
    if ": " in text or ":\t" in text:
        for match in _LINE.finditer(text):
            start, end = match.span("value")
            quoted = end - start > 2 and text[start] == text[end - 1] and text[start] in "\"'"
            yield from _one(match.group("name"), start + quoted, end - quoted, Form.LINE)


def _one(label: str, start: int, end: int, form: Form) -> Iterator[Labelled]:
    name = _fold(label)
    if name and start < end:
        yield Labelled(name, start, end, form)


def _tables(text: str) -> Iterator[list[Labelled]]:
    """The values of each table, a row together."""
    if "\n" not in text:
        return
    for sign in _SEPARATORS:
        if sign in text:
            yield from _rows(text, sign)


def _rows(text: str, sign: str) -> Iterator[list[Labelled]]:
    """The rows below a head; a line with another count of cells ends a table."""
    head: list[tuple[str, ...]] = []
    for begin, end in _line_spans(text):
        cells = _cells(text, begin, end, sign)
        if len(cells) == len(head) and len(head) > 1:
            named = zip(head, cells, strict=True)
            yield [Labelled(name, *cell, Form.TABLE) for name, cell in named if name and cell[0] < cell[1]]
        else:
            head = _head(text, cells)


def _line_spans(text: str) -> Iterator[tuple[int, int]]:
    begin = 0
    for line in text.splitlines(keepends=True):
        yield begin, begin + len(line.rstrip("\r\n"))
        begin += len(line)


def _cells(text: str, begin: int, end: int, sign: str) -> list[tuple[int, int]]:
    """Where the cells of a line stand, without their quotes; those of Markdown without the bars at both ends."""
    line = text[begin:end]
    if line.count(sign) not in range(1, _MOST_CELLS):
        return []
    if sign == "|":
        bare = line.strip().removeprefix("|").removesuffix("|")
        begin, line = begin + line.index(bare), bare
    found, at = [], 0
    while (match := _CELL[re.escape(sign)].match(line, at)) is not None:
        value, start = match.group("value").rstrip(), begin + match.start("value")
        quoted = len(value) > 1 and value[0] == value[-1] == '"'
        found.append((start + quoted, start + len(value) - quoted))
        if not match.group("sign"):
            break
        at = match.end()
    return found


def _may_head(cell: str) -> bool:
    """Whether a cell may be the name of a column: a few words, and no part of a sentence."""
    words = cell.strip("* ").split()
    if not words:
        return True
    last = words[-1].lower()
    ends = words[0].lower() in _JOINS or (last[-1] in ".:!?" and last not in {"no.", "nr.", "num."})
    return len(cell) <= _LONGEST_HEAD and len(words) <= _MOST_WORDS and not ends and any(map(str.isalpha, cell))


def _head(text: str, cells: Iterable[tuple[int, int]]) -> list[tuple[str, ...]]:
    """The names of columns, where each cell may be one and any tells a type; else none."""
    said = [text[start:end] for start, end in cells]
    if not all(map(_may_head, said)):
        return []
    names = [_fold(one) for one in said]
    return names if any(name and fields.may_be_known(name[-1]) for name in names) else []


class LabelledRecognizer(LocalRecognizer):  # type: ignore[misc] # Presidio's types are not followed
    """Values that the name above them or before them tells."""

    def __init__(self) -> None:
        """Of every type that a name tells; names of people are firm."""
        types = {*fields.ALL_TYPES, "TOLD_PERSON"} - {"PERSON", "SECRET"}
        super().__init__(supported_entities=sorted(types), supported_language="en", name="LabelledRecognizer")

    def load(self) -> None:
        """Nothing to load."""

    def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = None) -> list[Any]:  # noqa: ARG002
        """The values as results."""
        metadata = {
            RecognizerResult.RECOGNIZER_NAME_KEY: self.name,
            RecognizerResult.RECOGNIZER_IDENTIFIER_KEY: self.id,
        }
        read = plain(text)
        found = ((one, entity(one, beside, read[one.start : one.end])) for one, beside in labelled(read))
        return [
            RecognizerResult(
                "TOLD_PERSON" if told == "PERSON" else told, one.start, one.end, ANNOUNCED,
                recognition_metadata=metadata,
            )
            for one, told in found
            if told is not None
        ]  # fmt: skip


_HEADS: Final = tuple(sorted({re.split(r"[\W\d_]", name)[0] for name in fields.ALL_NAMES}))


def _may_label(profile: TextProfile) -> bool:
    text = profile.text
    signs = "=" in text or "</" in text or ":" in text or ("\n" in text and any(sign in text for sign in _SEPARATORS))
    return signs and any(word.startswith(_HEADS) for word in profile.words)


def build() -> list[Listed]:
    """The recogniser."""
    return [Listed(LabelledRecognizer(), _may_label)]
