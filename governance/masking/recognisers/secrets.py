"""Secrets: keys, tokens, passwords, credentials and cookies in what agents read and write, as ``SECRET``.

Guarantees. A finding is the whole value of the secret and nothing beside it: neither its name nor the punctuation
behind it. Identifiers stay (trace, span, request and tool call ids, UUIDs, digests, order numbers) unless a name calls
them a secret. The cost grows with the text, whatever is in it. Nothing is looked up on a network.

Three kinds of evidence, each in its own module: a published format (``secret_formats``), the name before a value
(``secret_context``), the syntax of what carries it (``secret_carriers``).
"""

from __future__ import annotations

import re
from typing import Final

from governance.masking.profile import TextProfile
from governance.masking.recognisers import secret_carriers, secret_context, secret_formats
from governance.masking.recognisers.kit import Finder, Listed

_RUN: Final = re.compile(r"[!-~]{12}")
"""The shortest value that neither a password's name nor a scheme gives away."""
_LETTERS: Final = (*secret_context.SHORT_VALUES, "://", "cookie", "curl", "private key", "-lines", "data:")


class SecretRecognizer(Finder):
    """Finds secrets by their format, their name or their carrier."""

    entity = "SECRET"
    score = 1.0
    """A secret wins over what else is seen in the same letters: a mail address, a phone number."""

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where secrets stand, without overlap: of two that overlap, the union."""
        found: list[tuple[int, int]] = []
        for start, end in sorted(
            {*secret_formats.spans(text), *secret_context.spans(text), *secret_carriers.spans(text)}
        ):
            if found and start < found[-1][1]:
                found[-1] = (found[-1][0], max(end, found[-1][1]))
            else:
                found.append((start, end))
        return found


def _may_secret(profile: TextProfile) -> bool:
    """A secret is a long word, or what stands before it may hold a shorter one."""
    return _RUN.search(profile.text) is not None or any(letters in profile.folded for letters in _LETTERS)


def build() -> list[Listed]:
    """The finder."""
    return [Listed(SecretRecognizer(), _may_secret)]
