"""Doubts: what of admitted content a person should look at, with the text that it stands in, still in clear.

A doubt lives in memory only, from the door to whoever seals it. There is one for each value near its threshold, named
by the value's keyed identifier, so a value that everybody repeats is asked about once; and one for each text of the
sample, drawn by a keyed digest of the text: no sender can choose what is looked at, and a replay draws the same.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from governance.masked_drafts import Finished, Read
from governance.ports.masker import Finding
from governance.records.base import canonical_json, digest_json
from governance.records.content import AdmittedSpan
from governance.records.review import ReviewKind, Spot

_ALL: Final = 2**64


@dataclass(frozen=True)
class Doubt:
    """One thing that a person should judge."""

    id: str
    tenant_id: str
    kind: ReviewKind
    subject: str
    trace_id: str
    span_id: str
    spots: tuple[Spot, ...]
    value: Any
    """The JSON value that the spots point into."""


class Doubter:
    """Draws the doubts of one batch; each value that the masker read is looked at once."""

    def __init__(self, tenant_id: str, key: bytes, share: float) -> None:
        """``key`` draws the sample, and ``share`` is how much of the texts it takes."""
        self._tenant_id = tenant_id
        self._key = key
        self._below = int(share * _ALL)
        self._seen: dict[int, Any] = {}
        self.doubts: dict[str, Doubt] = {}

    def look(self, span: AdmittedSpan, finished: Finished) -> None:
        """Take the doubts of one admitted span; without a sample only where something was found there are any."""
        for one in finished.read if self._below else finished.found:
            if id(one.masked) not in self._seen:
                self._seen[id(one.masked)] = one.masked  # held, so that no other object gets its place
                for name, kind, findings in self._of(one):
                    self.doubts.setdefault(name, self._doubt(name, kind, span, findings, one.value))

    def _of(self, read: Read) -> Iterator[tuple[str, ReviewKind, tuple[Finding, ...]]]:
        found = (*read.masked.findings, *read.masked.kept)
        for finding in found:
            if finding.near:
                kind = ReviewKind.LOW_CONFIDENCE
                yield self._name(kind, f"{finding.entity_type}/{finding.mention}"), kind, (finding,)
        if self._below:
            drawn = hmac.digest(self._key, canonical_json(read.value), hashlib.sha256)
            if int.from_bytes(drawn[:8], "big") < self._below:
                yield self._name(ReviewKind.SAMPLE, drawn.hex()), ReviewKind.SAMPLE, found

    def _name(self, kind: ReviewKind, what: str) -> str:
        return digest_json([self._tenant_id, kind.value, what])

    def _doubt(
        self, name: str, kind: ReviewKind, span: AdmittedSpan, findings: tuple[Finding, ...], value: Any
    ) -> Doubt:
        return Doubt(
            id=name,
            tenant_id=self._tenant_id,
            kind=kind,
            subject=span.subject,
            trace_id=span.span.trace_id,
            span_id=span.span.span_id,
            spots=tuple(_spot(finding) for finding in findings),
            value=value,
        )


def _spot(finding: Finding) -> Spot:
    return Spot.model_validate({name: getattr(finding, name) for name in Spot.model_fields})
