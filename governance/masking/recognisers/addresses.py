"""Addresses of the network, told from what else is written as four numbers with dots.

Theory. ``1.2.3.4`` is an address, a version or a section, and the word before it says which: a version is announced by
one (``Version 1.2.3.4``), stands behind a product's name as browsers write it (``Chrome/120.0.0.0``) or behind a
comparison (``numpy>=1.2.3.4``). Without such a word it is taken for an address.
"""

from __future__ import annotations

import re
from typing import Any, Final

from presidio_analyzer.predefined_recognizers import IpRecognizer

from governance.masking.profile import parted

_NOUN: Final = (
    r"versions?|ver\.?|releases?|rel\.?|builds?|revisions?|rev\.?|firmware|patch(?: level)?|hotfix|changelog|sdk|"
    r"sections?|sec\.?|chapters?|clauses?|articles?|appendix|annex|figures?|fig\.?|tables?|paragraphs?|para\.?|"
    r"requirements?|req\.?|oid"
)
_BEFORE: Final = re.compile(
    rf"(?:(?<![^\W_])(?:{_NOUN})(?:[\s_]+(?:number|no\.?|is|was))?[\s:=#\"'(v]{{1,4}}|versions? from v?|§+\s?|"
    r"(?:버전|릴리스|빌드|펌웨어|섹션)(?:은|는|이|가)?[\s:=]{0,2}|[=~<>!]=\s?|"
    r"(?<![^\W_])(?:chrome|chromium|headlesschrome|crios|edga?|edgios|opr|opera|firefox|fxios|safari|version|brave|vivaldi|"
    r"yabrowser|samsungbrowser|electron|ucbrowser|whale|msie)[/ ])$",
    re.IGNORECASE,
)
_BEHIND: Final = re.compile(
    r"\s?(?:버전|릴리스|[절항조장](?![가-힣])|(?:version|release|build|firmware|sdk)\b)", re.IGNORECASE
)
_LIST: Final = re.compile(r"(?:\d+(?:\.\d+)+(?:,? (?:and|or|to|through|and then)|,| -|[-\u2013])[ v]{1,2})+$")
"""Others of an enumeration, before this one."""
_LONGEST: Final = 60


class AddressRecognizer(IpRecognizer):  # type: ignore[misc] # Presidio's types are not followed
    """Presidio's shapes, without versions and sections."""

    def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = None, regex_flags: int | None = None) -> Any:
        """The addresses as results."""
        found = super().analyze(parted(text), entities, nlp_artifacts, regex_flags)
        return [one for one in found if not is_numbering(text, one.start, one.end)]


def is_numbering(text: str, start: int, end: int) -> bool:
    """Whether the four numbers there are a version or a section."""
    if ":" in text[start:end] or "/" in text[start:end]:
        return False
    before = text[max(0, start - _LONGEST) : start]
    listed = _LIST.search(before)
    if listed:
        before = before[: listed.start()]
    return _BEFORE.search(before) is not None or _BEHIND.match(text, end) is not None
