"""What ties feedback to a run: the response ids in its spans, and the key that a signal keeps of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from governance.records.content import AdmittedSpan

FROM: Final = "feedback"
"""The key of a signal's detail that holds the key of the feedback that the signal was made from."""


def responses(spans: Iterable[AdmittedSpan]) -> dict[str, str]:
    """``gen_ai.response.id`` to the id of its span; of several the first."""
    found: dict[str, str] = {}
    for item in spans:
        named = item.span.attributes.get("gen_ai.response.id")
        if isinstance(named, str) and named:
            found.setdefault(named, item.span.span_id)
    return found
