"""Names that somebody says in chat, whatever their case: ``my name is torvald brenwick``, ``I AM MARIA LOPEZ``.

Theory. Where a name is announced the first word is one, unless it goes on as a sentence does (``my name is not``,
``spelled``; ``call me`` needs a word that English does not use), and the following words belong to it while English
does not use them, or while the clause ends with them. ``i am`` announces states more often than people: there the words
count only when the first is a given name, or when there are two that English does not use. A word in capitals among
small letters is left to the rules for such names (``names``), which read more of the sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from presidio_analyzer import LocalRecognizer, RecognizerResult

from governance.masking import words
from governance.masking.lexicon import is_ordinary
from governance.masking.profile import TextProfile
from governance.masking.recognisers.kit import Listed

_WORD: Final = r"[^\W\d_]+(?:['\u2019\-][^\W\d_]+)*"
_RUN: Final = rf"(?P<run>{_WORD}\.?(?: {_WORD}\.?){{0,5}})"
_ONE: Final = re.compile(_WORD)
_ANNOUNCING: Final = (
    r"my (?:full |first |last |given |family |legal |complete )?name(?:['\u2019]?s| is| was)(?: is)?|"
    r"(?:full |customer |first |last |passenger )name\s?[:=]|the name['\u2019]?s"
)
_CALLING: Final = (
    r"(?:call|calls|called) me|i['\u2019]?m called|i am called|(?:under|in) the name(?: of)?|myself|"
    r"(?<![a-z_] )name\s?:"
)
_STATING: Final = (
    r"i am|i['\u2019]m|im|this is|it['\u2019]?s|it is|you(?:['\u2019]re| are) (?:talking|speaking) (?:to|with)|"
    r"(?:kind |best |warm )?regards,?|sincerely,?|cheers,?|yours(?: truly)?,?|signed,?|from,"
)
_ANNOUNCED: Final = re.compile(rf"(?<![^\W_])(?:{_ANNOUNCING})\s{{1,2}}{_RUN}", re.IGNORECASE)
_CALLED: Final = re.compile(rf"(?<![^\W_])(?:{_CALLING})\s{{1,2}}{_RUN}", re.IGNORECASE)
_STATED: Final = re.compile(rf"(?<![^\W_])(?:{_STATING})\s{{1,2}}{_RUN}", re.IGNORECASE)
_GOES_ON: Final = frozenset(
    words.listed(
        """
        not on in at under with spelled spelt wrong misspelled correct incorrect missing different listed there still
        already being been only also just too really actually very so now here the a an and but or because since who
        that which what where when why if then than as to for from of by about into onto off out up down over i you he
        she it we they me him us them my your his her its our their this these those is are was were be am do does did
        have has had can could will would should might must please thanks thank calling speaking writing trying
        looking having using getting going need want would like currently never always maybe perhaps probably both
        attached shown visible printed displayed unknown private none n't dont don't isn't above below
        """
    )
)
_CLAUSE_ENDS: Final = re.compile(r"\s{0,8}(?:\Z|[.,!?;:)\n]|\d)")
_NEVER_LAST: Final = frozenset(
    words.listed(
        """
        again today tomorrow yesterday tonight now soon later once ok okay yes no yep nope hi hello hey sir madam ma'am
        btw fyi asap lol tho though anyway actually dob email phone address zip ssn member customer passenger account
        order first last everyone folks team alone back good fine well
        """
    )
)
"""What ends a clause behind a given name and is no surname there."""
_ENDS: Final = frozenset(words.listed("and but i i'm im from here calling speaking who with please thanks thank or"))


class ToldNameRecognizer(LocalRecognizer):  # type: ignore[misc] # Presidio's types are not followed
    """Announced names in small letters or in capitals throughout."""

    def __init__(self) -> None:
        """Reported as ``TOLD_PERSON``: firm, where a model's guess is not."""
        super().__init__(supported_entities=["TOLD_PERSON"], supported_language="en", name="ToldNameRecognizer")

    def load(self) -> None:
        """Nothing to load."""

    def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = None) -> list[Any]:  # noqa: ARG002
        """The names as results."""
        metadata = {
            RecognizerResult.RECOGNIZER_NAME_KEY: self.name,
            RecognizerResult.RECOGNIZER_IDENTIFIER_KEY: self.id,
        }
        return [
            RecognizerResult("TOLD_PERSON", start, end, 0.7, recognition_metadata=metadata)
            for start, end in sorted({*told(text)})
        ]


def told(text: str) -> Iterator[tuple[int, int]]:
    """Where announced names stand."""
    for match in _ANNOUNCED.finditer(text):
        run = _name(text, match)
        if run and _flat(text, run):
            yield run[0].start(), run[-1].end()
    for match in _CALLED.finditer(text):
        run = _name(text, match)
        if run and _flat(text, run) and (_folded(run[0]) in words.GIVEN or not is_ordinary(_folded(run[0]))):
            yield run[0].start(), run[-1].end()
    for match in _STATED.finditer(text):
        run = _name(text, match)
        if run and _flat(text, run) and _is_somebody([_folded(one) for one in run]):
            yield run[0].start(), run[-1].end()


def _name(text: str, match: re.Match[str]) -> list[re.Match[str]]:
    """The words of the run that are the name."""
    every = list(_ONE.finditer(text, *match.span("run")))
    while every and _folded(every[0]) in words.TITLES:
        every.pop(0)
    name: list[re.Match[str]] = []
    for place, one in enumerate(every[:4]):
        folded = _folded(one)
        if folded in _GOES_ON or (name and "." in text[name[-1].end() : one.start()] and len(name[-1].group()) > 1):
            break
        if name and folded not in words.PARTICLES and is_ordinary(folded) and len(folded) > 1:
            if not _ends(text, every, place):
                break
            name.append(one)
            break
        name.append(one)
    while name and (_folded(name[-1]) in words.PARTICLES or (len(name) > 1 and len(name[-1].group()) == 1)):
        name.pop()
    return name


def _ends(text: str, every: Sequence[re.Match[str]], place: int) -> bool:
    """Whether a clause ends behind a word: an ordinary word there is somebody's surname."""
    word = _folded(every[place])
    if word in words.NEVER_NAMES or word in _NEVER_LAST or word.endswith(("ing", "ed")):
        return False
    if place + 1 < len(every) and "." not in text[every[place].end() : every[place + 1].start()]:
        return _folded(every[place + 1]) in _ENDS
    return _CLAUSE_ENDS.match(text, every[place].end()) is not None


def _flat(text: str, run: Sequence[re.Match[str]]) -> bool:
    """Whether a name is written in one case, as nobody writes names with care."""
    name = text[run[0].start() : run[-1].end()]
    return name.islower() or (name.isupper() and len(name) > 3)


def _is_somebody(name: Sequence[str]) -> bool:
    """Whether words behind ``i am`` are a name."""
    if name[0] in words.NEVER_NAMES:
        return False
    if name[0] in words.GIVEN:
        return len(name) > 1 or name[0] in words.GIVEN_ALONE
    return len(name) > 1 and not any(map(is_ordinary, name))


def _folded(match: re.Match[str]) -> str:
    return match.group().casefold().replace("\u2019", "'")


_HINTS: Final = re.compile(rf"(?<![^\W_])(?:{_ANNOUNCING}|{_CALLING}|{_STATING})\s", re.IGNORECASE)


def _may_tell(profile: TextProfile) -> bool:
    return _HINTS.search(profile.text) is not None


def build() -> list[Listed]:
    """The recogniser."""
    return [Listed(ToldNameRecognizer(), _may_tell, words_only=True)]
