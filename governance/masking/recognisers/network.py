"""What devices and networks are called: IP and MAC addresses, wallets, and the personal parts of web addresses.

Theory. An address on the web is public more often than not; what is personal in it are its parts: a parameter whose
name says whose it is (``?email=``, ``&first_name=``), which is told as a field of that name is, and the handle in a
profile's path. The address as a whole is reported as ``URL``, which identifies nobody by itself. A wallet's address
carries a checksum over all of it, so it is sure alone.
"""

from __future__ import annotations

import re
from typing import Any, Final

from presidio_analyzer import LocalRecognizer, Pattern, RecognizerResult
from presidio_analyzer.predefined_recognizers import CryptoRecognizer, MacAddressRecognizer, UrlRecognizer

from governance.masking import fields, words
from governance.masking.profile import TextProfile
from governance.masking.recognisers.addresses import AddressRecognizer
from governance.masking.recognisers.kit import Listed, Parting

_PARAMETER: Final = re.compile(r"[?&;]([\w.\-]{2,40})=([^&#\s\"'<>;]{2,200})")
_PROFILE: Final = re.compile(
    r"(?:linkedin\.com/in|facebook\.com|instagram\.com|twitter\.com|\bx\.com|t\.me|tiktok\.com|threads\.net|"
    r"github\.com|gitlab\.com|medium\.com|pinterest\.com|vk\.com|blog\.naver\.com|/(?:users?|u|profiles?|people|members?))"
    r"/@?([A-Za-z][\w.\-]{2,39})(?=[/?#\s\"'<>)\]]|[.,;]?(?:\s|$))"
)
_BEGINS: Final = re.compile(r"\(\?i\)(?:\[\"|\(\?:https)")
"""A pattern of Presidio's that begins with a quote or a scheme."""
_PAGES: Final = frozenset(
    words.listed(
        """
        about home login logout signup share sharer search explore settings help support me edit new list all company
        companies groups pages events watch reels hashtag intent features pricing topics marketplace orgs apps
        """
    )
)


class _Mac(Parting, MacAddressRecognizer):  # type: ignore[misc] # Presidio's types are not followed
    pass


class _Wallet(Parting, CryptoRecognizer):  # type: ignore[misc] # the same
    pass


class UrlPartsRecognizer(LocalRecognizer):  # type: ignore[misc] # Presidio's types are not followed
    """Parameters with a personal name, and handles of profiles."""

    def __init__(self) -> None:
        """The types that field names tell, and handles as ``USER_ID``."""
        types = sorted({*fields.TYPES.values(), "USER_ID", "URL_PERSON"} - {"PERSON"})
        super().__init__(supported_entities=types, supported_language="en", name="UrlPartsRecognizer")

    def load(self) -> None:
        """Nothing to load."""

    def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = None) -> list[Any]:  # noqa: ARG002
        """The parts as results."""
        found = []
        for match in _PARAMETER.finditer(text):
            told = fields.TYPES.get((fields.fold(match.group(1)) or ("",))[-1])
            kind = "URL_PERSON" if told == "PERSON" else told  # firm, where a model's guess is not
            if kind in entities:
                found.append(self._result(kind, *match.span(2)))
        if "USER_ID" in entities:
            handles = (match for match in _PROFILE.finditer(text) if match.group(1).casefold() not in _PAGES)
            found += [self._result("USER_ID", *match.span(1)) for match in handles]
        return found

    def _result(self, entity: str, start: int, end: int) -> RecognizerResult:
        metadata = {
            RecognizerResult.RECOGNIZER_NAME_KEY: self.name,
            RecognizerResult.RECOGNIZER_IDENTIFIER_KEY: self.id,
        }
        return RecognizerResult(entity, start, end, 0.7, recognition_metadata=metadata)


def _may_ip(profile: TextProfile) -> bool:
    return ":" in profile.text or (profile.digits >= 4 and "." in profile.text)


def _may_mac(profile: TextProfile) -> bool:
    return re.search(r"[0-9A-Fa-f]{2}[:\-.][0-9A-Fa-f]{2}", profile.text) is not None


def _may_wallet(profile: TextProfile) -> bool:
    return profile.digits >= 1 and re.search(r"[a-zA-Z0-9]{26}", profile.text) is not None


def _may_url(profile: TextProfile) -> bool:
    return (
        re.search(r"[A-Za-z0-9\-\u0130\u0131\u017f\u212a]\.[A-Za-z\u0130\u0131\u017f\u212a]", profile.text) is not None
    )


def _may_parts(profile: TextProfile) -> bool:
    return _PARAMETER.search(profile.text) is not None or _PROFILE.search(profile.text) is not None


def build() -> list[Listed]:
    """All of them."""
    return [
        Listed(_alone(AddressRecognizer()), _may_ip),
        Listed(_alone(_Mac()), _may_mac),
        Listed(_alone(_Wallet()), _may_wallet),
        Listed(_alone(UrlRecognizer(patterns=_url_patterns())), _may_url),
        Listed(UrlPartsRecognizer(), _may_parts),
    ]


def _url_patterns() -> list[Any]:
    """Presidio's, which begin where a host does: from inside of one each would read the rest of it again.

    What they lose is an address in a run of more than 253 characters, which no host has.
    """
    begin = r"(?i)(?<![a-z0-9.\-])"
    return [
        Pattern(one.name, one.regex if _BEGINS.match(one.regex) else begin + one.regex.removeprefix("(?i)"), one.score)
        for one in UrlRecognizer.PATTERNS
    ]


def _alone(recogniser: Any) -> Any:
    """The recogniser without its context words: its shapes are sure, or stay weak."""
    recogniser.context = None
    return recogniser
