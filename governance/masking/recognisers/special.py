"""Special categories of GDPR Articles 9 and 10: statements about a person, in English and Korean.

Theory. A word of health or belief says nothing about anybody: policies, menus and forms are full of them ("medical
reason", "halal meal", "health insurance"). A statement has a person (I, my wife, the patient, a given name), a verb in
the indicative and a term of the category behind it: "I was diagnosed with", "my wife has", "he converted to". So a term
alone is never a finding, nor a supposition ("if I am pregnant"), a negation, a question about others ("can pregnant
passengers fly") or a term that only names a product ("cancer insurance"). An unspecific indisposition (sick, unwell) is
no finding. Korean leaves the person out where it is the speaker; there the finite ending tells a statement.
A finding is the statement from the person to the end of its clause, so that no trigger is masked in place of what it
states. Each sentence is read once, by patterns without open repetition.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from presidio_analyzer import LocalRecognizer, RecognizerResult

from governance.masking import words
from governance.masking.profile import TextProfile
from governance.masking.recognisers import special_korean, special_terms
from governance.masking.recognisers.kit import Listed
from governance.masking.recognisers.special_terms import terms

SCORE: Final = 0.6
_WORDS: Final = re.compile(r"[a-z]+")
LONGEST: Final = 1_000
"""Characters of one sentence; a longer one is read in parts."""


def _any(listed: tuple[str, ...] | str) -> str:
    chosen = terms(listed) if isinstance(listed, str) else listed
    return "(?:" + "|".join(re.escape(term).replace(r"\ ", r"\s{1,3}") for term in chosen) + ")"


_RELATIVE: Final = rf"(?:my|our|his|her|their)\s(?:\w{{2,12}}\s)?{_any(special_terms.RELATIVES)}"
_OFFICIAL: Final = r"the (?:patient|passenger|customer|client|employee|user|caller|guest|applicant|defendant|tenant)"
_GIVEN: Final = f"(?:{'|'.join(sorted(words.GIVEN))})(?:\\s[a-z]{{2,20}})?"
_NOBODY: Final = r"(?<![\w'-])"
_SUBJECT: Final = rf"{_NOBODY}(?:i|we|he|she|{_RELATIVE}|{_OFFICIAL}|{_GIVEN})"
_ADVERB: Final = (
    r"(?:\s(?:also|always|just|now|still|both|already|once|currently|recently|unfortunately|actually|really|very|quite|even|"
    r"newly|severely|legally|openly|originally|sadly|strictly|practi[cs]ing|devout|observant|strict|orthodox|proud|"
    r"lifelong|registered|a|an|the|been|being|be|twice)){0,3}"
)
_DEGREE: Final = (
    r"(?:\s(?:a|an|the|some|also|just|recently|severe|serious|chronic|mild|acute|advanced|terminal|type|stage|1|2|3|4|"
    r"i|ii|iii|iv|one|two|been|got|had|really|bad|early|late|metastatic|previous|prior|old|past|long|with|history|of|"
    r"diagnosed|life-threatening|congenital|rare|inherited|my|his|her)){0,4}"
)
_BE: Final = (
    rf"(?:{_SUBJECT}\s(?:am|is|are|was|were|have been|has been|had been|got|became|turned out)|"
    rf"{_NOBODY}(?:i'?m|he's|she's|we're|i've been|he's been|she's been)|{_RELATIVE}'s(?: been)?)"
)
_HAVE: Final = (
    rf"(?:{_SUBJECT}\s(?:have|has|had|developed|contracted|caught|got|live with|lives with)|{_NOBODY}i've(?: got)?)"
)
_OWN: Final = (
    rf"{_NOBODY}(?:my|his|her|our|{_RELATIVE}'s|{_GIVEN}'s)"
    r"(?:\s(?:severe|chronic|own|recent|upcoming|past|prior|current))?"
)
_PRODUCT: Final = (
    r"(?!\w|['.-]\w|\s(?:insurance|cover|coverage|policy|policies|protection|waiver|vaccine|vaccines|vaccination|test|"
    r"tests|testing|charity|awareness|research|fund|voucher|screening|market|friday|belt|screen|shoes|bag|coat|jacket|"
    r"shirt|suit|label|paper|school|schools|meal|meals|food|ribbon|card|estimate|travell?er|approach|amount|list|"
    r"box|spot|leave policy|questionnaire|form|friendly)\b)"
)
_FORMS: Final = {
    "be": rf"{_BE}{_ADVERB}\s",
    "have": rf"{_HAVE}{_DEGREE}\s",
    "do": rf"{_SUBJECT}{_ADVERB}\s",
    "own": rf"{_OWN}\s",
}
_STATED: Final = (
    r"\s(?:is|was|has|have|are|were|requires|prevents|makes|treatment|got|came|show|shows|say|says|on|be|because|"
    r"stored|and|for|to|forbids?|does|means|doesn't)\b"
)
"""What goes on behind a term that somebody owns, when it is a statement."""
_RULES: Final[tuple[tuple[str, str, str], ...]] = (
    ("HEALTH", "be", special_terms.CONDITIONS),
    ("HEALTH", "have", special_terms.ILLNESSES),
    ("HEALTH", "do", special_terms.HEALTH_ACTS),
    ("HEALTH", "own", special_terms.OWN_HEALTH),
    ("BELIEF", "be", special_terms.BELIEVERS),
    ("BELIEF", "do", special_terms.BELIEVING),
    ("BELIEF", "own", special_terms.OWN_BELIEF),
    ("POLITICAL_OPINION", "be", special_terms.POLITICAL),
    ("POLITICAL_OPINION", "do", special_terms.POLITICAL_ACTS),
    ("POLITICAL_OPINION", "own", special_terms.OWN_POLITICS),
    ("ETHNICITY", "be", special_terms.ETHNIC),
    ("ETHNICITY", "own", special_terms.OWN_ETHNICITY),
    ("SEX_LIFE", "be", special_terms.ORIENTATIONS),
    ("SEX_LIFE", "do", special_terms.SEXUAL_ACTS),
    ("SEX_LIFE", "own", special_terms.OWN_SEX),
    ("TRADE_UNION", "be", special_terms.UNIONISTS),
    ("TRADE_UNION", "do", special_terms.UNION_ACTS),
    ("TRADE_UNION", "own", special_terms.OWN_UNION),
    ("GENETIC", "have", special_terms.GENES),
    ("GENETIC", "own", special_terms.OWN_GENES),
    ("BIOMETRIC", "own", special_terms.OWN_BIOMETRICS),
    ("CRIMINAL_RECORD", "be", special_terms.OFFENCES),
    ("CRIMINAL_RECORD", "have", special_terms.OFFENDED),
    ("CRIMINAL_RECORD", "do", special_terms.OFFENCE_ACTS),
    ("CRIMINAL_RECORD", "own", special_terms.OWN_OFFENCES),
)


def _rule(form: str, block: str) -> tuple[frozenset[str], re.Pattern[str]]:
    """The longest words of a rule's terms, and its pattern over a sentence in lower case."""
    listed = terms(block)
    heads = frozenset(max(_WORDS.findall(term), key=len) for term in listed)
    behind = _STATED if form == "own" else ""
    return heads, re.compile(f"{_FORMS[form]}{_any(listed)}{_PRODUCT}(?={behind})")


