"""Phone numbers: those of every region that phonenumbers knows, at the cost of one scan of the few texts with a number.

Theory. Presidio scans a text once for each region. Here phonenumbers' matcher scans it once, and asks regions about a
candidate until one takes it (``_Candidates``); a text without seven digits close together is not scanned at all. A
number that is written as one (leading + or bracket, three groups) and valid in a home region is sure; bare digits, and
the national writing of any other region, need a word beside them; so does a number that no region assigns, since people
mistype and test data are invented. Korean numbers that companies have as such (1588 and the like) identify nobody and
stay below every threshold. What is valid somewhere else, and Presidio's types for the phones of one country, are
candidates: they never reach the threshold, and are not looked for where only findings count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import phonenumbers
from phonenumbers import PhoneNumberMatch, PhoneNumberMatcher, PhoneNumberType
from presidio_analyzer import LocalRecognizer, RecognizerResult

from governance.masking.profile import TextProfile, lower
from governance.masking.recognisers.evidence import Words, is_labelled
from governance.masking.recognisers.kit import CONTEXT_ONLY, Listed, never

HOME: Final = ("US", "GB", "DE", "FR", "KR", "JP")
"""Where a number written as one counts without a word beside it."""
REGIONS: Final = (
    *HOME, "IN", "CN", "BR", "MX", "AU", "IT", "ES", "NL", "PL", "TR", "SE", "CH", "AT", "BE", "PT", "IL", "ZA", "PH",
    "ID", "TH", "VN", "MY", "SG", "HK", "TW", "NZ", "IE", "DK", "NO", "FI", "RU", "UA", "AR", "CL", "CO", "AE", "SA",
    "EG", "NG", "CA", "GR", "CZ", "HU", "RO",
)  # fmt: skip
"""Regions whose national writing is read; with a leading + any region's is."""
OF_COUNTRY: Final = {"TR": "TR_PHONE_NUMBER", "PH": "PH_MOBILE_NUMBER"}
"""Presidio's types for the phones of one country."""
COMPANY: Final = frozenset({PhoneNumberType.UAN, PhoneNumberType.SHARED_COST, PhoneNumberType.PREMIUM_RATE})
KOREA: Final = 82
SHORTEST: Final = 7
"""Digits of the shortest number that is looked for."""
_SEVEN_DIGITS: Final = re.compile(r"\d(?:[\s().\-/\[\]~\u2010-\u2015\u2212\u00a0\u00adx]{0,4}\d){6}", re.IGNORECASE)
_WORDS: Final = Words.parted(
    """phone;phones;phone number;telephone;tel;cell;cellphone;cell phone;mobile;mobile number;mobile no;call;fax;sms;
    whatsapp;dial;telefon;telefono;teléfono;téléphone;telefone;telepono;handy;móvil;celular;portable;cep;cep no;
    telefonnummer;numer telefonu;전화;휴대폰;휴대전화;핸드폰;연락처;hp;電話;携帯;手机;电话;โทร;тел;телефон"""
)
_LOOSE: Final = re.compile(
    r"(?<![\w./\-])(?:\+|00)?\(?\d(?:[\s().\-/]{0,3}\d){6,14}(?:\s?(?:x|ext\.?|#)\s?\d{1,6})?(?![\w\-])", re.IGNORECASE
)
_NANP: Final = re.compile(
    r"(?:(?:\+|00)?1[\s.\-])?(?:\(\d{3}\)\s?|\d{3}[.\-])\d{3}[.\-]\d{4}(?:\s?(?:x|ext\.?)\s?\d{1,6})?", re.IGNORECASE
)
_FOUR: Final = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
"""What addresses of the network and versions look like; groups of a phone number are fewer, or longer, or more."""
_KOREAN_MOBILE: Final = re.compile(r"(?<![0-9a-z.\-/+_])01[016789]\d{7,8}(?![0-9a-z_\-]|[./]\d)")
_HANGUL: Final = re.compile("[가-힣]")
_NEAR: Final = 12
"""Characters around a Korean mobile number in one run among which Korean must stand."""
_SOCIAL: Final = re.compile(r"\d{3}-\d{2}-\d{4}")
"""How a US social security number is written, and no telephone number of a home region."""
_DATE: Final = re.compile(r"\d{4}([-./])\d{1,2}\1\d{1,2}|\d{1,2}([-./])\d{1,2}\2\d{4}")


