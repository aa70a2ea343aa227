"""Names of people: the language model's guesses, and candidates that their surroundings give away.

What is found here is evidence; ``people.names_in`` drops the words that name nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from presidio_analyzer.predefined_recognizers import SpacyRecognizer

from governance.masking import words
from governance.masking.lexicon import is_ordinary
from governance.masking.profile import TextProfile
from governance.masking.recognisers.kit import Finder, Listed

_UPPER: Final = "".join(char for char in map(chr, range(0x41, 0x530)) if char.isupper())
_CAPITAL: Final = rf"[{_UPPER}][^\W\d_]*+(?:['\u2019\-][^\W\d_]++){{0,4}}"
"""A word in capitals. Its letters are taken once and all, so that no long run of them is looked at twice."""
_INITIAL: Final = rf"[{_UPPER}]\."
_PARTICLE: Final = "|".join(sorted(words.PARTICLES))
_NAME: Final = rf"(?:{_CAPITAL}|{_INITIAL})(?:[ \u00a0]+(?:(?:{_PARTICLE})[ ]+)*(?:{_INITIAL}|{_CAPITAL})){{0,3}}"
_TITLE: Final = "|".join(sorted(words.TITLES))
_SAYING: Final = "said|says|asked|asks|told|tells|replied|wrote|writes|shouted|yelled|explained|answered|added|called"
_KIN: Final = (
    "kid|son|daughter|child|children|husband|wife|spouse|partner|brother|sister|mother|father|mom|mum|dad|uncle|aunt|"
    "cousin|nephew|niece|grandmother|grandfather|grandson|granddaughter|boyfriend|girlfriend|fianc[ée]e?|friend|boss|"
    "manager|colleague|coworker|neighbou?r|roommate|flatmate|landlord|tenant|lawyer|attorney|doctor|therapist|assistant"
)
_SURE: Final = re.compile(
    rf"(?:(?i:\bmy (?:full |first |last |given |family )?name is|\bname's|\b(?:sur|last |first |full )?name ?[:?]\**|"
    rf"\bcall(?:ed|s)? me|\b(?:named|called|attn\.?:?|c/o)|\bnam(?:ed|ing) (?:him|her|them|the baby)|"
    rf"\bmy (?:{_KIN}),?(?: is| and my (?:{_KIN}),?)?|\buser:|\b(?:{_TITLE})\.?))\s+({_NAME})"
)
_LIKELY: Final = re.compile(
    r"(?:(?i:\bthis is|\bi am|\bi['\u2019]m|\bdear|\bhello|\bhi|\bhey|\bregards|\bsincerely|\bthanks|\bthank you|"
    r"\bcheers|\bbest|\byours|\bpassengers?\b[^\w\n]{0,6}|\bcustomer|\bbehalf of|\bmet|\bmeet(?:ing)? with|\bstarring|"
    r"\b(?:signed|approved|directed|accompanied|supervised|hired|treated|diagnosed|represented|interviewed) by|"
    r"\b(?:married|engaged|related|born) to|\bask(?:ing)?|\btell(?:ing)?|\bthank(?:ing)?|"
    r"\binvit(?:e|ed|ing)|\bmarr(?:y|ied|ying)|\bremind(?:ed|ing)?|"
    rf"\b(?:{_SAYING})(?: (?:to|at))?))[,:]?\s+({_NAME})"
)
_ACTING: Final = (
    "lives?|lived|works?|worked|moved|(?:is |was |got |has )?(?:married|divorced|widowed|pregnant|retired)|was born|"
    "grew up|was diagnosed|passed away|died|studie[sd]|graduated|flew|drove|walked|smiled|laughed|cried|nodded|"
    "thinks|felt|is my|was my|is (?:his|her|their)|turn(?:s|ed) \\d+|is \\d+ years"
)
_PEOPLE: Final = (
    "founders|co-?founders|owners|authors|friends|colleagues|coworkers|brothers|sisters|siblings|parents|kids|children|sons|"
    "daughters|cousins|passengers|travell?ers|guests|attendees|participants|speakers|students|teachers|players|directors|"
    "managers|winners|candidates|witnesses|heirs|beneficiaries|teammates|roommates|neighbou?rs|nurses|doctors|lawyers|"
    "employees"
)
_SPEAKER: Final = re.compile(rf"(?<![^\W\d_])({_NAME})(?=,? (?:{_SAYING}|{_ACTING})\b|['\u2019]s (?:{_KIN})\b)")
_SPOKEN_TO: Final = re.compile(rf"\b(?:{_SAYING}) {_NAME} to ({_NAME})")
_TOGETHER: Final = re.compile(
    rf"\b(?i:{_PEOPLE})(?:: | are | were |, (?:including |namely )?| named | called | such as )"
    rf"({_NAME}(?:, {_NAME})*(?:,? (?:and|&|or) {_NAME})?)"
)
_ONE_NAME: Final = re.compile(_NAME)
_ALONE: Final = re.compile(
    rf"(?:^|(?<=[a-z,;:.!?>(] )|(?<=[>(\"]))(?<!\bin )(?<!\bat )(?<!\bfrom )(?<!\bnear )({_CAPITAL}?)"
    rf"(?=['\u2019]s\b|[,!?;:)\n\"]|\.?$|\.\s| [a-z&])",
    re.MULTILINE,
)
_REFERRED: Final = re.compile(
    rf"(?:^|(?<=[.!?\n] ))({_CAPITAL})"
    r"(?= (?:(?!when|because|if|that|after|before|so|as|while|until|once|since)[^\W\d_]+ ){1,6}"
    r"(?:his|her|himself|herself)\b)",
    re.MULTILINE,
)
_PAIR: Final = re.compile(rf"\b({_CAPITAL})[ \u00a0]+(?:(?:{_CAPITAL}|{_INITIAL})[ \u00a0]+)?{_CAPITAL}")
_INSIDE: Final = re.compile(rf"(?<=[a-z,;:>] )({_NAME})(?![\w@])")
_LINE: Final = re.compile(rf"^[> \t]*({_NAME})[ \t]*$", re.MULTILINE)
_LOWER: Final = re.compile(
    r"\b(?:my (?:full |first |last )?name is|name ?:|call(?:s|ed)? me|(?:mr|mrs|ms|dr)\.?)\s+"
    r"([^\W\d_]+(?:\.? [^\W\d_]+){0,2})"
)
_LOWER_PAIR: Final = re.compile(r"\b([^\W\d_]{2,}) ([^\W\d_]{2,})\b")
_MAILBOX: Final = re.compile(r"(?<![^\W\d_])([^\W\d_]{2,}+)[._-]([^\W\d_]{2,}+)\d*+@")
_NEIGHBOURS: Final = re.compile(r"\b(?=([^\W\d_]{2,}+)\s++([^\W\d_]{2,}+)\b)")


class NameRecognizer(Finder):
    """Names by their surroundings: how people introduce and address each other, given names, names in mailboxes."""

    entity = "PERSON"

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Candidates."""
        return [*_introduced(text), *_by_their_look(text), *_of_mailboxes(text)]


