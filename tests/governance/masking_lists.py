"""Detectors and policies that tests of masking policies set up by hand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from governance.keys import DerivedKeyProvider
from governance.masking.detection import Detector, TextKind
from governance.masking.judgement import listed
from governance.masking.spans import Hit
from governance.masking.surrogate import Surrogates
from governance.ports.masker import MaskingPolicies
from governance.records.masking_list import ListAct, ListEvent, ListName
from governance.records.masking_policy import ListedValue, MaskingPolicy

KEYS = DerivedKeyProvider("masking policies")
LATER = datetime(2027, 1, 1, tzinfo=UTC)
PATTERNS = {
    "EMAIL_ADDRESS": (r"[\w.]+@[\w.]+\w", 1.0),
    "PERSON": (r"\b(?:Ann|Bert) [A-Z]\w+", 0.85),
    "ORGANIZATION": (r"\bAcme\b", 0.6),
    "HEALTH": (r"\bdiabetes\b", 0.7),
}


class PatternDetector(Detector):
    """Finds by the patterns above: quick, and every score is known."""

    def find(self, texts: Sequence[tuple[str, TextKind]]) -> list[tuple[Hit, ...]]:
        return [self._find(text) for text, _ in texts]

    def _find(self, text: str) -> tuple[Hit, ...]:
        found = [
            Hit(match.start(), match.end(), kind, score)
            for kind, (pattern, score) in PATTERNS.items()
            for match in re.finditer(pattern, text)
        ]
        return tuple(sorted(found, key=lambda hit: hit.start))


class OnePolicy(MaskingPolicies):
    """The policy that the test sets."""

    def __init__(self, policy: MaskingPolicy | None = None) -> None:
        self.held = policy or MaskingPolicy()

    def policy(self, tenant_id: str) -> MaskingPolicy:
        return self.held


def value(entity_type: str, text: str, tenant_id: str = "t") -> ListedValue:
    mention, words = listed(Surrogates(KEYS, tenant_id).mention, entity_type, text)
    return ListedValue(
        mention=mention, entity_type=entity_type, words=words, owner="privacy team", reason="test", expires_at=LATER
    )


def event(which: ListName, entity_type: str, text: str, at: datetime, **changes: Any) -> ListEvent:
    """An entry of a week."""
    surrogates = Surrogates(KEYS, changes.get("tenant_id", "t"))
    mention, words = listed(surrogates.mention, entity_type, text)
    made = ListEvent(
        tenant_id="t", list_name=which, act=ListAct.ADD, entity_type=entity_type, mention=mention, words=words,
        subject=surrogates.subject(text), owner="privacy team", reason="test", actor="r-17", at=at,
        until=at + timedelta(days=7),
    )  # fmt: skip
    return made.model_copy(update=changes)