class _Candidates(PhoneNumberMatcher):
    """phonenumbers' matcher that asks regions of a candidate: the first that takes it whole, or what begins first."""

    def __init__(self, text: str, regions: tuple[str, ...]) -> None:
        super().__init__(text, regions[0])
        self._regions = regions

    def _extract_match(self, candidate: str, offset: int) -> PhoneNumberMatch | None:
        best: PhoneNumberMatch | None = None
        if sum(map(str.isdigit, candidate)) < SHORTEST:
            return None
        for region in self._regions:
            self.preferred_region = region
            found = super()._extract_match(candidate, offset)
            if found is not None and (best is None or (found.start, -found.end) < (best.start, -best.end)):
                best = found
            if best is not None and len(best.raw_string) == len(candidate):
                break
        return best


class PhoneFinder(LocalRecognizer):  # type: ignore[misc] # Presidio's types are not followed
    """Phone numbers, each with what speaks for it."""

    entity = "PHONE_NUMBER"

    def __init__(self) -> None:
        """For every text."""
        super().__init__(supported_entities=[self.entity], supported_language="en", name=type(self).__name__)

    def load(self) -> None:
        """Nothing to load."""

    def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = None) -> list[Any]:  # noqa: ARG002
        """The numbers as results."""
        if not _SEVEN_DIGITS.search(text):
            return []
        metadata = {
            RecognizerResult.RECOGNIZER_NAME_KEY: self.name,
            RecognizerResult.RECOGNIZER_IDENTIFIER_KEY: self.id,
        }
        return [
            RecognizerResult(self.entity, start, end, score, recognition_metadata=metadata)
            for (start, end), score in self.numbers(text).items()
        ]

    def numbers(self, text: str) -> dict[tuple[int, int], float]:
        """Where numbers stand, and their scores."""
        lowered = lower(text)
        told = _WORDS.may_stand_in(TextProfile(text))
        found = {}
        for match in _Candidates(text, REGIONS if told else HOME):
            if sum(map(str.isdigit, match.raw_string)) >= SHORTEST:
                found[match.start, match.end] = _score(lowered, match)
        for start, end, score in _shaped(lowered):
            found[start, end] = max(score, found.get((start, end), 0.0))
        return found


class CountryPhoneFinder(PhoneFinder):
    """The numbers of one country as Presidio has them: candidates without a word beside them."""

    def __init__(self, entity: str, regions: tuple[str, ...]) -> None:
        """``entity`` is reported for what is valid in one of the regions."""
        self.entity = entity
        self._regions = regions
        super().__init__()

    def numbers(self, text: str) -> dict[tuple[int, int], float]:
        """What is valid there."""
        spans = ((match.start, match.end) for match in _Candidates(text, self._regions))
        return dict.fromkeys(spans, CONTEXT_ONLY)


def _score(lowered: str, match: PhoneNumberMatch) -> float:
    raw = match.raw_string
    if _FOUR.fullmatch(raw):
        return 0.1
    if match.number.country_code == KOREA and phonenumbers.number_type(match.number) in COMPANY:
        return 0.1
    if raw.startswith("+") or _WORDS.beside(lowered, match.start, match.end):
        return 0.7
    if _SOCIAL.fullmatch(raw):
        return 0.1
    if phonenumbers.region_code_for_number(match.number) not in HOME:
        return CONTEXT_ONLY
    return 0.7 if raw.startswith("(") or len(re.findall(r"\d{2,}", raw)) >= 3 else CONTEXT_ONLY


def _shaped(lowered: str) -> Iterator[tuple[int, int, float]]:
    """Numbers by their writing alone, valid or not: like a North American one, or anything beside a word.

    A Korean mobile number in one run needs no word for a phone in a Korean sentence, unless it is labelled otherwise.
    """
    for match in _KOREAN_MOBILE.finditer(lowered):
        around = lowered[max(0, match.start() - _NEAR) : match.end() + _NEAR]
        if _HANGUL.search(around) and not is_labelled(lowered, match.start()):
            yield *match.span(), 0.5
    for match in _LOOSE.finditer(lowered):
        if _DATE.fullmatch(match.group()) or _FOUR.fullmatch(match.group()) or _company(match.group()):
            continue
        if _WORDS.beside(lowered, *match.span()):
            yield *match.span(), 0.5
        elif _NANP.fullmatch(match.group()):
            yield *match.span(), 0.45


def _company(number: str) -> bool:
    return re.fullmatch(r"1[5-9]\d{2}[-. ]\d{4}", number) is not None


def _may_phone(profile: TextProfile) -> bool:
    return profile.digits >= 7


def build() -> list[Listed]:
    """The finder, and what is a candidate only."""
    elsewhere = tuple(region for region in REGIONS if region not in HOME)
    countries = [CountryPhoneFinder(entity, (region,)) for region, entity in OF_COUNTRY.items()]
    return [
        Listed(PhoneFinder(), _may_phone),
        *(Listed(one, never) for one in [CountryPhoneFinder("PHONE_NUMBER", elsewhere), *countries]),
    ]