def _introduced(text: str) -> Iterator[tuple[int, int]]:
    """Names that the words before or behind them announce."""
    for match in _SURE.finditer(text):
        yield match.span(1)
    for match in _TOGETHER.finditer(text):
        yield from (one.span() for one in _ONE_NAME.finditer(text, *match.span(1)))
    for pattern in (_LIKELY, _SPEAKER, _SPOKEN_TO, _REFERRED):
        yield from (match.span(1) for match in pattern.finditer(text) if _likely(match.group(1)))
    if text.islower():
        yield from (match.span(1) for match in _LOWER.finditer(text))
        yield from (match.span() for match in _LOWER_PAIR.finditer(text) if _is_lower_pair(*match.groups()))


def _by_their_look(text: str) -> Iterator[tuple[int, int]]:
    """Two words or more, the first a given name or all of them words that English does not use."""
    for match in _PAIR.finditer(text):
        if match.group(1).casefold() in words.GIVEN:
            yield match.span()
    for match in _ALONE.finditer(text):
        if match.group(1).casefold() in words.GIVEN_ALONE:
            yield match.span(1)
    for match in _INSIDE.finditer(text):
        if _foreign(match.group(1)):
            yield match.span(1)
    if "\n" in text.strip():
        yield from (match.span(1) for match in _LINE.finditer(text) if _foreign(match.group(1)))


def _of_mailboxes(text: str) -> Iterator[tuple[int, int]]:
    mailboxes = {(match.group(1).casefold(), match.group(2).casefold()) for match in _MAILBOX.finditer(text)}
    for match in _NEIGHBOURS.finditer(text) if mailboxes else ():
        if (match.group(1).casefold(), match.group(2).casefold()) in mailboxes:
            yield match.start(1), match.end(2)


def _is_lower_pair(first: str, second: str) -> bool:
    return first in words.GIVEN and not is_ordinary(second)


def _likely(name: str) -> bool:
    """Whether words after a greeting are a name: given, or none of them ordinary."""
    parts = _parts(name)
    return bool(parts) and (parts[0] in words.GIVEN or not any(map(is_ordinary, parts)))


def _foreign(name: str) -> bool:
    """Whether a run is two words or more that no English dictionary has, initials aside."""
    parts = _parts(name)
    return len(parts) >= 2 and not any(map(is_ordinary, parts)) and not name.isupper()


def _parts(name: str) -> list[str]:
    return [part for part in re.findall(r"[^\W\d_]{2,}", name.casefold()) if part not in words.PARTICLES]


def _has_capital(profile: TextProfile) -> bool:
    return profile.capital


def _may_name(profile: TextProfile) -> bool:
    return profile.capital or profile.text.islower()


class GuessRecognizer(SpacyRecognizer):  # type: ignore[misc] # Presidio's types are not followed
    """What the language model takes for names; without a capital letter it is none, so such a text need not be read."""

    def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = None) -> list[Any]:
        """The model's findings that have a capital letter."""
        found = super().analyze(text, entities, nlp_artifacts)
        return [one for one in found if TextProfile(text[one.start : one.end]).capital]


def build() -> list[Listed]:
    """The model's guesses and the finder."""
    guesses = GuessRecognizer(supported_entities=["PERSON", "ORGANIZATION", "GPE", "NRP"])
    return [Listed(guesses, _has_capital), Listed(NameRecognizer(), _may_name)]
