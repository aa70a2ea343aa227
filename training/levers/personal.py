"""What must not stand in a fact or a schema: personal values, and the surrogates that stand for them.

Theory. A surrogate looks like the value that it replaces, so the check for both is one. The patterns here need no model
and refuse on suspicion: addresses, telephone and account numbers, bracketed entity names, two capitalised words in a
row that do not begin a sentence. A caller with a masker passes its detector as well. Typed placeholders such as
``{customer.name}`` and ``{person.1}`` are what a text may hold instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from governance.masking.placeholders import PLACEHOLDER
from training.errors import LeverRefused

Detector = Callable[[str], tuple[str, ...]]
"""Text to the entity types found in it."""

_PATTERNS: Final = {
    "EMAIL_ADDRESS": re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+"),
    "PHONE_NUMBER": re.compile(r"(?<!\w)\+?\(?\d{2,4}\)?(?:[ ./-]\d{2,5}){2,}(?!\w)|(?<!\w)\+\d{7,}"),
    "ACCOUNT_NUMBER": re.compile(r"\b[A-Z]{2}\d{2}[A-Z0-9]{10,30}\b|\b\d{11,19}\b"),
    "SURROGATE": re.compile(
        r"[<\[](?:PERSON|EMAIL|PHONE|LOCATION|ADDRESS|[A-Z]{3,}_)[A-Z_0-9a-z-]*[>\]]|\b[A-Z]{3,}_[0-9a-f]{4,}\b"
    ),
    "PERSON": re.compile(r"(?<=[a-z,;:] )[A-Z][a-z]+ [A-Z][a-z]+\b"),
}


def found_in(text: str) -> tuple[str, ...]:
    """The kinds of personal values that the patterns find."""
    rest = re.sub(r"\b\d{4}-\d{2}-\d{2}\b", "", PLACEHOLDER.sub("", text))
    return tuple(name for name, rule in _PATTERNS.items() if rule.search(rest))


def refuse_personal(text: str, where: str, detect: Detector | None) -> None:
    """Let the text pass.

    Raises:
        LeverRefused: naming the kinds that were found, never the value.

    """
    kinds = dict.fromkeys((*found_in(text), *(detect(PLACEHOLDER.sub("", text)) if detect else ())))
    if kinds:
        raise LeverRefused(f"{where} holds {', '.join(kinds)}: only typed placeholders may stand there")
