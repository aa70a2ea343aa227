"""A request of a person about their data: what they asked for, until when it is due, what came of it."""

from __future__ import annotations

from enum import StrEnum

from governance.records.base import Record, UtcTime


class RequestKind(StrEnum):
    """What a person can ask for."""

    ACCESS = "access"
    """GDPR Art. 15."""
    PORTABILITY = "portability"
    """GDPR Art. 20, and a copy under Art. 15(3)."""
    RECTIFICATION = "rectification"
    """GDPR Art. 16."""
    RESTRICTION = "restriction"
    """GDPR Art. 18."""
    ERASURE = "erasure"
    """GDPR Art. 17."""


REQUEST_IRI: dict[RequestKind, str] = {
    RequestKind.ACCESS: "https://w3id.org/dpv/legal/eu/gdpr#A15",
    RequestKind.PORTABILITY: "https://w3id.org/dpv/legal/eu/gdpr#A20",
    RequestKind.RECTIFICATION: "https://w3id.org/dpv/legal/eu/gdpr#A16",
    RequestKind.RESTRICTION: "https://w3id.org/dpv/legal/eu/gdpr#A18",
    RequestKind.ERASURE: "https://w3id.org/dpv/legal/eu/gdpr#A17",
}


class RightsRequest(Record):
    """One request. An open one has no ``closed_at``; an erasure's ends with the certificate, which takes its place."""

    id: str
    tenant_id: str
    subject: str
    kind: RequestKind
    requested_at: UtcTime
    due_at: UtcTime
    actor: str
    """Who took it in."""
    closed_at: UtcTime | None = None
    outcome: str = ""
