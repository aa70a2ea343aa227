"""Identifiers that the text announces: ``my ssn is 078-05-1120``, ``account number: 4411 2233``.

Theory. What a value is called outweighs what it looks like: nine digits in three groups may be valid as a telephone
number somewhere, and are a social security number once they are called one, also the sample numbers that no office
issued. So a value right behind the name of an identifier has the type that a field of that name has (``fields.TYPES``),
where the country is not said by the value (``identifiers.of_value``): text and field agree. Names that stand in prose
for something else (``passport``, ``user``) count with a word for a number only. What follows must be written as a
number: groups with digits, joined by one separator, at least ``FEWEST`` digits in all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from presidio_analyzer import LocalRecognizer, RecognizerResult

from governance.masking import fields
from governance.masking.identifiers import FAMILIES, FAMILY_OF, of_value
from governance.masking.makers.checks import CHECKS
from governance.masking.profile import TextProfile, plain
from governance.masking.recognisers.kit import Listed
from governance.masking.weights import ANNOUNCED
from governance.masking.words import listed

FEWEST: Final = 5
_KINDS: Final = (frozenset(CHECKS) | FAMILIES | frozenset(FAMILY_OF)) - {"CREDIT_CARD"}
_OWN: Final = {
    "social security": "US_SSN", "my social": "US_SSN", "your social": "US_SSN", "social security no": "US_SSN",
    "ss#": "US_SSN", "ni number": "UK_NINO",
    "passport nr": "PASSPORT", "acct number": "BANK_ACCOUNT", "acct no": "BANK_ACCOUNT", "acct": "BANK_ACCOUNT",
    "bank account": "BANK_ACCOUNT", "driver's license": "DRIVER_LICENSE", "driver's license number": "DRIVER_LICENSE",
    "driver's licence": "DRIVER_LICENSE", "driver's licence number": "DRIVER_LICENSE", "sin number": "CA_SIN",
    "tax id number": "TAX_ID", "national id no": "NATIONAL_ID", "id card no": "NATIONAL_ID", "주민 번호": "KR_RRN",
    "외국인 등록번호": "KR_FRN",
}  # fmt: skip
"""How people say in a sentence what a field says in its name."""
_NOT_IN_PROSE: Final = frozenset(
    listed(
        """
        passport_id nie dni nif brn frn tin pan_number hetu mbi npi nric bsn business_number company_number 계좌 여권
        """
    )
)
"""Names of fields that are other words in a sentence, or stand beside a number of another kind."""
_LABELS: Final = _OWN | {
    name.replace("_", " "): kind for name, kind in fields.TYPES.items() if kind in _KINDS and name not in _NOT_IN_PROSE
}
_HANGUL: Final = re.compile("[가-힣]")
_BETWEEN: Final = (
    r"(?P<between>(?:\s{0,2}(?:number|no\.?|num\.?|nr\.?|is|was|it is|it's|its|"
    r"[:=#\-(\[*\"'`?,]|은|는|이|가|:)){0,5}\s{0,3})"
)
_FEWEST_APART: Final = 7
"""Digits of a value on the next line or behind a comma: there short numbers are something else."""
_GROUP: Final = r"(?:[A-Za-z]{0,5}\d[A-Za-z\d]*)"
_VALUE: Final = (
    rf"(?:[A-Za-z]{{1,3}}[ \-])?{_GROUP}(?:(?P<gap>[ .\-/]){_GROUP}(?:(?P=gap){_GROUP}){{0,5}})?(?:[ \-][A-Za-z]\b)?"
)


def _named() -> str:
    names = sorted(_LABELS, key=lambda name: (-len(name), name))
    return "|".join(re.escape(name).replace(r"\ ", r"[\s_\-]?") for name in names)


_ANNOUNCED: Final = re.compile(
    rf"(?<![^\W_])(?P<name>{_named()})(?![A-Za-z]){_BETWEEN}(?<![A-Za-z\d])(?P<value>{_VALUE})(?![A-Za-z\d_@])(?!-\d)",
    re.IGNORECASE,
)


class AnnouncedRecognizer(LocalRecognizer):  # type: ignore[misc] # Presidio's types are not followed
    """Values that a word for an identifier announces."""

    def __init__(self) -> None:
        """Of every type that such a word tells."""
        kinds = {*FAMILIES, *FAMILY_OF, *_LABELS.values()}
        super().__init__(supported_entities=sorted(kinds), supported_language="en", name="AnnouncedRecognizer")

    def load(self) -> None:
        """Nothing to load."""

    def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = None) -> list[Any]:  # noqa: ARG002
        """The values as results."""
        metadata = {
            RecognizerResult.RECOGNIZER_NAME_KEY: self.name,
            RecognizerResult.RECOGNIZER_IDENTIFIER_KEY: self.id,
        }
        return [
            RecognizerResult(kind, start, end, ANNOUNCED, recognition_metadata=metadata)
            for start, end, kind in announced(text)
        ]


def announced(text: str) -> Iterator[tuple[int, int, str]]:
    """Where announced values stand, each with its type."""
    for match in _ANNOUNCED.finditer(plain(text)):
        value = match.group("value")
        apart = "," in match.group("between") or "\n" in match.group("between")
        if sum(map(str.isdigit, value)) < (_FEWEST_APART if apart else FEWEST):
            continue
        if apart and match.string.startswith(",", match.end()):
            continue  # a row below the heads of a table
        kind = _LABELS[_told(match.group("name"))]
        yield *match.span("value"), of_value(kind, value) if kind in FAMILIES else kind


def _told(name: str) -> str:
    """The name as it is listed."""
    bare = re.sub(r"[\s_\-]", "", name.lower())
    return _BARE[bare]


_BARE: Final = {re.sub(r"[\s_\-]", "", name): name for name in _LABELS}
_HEADS: Final = frozenset(re.split(r"[^a-z]", name)[0] for name in _LABELS if not _HANGUL.search(name))
_KOREAN: Final = tuple(sorted({name.split()[0] for name in _LABELS if _HANGUL.search(name)}))


def _may_announce(profile: TextProfile) -> bool:
    if profile.digits < FEWEST:
        return False
    heads = any(word.startswith(tuple(_HEADS)) for word in profile.words)
    return heads or any(word in profile.text for word in _KOREAN)


def build() -> list[Listed]:
    """The recogniser."""
    return [Listed(AnnouncedRecognizer(), _may_announce)]