_COMPILED: Final = [(category, *_rule(form, block)) for category, form, block in _RULES] + [
    ("GENETIC", frozenset({"carry", "carries", "inherited"}), re.compile(
        rf"{_SUBJECT}{_ADVERB}\s(?:carry|carries|inherited){_DEGREE}\s{_any(special_terms.GENES)}{_PRODUCT}")),
    ("BIOMETRIC", frozenset({"scanned", "enrolled", "submitted", "gave", "registered", "took", "recorded"}), re.compile(
        rf"{_SUBJECT}\s(?:scanned|enrolled|submitted|gave|registered|took|recorded)\s(?:\w+\s)?(?:my|his|her|our)\s"
        rf"{_any(special_terms.OWN_BIOMETRICS)}{_PRODUCT}")),
    ("HEALTH", frozenset({"diagnosed"}), re.compile(
        rf"(?:^\W*|[,:(]\s*)(?:(?:was|been|recently|newly|just)\s){{0,2}}diagnosed with{_DEGREE}\s"
        rf"{_any(special_terms.ILLNESSES)}{_PRODUCT}(?!\?)")),
    ("BELIEF", frozenset({"religious"}), re.compile(rf"{_SUBJECT}\s(?:[\w']+\s){{1,8}}for religious reasons")),
]  # fmt: skip
_HEADS: Final = frozenset().union(*(heads for _, heads, _ in _COMPILED))
_SENTENCE: Final = re.compile(rf"[^.!?\n;]{{3,{LONGEST}}}+\.?")
_SUPPOSED: Final = re.compile(
    r"\b(?:if|in case|whether|unless|suppose|supposing|imagine|pretend|assume|assuming|hypothetically|"
    r"what happens when|when|example|e\.g|for instance|joke|novel|movie|character|song)\b[^,:]*$"
)
_CLAUSE: Final = re.compile(
    r"(?:[ \t]+(?!(?:but|so|because|please|therefore|hence|can you|could you|would you)\b|-+\s)"
    r"(?![^\s@]{0,60}@|\S{0,20}\d{5}|\S{0,3}\d{2,3}-\d|https?:)[^\s,:()\u2014\u2013\"]*[^\s,:()\u2014\u2013\".])*+"
)
"""The rest of a clause: what the statement is about often stands there ("diagnosed with" a condition, "convicted of" a
crime). It ends at punctuation, at a word that begins the next clause, and before what is found by itself."""


