"""What becomes of a span or of feedback at the door, besides an admitted span: refused, detained, heard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from governance.records.content import AdmittedSpan


@dataclass(frozen=True)
class Refusal:
    """A span that may not enter."""

    reason: str
    trace_id: str
    span_id: str


@dataclass(frozen=True)
class Detained:
    """What nobody may keep without a person's decision; it goes to quarantine."""

    types: tuple[str, ...]
    structure: AdmittedSpan | None = None
    """What of a span is kept meanwhile; of feedback nothing is."""
    reason: ClassVar[str] = "special_category"


@dataclass(frozen=True)
class Said:
    """What somebody said beside a span: feedback. ``words`` is None where there are none, or where they wait."""

    structure: Any
    words: Any
    subject: str
    raw_id: str | None = None


@dataclass(frozen=True)
class Heard:
    """What may be kept of it, masked; ``words`` is None where no right keeps them."""

    structure: Any
    words: Any
    mentions: tuple[str, ...]


def tally(admitted: Iterable[AdmittedSpan | Refusal | Detained]) -> Counter[str]:
    """How many spans were admitted, withheld, and refused or detained by reason."""
    return Counter(
        ("withheld" if one.content is None else "admitted") if isinstance(one, AdmittedSpan) else one.reason
        for one in admitted
    )
