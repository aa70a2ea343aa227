"""Which words of a text name people: the evidence beyond what a language model guesses.

Theory. A name is a run of words in capitals that ordinary English does not use (``lexicon``), or that has a known given
name. The model's guesses are evidence about such runs, no more: what it takes for a company is mostly a person when the
run has two words or three of which none is ordinary, and what it takes for a person is nobody when all its words are
ordinary ones. A guess is cut at line ends and at words that never name anyone, and grows over initials, particles and
further words of the same run. Words beside a found name in an enumeration, and other places where a word of it stands,
are the same kind of thing.

In a field of an API (``strict``) most words in capitals are data: there a run counts with a known given name only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from governance.masking import words
from governance.masking.lexicon import is_ordinary, is_verb
from governance.masking.spans import Hit

_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019\-\u2010.][^\W\d_]+)*")
_CODE: Final = re.compile(r"[A-Z]{2,}")
_INNER_CAPITAL: Final = re.compile(r"(?!Mc|Mac|De|Di|Du|La|Le|Van|Fitz|O['\u2019]|D['\u2019])[^\W\d_]*[a-z][A-Z]")
_CLITIC: Final = re.compile(r"(?:n['\u2019]t|['\u2019](?:s|m|re|ve|ll|d))$", re.IGNORECASE)
_ROLE: Final = re.compile(r"[^\W\d_]{5,}(?:er|or|ist|ian|ant|ent|man|woman)")
_INITIAL: Final = re.compile(r"[^\W\d_] A\.? [^\W\d_]")
_NUMBER: Final = re.compile(r" \d")
_BEGINNING: Final = re.compile(r"(?:^|[.!?:;\n])[ \t]*$")
_ASKED_FOR: Final = re.compile(
    r" (?:to|the|an?|my|your|our|this|that|these|those|it|me|us|on|off|in|into|from|for|with|up|down|out|all|both|any|"
    r"every|each|more|if|when)\b"
)
_BESIDE: Final = re.compile(r"(?:,| and| &| or)[ \n]+(?:and )?")
_ORGANISATION: Final = frozenset(
    words.listed(
        """
        inc ltd llc llp plc corp corporation company co gmbh ag kg sa sas sarl srl spa bv nv ab as asa oy oyj kft zrt sp
        group holding holdings partners associates brothers bros sons bank university college institute school hospital
        foundation association society union church museum ministry department agency council committee airlines airways
        hotel restaurant cafe club team fc records studios pictures press media news times
        """
    )
)


def names_in(text: str, hit: Hit, *, strict: bool) -> list[Hit]:
    """The people that a guess of any type is evidence of."""
    found = []
    for place, run in enumerate(_runs(text, hit.start, hit.end)):
        trimmed = _trimmed(run)
        if (
            trimmed
            and not _in_capitals_as_all(text, trimmed)
            and not _numbered(text, trimmed)
            and not _imperative(text, trimmed)
            and _names_somebody(trimmed, hit.entity_type, strict=strict or place > 0)
        ):
            found.append(_hit(_grown(text, trimmed) if not strict else trimmed, hit.score))
    return found


def beside(text: str, names: Sequence[Hit]) -> list[Hit]:
    """The words in capitals that follow a found name in an enumeration."""
    found = []
    for hit in names:
        match = _BESIDE.match(text, hit.end)
        runs = _runs(text, match.end(), min(match.end() + 40, len(text))) if match else []
        run = _trimmed(runs[0]) if runs else []
        foreign = not any(_CODE.fullmatch(one.group()) or is_ordinary(_folded(one)) for one in run)
        if match and run and run[0].start() == match.end() and foreign:
            found.append(_hit(run, hit.score))
    return found


def spread(text: str, names: Sequence[Hit]) -> list[Hit]:
    """Every other place where a word of a found name stands by itself, in capitals; as sure as the surest of them."""
    parts = {
        part: hit.score
        for hit in sorted(names, key=lambda one: one.score)
        for part in _WORD.findall(text[hit.start : hit.end])
        if len(part) > 2 and part[0].isupper() and part.casefold() not in words.PARTICLES
    }
    return [
        Hit(match.start(), match.start() + len(_bare(match.group())), "PERSON", parts[_bare(match.group())])
        for match in _WORD.finditer(text)
        if _bare(match.group()) in parts and _may_name(text, match)
    ]


def _runs(text: str, start: int, end: int) -> list[list[re.Match[str]]]:
    """The runs of words between two places that can be a name, each on one line."""
    runs: list[list[re.Match[str]]] = [[]]
    for match in _WORD.finditer(text, start, end):
        if not _may_name(text, match):
            runs.append([])
        elif runs[-1] and not _joined(text, runs[-1][-1], match):
            runs.append([match])
        else:
            runs[-1].append(match)
    return [run for run in runs if run]


def _joined(text: str, before: re.Match[str], after: re.Match[str]) -> bool:
    """Whether nothing but white space of one line, or the dot of an initial or a title, stands between two words."""
    if _CLITIC.search(before.group()):
        return False
    gap = text[before.end() : after.start()]
    short = len(before.group()) == 1 or before.group().casefold() in words.TITLES
    return not gap.strip(" \u00a0.") and ("." not in gap or short)


def _may_name(text: str, match: re.Match[str]) -> bool:
    word = match.group()
    around = text[max(match.start() - 1, 0) : match.start()] + text[match.end() : match.end() + 1]
    if any(char.isdigit() or char in "_@/#\\=" for char in around) or _INNER_CAPITAL.match(word):
        return False
    folded = _bare(word).casefold()
    if folded in words.NEVER_NAMES:
        return word == "A" and _INITIAL.search(text, max(match.start() - 2, 0), match.end() + 3) is not None
    if word[0].isupper() or folded in words.PARTICLES:
        return True
    return text.islower() and (len(folded) == 1 or folded in words.GIVEN or not is_ordinary(folded))


def _trimmed(run: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    """The run without titles and particles in front, and without particles behind."""
    made = list(run)
    while made and (_folded(made[0]) in words.TITLES | words.PARTICLES or _is_role(made)):
        made.pop(0)
    while made and _folded(made[-1]) in words.PARTICLES:
        made.pop()
    return made


def _in_capitals_as_all(text: str, run: Sequence[re.Match[str]]) -> bool:
    """Whether ordinary words stand in capitals because their neighbours do: a heading, no name."""
    if any(_folded(match) in words.GIVEN or not is_ordinary(_folded(match)) for match in run):
        return False
    behind = _WORD.match(text, run[-1].end() + 1)
    front = text[max(run[0].start() - 40, 0) : run[0].start()]
    before = re.search(r"[.!?\n] ?\w+ $|^\w+ $|([^\W\d_]+)\.? $", front)
    word = before.group(1) if before else None
    return _is_plain(behind.group() if behind and text[run[-1].end()] == " " else "") or _is_plain(word or "")


def _numbered(text: str, run: Sequence[re.Match[str]]) -> bool:
    """Whether it is one ordinary word with a number behind it: a product or a flight."""
    folded = _folded(run[0])
    return (
        len(run) == 1
        and folded not in words.GIVEN
        and is_ordinary(folded)
        and _NUMBER.match(text, run[0].end()) is not None
    )


def _imperative(text: str, run: Sequence[re.Match[str]]) -> bool:
    """Whether it is one verb that begins a sentence and asks for something: ``Switch to it``, not ``Mark is here``."""
    return (
        len(run) == 1
        and is_verb(_folded(run[0]))
        and _BEGINNING.search(text[max(run[0].start() - 40, 0) : run[0].start()]) is not None
        and _ASKED_FOR.match(text, run[0].end()) is not None
    )


def _is_plain(word: str) -> bool:
    """Whether a word in capitals is an ordinary one, and no form of address."""
    folded = _bare(word).casefold()
    return word[:1].isupper() and len(word) > 1 and folded not in words.TITLES and is_ordinary(folded)


def _is_role(run: Sequence[re.Match[str]]) -> bool:
    """Whether the run begins with what somebody does, and a whole name follows."""
    folded = _folded(run[0])
    return len(run) > 2 and _ROLE.fullmatch(folded) is not None and is_ordinary(folded)


def _names_somebody(run: Sequence[re.Match[str]], entity_type: str, *, strict: bool) -> bool:
    known = any(part in words.GIVEN for match in run for part in re.split(r"\W", match.group().casefold()))
    codes = all(_CODE.fullmatch(match.group()) for match in run)
    if codes and len(run) == 1 and len(run[0].group()) <= 3:
        return False
    if known or strict or codes:
        return known and (entity_type != "GPE" or len(run) == 1)
    full = [match for match in run if len(match.group()) > 1]
    ordinary = [is_ordinary(_folded(match)) for match in full]
    if entity_type == "PERSON":
        return len(full) == 1 or not all(ordinary)
    organised = any(_folded(match) in _ORGANISATION for match in run)
    return entity_type == "ORGANIZATION" and 2 <= len(full) <= 3 and not any(ordinary) and not organised


def _grown(text: str, run: list[re.Match[str]]) -> list[re.Match[str]]:
    """The run with the words of the same line that go on with it."""
    start = max(text.rfind("\n", 0, run[0].start()) + 1, run[0].start() - 40)
    end = text.find("\n", run[-1].end())
    end = min(len(text) if end < 0 else end, run[-1].end() + 40)
    for whole in _runs(text, start, end):
        if whole[0].start() <= run[0].start() and run[-1].end() <= whole[-1].end():
            first = next(place for place, match in enumerate(whole) if match.start() >= run[0].start())
            last = next(place for place, match in enumerate(whole) if match.end() >= run[-1].end())
            while first > 0 and _goes_on(whole[first - 1]):
                first -= 1
            while last < len(whole) - 1 and _goes_on(whole[last + 1]):
                last += 1
            return _trimmed(whole[first : last + 1]) or run
    return run


def _goes_on(match: re.Match[str]) -> bool:
    folded = _folded(match)
    if len(folded) == 1:
        return match.group().isupper() and folded not in {"i", "a"}
    return folded in words.PARTICLES or not is_ordinary(folded)


def _hit(run: Sequence[re.Match[str]], score: float) -> Hit:
    return Hit(run[0].start(), run[-1].start() + len(_bare(run[-1].group())), "PERSON", score)


def _folded(match: re.Match[str]) -> str:
    return _bare(match.group()).casefold()


def _bare(word: str) -> str:
    """A word without a possessive ending or a contracted verb."""
    return _CLITIC.sub("", word)