def _folded(text: str) -> str:
    """Lower case of equal length, with plain apostrophes."""
    small = text.replace("\u2019", "'").lower()
    return small if len(small) == len(text) else "".join(char.lower()[:1] or char for char in text)


def _english(text: str) -> Iterator[tuple[str, int, int]]:
    folded = _folded(text)
    for sentence in _SENTENCE.finditer(folded):
        heads = _HEADS.intersection(_WORDS.findall(sentence.group()))
        if not heads:
            continue
        for category, needed, pattern in _COMPILED:
            if needed.isdisjoint(heads):
                continue
            for match in pattern.finditer(sentence.group()):
                if not _SUPPOSED.search(sentence.group(), 0, match.start()):
                    end = _CLAUSE.match(sentence.group(), match.end()).end()  # type: ignore[union-attr] # may be empty
                    yield category, sentence.start() + match.start(), sentence.start() + end
                    break


class SpecialCategoryRecognizer(LocalRecognizer):  # type: ignore[misc] # Presidio's types are not followed
    """Finds statements about a person's special categories."""

    def __init__(self) -> None:
        """For both languages."""
        entities = sorted({category for category, _, _ in _COMPILED})
        super().__init__(supported_entities=entities, supported_language="en", name="SpecialCategoryRecognizer")

    def load(self) -> None:
        """Nothing to load."""

    def statements(self, text: str) -> list[tuple[str, int, int]]:
        """Each statement: its category and where it stands."""
        return [*_english(text), *special_korean.statements(text)]

    def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = None) -> list[Any]:  # noqa: ARG002 - Presidio's
        """The statements as results."""
        metadata = {
            RecognizerResult.RECOGNIZER_NAME_KEY: self.name,
            RecognizerResult.RECOGNIZER_IDENTIFIER_KEY: self.id,
        }
        return [
            RecognizerResult(category, start, end, SCORE, recognition_metadata=metadata)
            for category, start, end in self.statements(text)
        ]


def _may_state(profile: TextProfile) -> bool:
    """A statement holds the longest word of a term, or a Korean one."""
    if profile.hangul and special_korean.may_state(profile.text):
        return True
    return not _HEADS.isdisjoint(_WORDS.findall(_folded(profile.text)))


def build() -> list[Listed]:
    """The finder."""
    return [Listed(SpecialCategoryRecognizer(), _may_state)]
