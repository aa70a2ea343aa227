"""Training rights: purposes, legal bases, contracts, consent events, verdicts.

Terms are those of the GDPR and of the W3C Data Privacy Vocabulary (DPV 2.3); each short name carries its IRI.
Records are append-only and bitemporal: ``valid_from``/``valid_to`` say when something holds, ``recorded_at`` when
it was known. A verdict is a pure function of these records (``governance.policy.rights``).
"""

from __future__ import annotations

from enum import StrEnum

from governance.records.base import Record, UtcTime


class Purpose(StrEnum):
    """What a read is for. Every read of the store names one."""

    SERVE = "serve"
    DEBUG = "debug"
    EVALUATE = "evaluate"
    IMPROVE_CONTEXT = "improve_context"
    IMPROVE_HARNESS = "improve_harness"
    TRAIN_WEIGHTS = "train_weights"
    COMPLY = "comply"
    """Rights requests, holds, retention and audit: never denied, always logged, bound to a role."""


PURPOSE_IRI: dict[Purpose, str] = {
    Purpose.SERVE: "https://w3id.org/dpv#ServiceProvision",
    Purpose.DEBUG: "https://w3id.org/dpv#ServiceOptimisation",
    Purpose.EVALUATE: "https://w3id.org/dpv#ServiceOptimisation",
    Purpose.IMPROVE_CONTEXT: "https://w3id.org/dpv#ImproveExistingProductsAndServices",
    Purpose.IMPROVE_HARNESS: "https://w3id.org/dpv#ImproveExistingProductsAndServices",
    Purpose.TRAIN_WEIGHTS: "https://w3id.org/dpv/ai#ModelFineTuning",
    Purpose.COMPLY: "https://w3id.org/dpv#LegalCompliance",
}


class Basis(StrEnum):
    """Legal basis."""

    CONSENT = "consent"
    CONTRACT = "contract"
    LEGITIMATE_INTEREST = "legitimate_interest"


BASIS_IRI: dict[Basis, str] = {
    Basis.CONSENT: "https://w3id.org/dpv/legal/eu/gdpr#A6-1-a",
    Basis.CONTRACT: "https://w3id.org/dpv/legal/eu/gdpr#A6-1-b",
    Basis.LEGITIMATE_INTEREST: "https://w3id.org/dpv/legal/eu/gdpr#A6-1-f",
}


class ConsentStatus(StrEnum):
    """State of a subject's consent to a purpose. Only ``given`` and ``renewed`` allow."""

    GIVEN = "given"
    RENEWED = "renewed"
    WITHDRAWN = "withdrawn"
    REFUSED = "refused"
    EXPIRED = "expired"


CONSENT_IRI: dict[ConsentStatus, str] = {
    ConsentStatus.GIVEN: "https://w3id.org/dpv#ConsentGiven",
    ConsentStatus.RENEWED: "https://w3id.org/dpv#RenewedConsentGiven",
    ConsentStatus.WITHDRAWN: "https://w3id.org/dpv#ConsentWithdrawn",
    ConsentStatus.REFUSED: "https://w3id.org/dpv#ConsentRefused",
    ConsentStatus.EXPIRED: "https://w3id.org/dpv#ConsentExpired",
}


class Reason(StrEnum):
    """Why a verdict allows or denies, or why a row was left out of something."""

    ALLOWED = "allowed"
    COMPLY = "comply"
    UNKNOWN_SUBJECT = "unknown_subject"
    SUPPRESSED = "suppressed"
    NO_CONTRACT = "no_contract"
    CONTRACT_FORBIDS_PURPOSE = "contract_forbids_purpose"
    CONTRACT_FORBIDS_SHARED_ADAPTER = "contract_forbids_shared_adapter"
    NO_GRANT = "no_grant"
    CONSENT_WITHDRAWN = "consent_withdrawn"
    CONSENT_REFUSED = "consent_refused"
    CONSENT_EXPIRED = "consent_expired"
    CONTENT_WITHHELD = "content_withheld"
    HELD = "held"


class PurposeTerm(Record):
    """A contract's word on one purpose: whether allowed, and on which basis a person's data may be used for it."""

    purpose: Purpose
    basis: Basis
    """``consent`` needs a consent event of the subject; the other bases hold unless the person withdrew."""


class Contract(Record):
    """What a tenant agreed to. A purpose without a term is forbidden."""

    id: str
    tenant_id: str
    terms: tuple[PurposeTerm, ...]
    shared_adapter: bool = False
    """Whether rows of this tenant may go into an adapter that other tenants use."""
    valid_from: UtcTime
    valid_to: UtcTime | None = None
    recorded_at: UtcTime


class ConsentEvent(Record):
    """A subject gave, refused or withdrew consent to a purpose."""

    id: str
    tenant_id: str
    subject: str
    purpose: Purpose
    status: ConsentStatus
    notice_digest: str
    """SHA-256 of the exact notice text that was shown."""
    valid_from: UtcTime
    valid_to: UtcTime | None = None
    recorded_at: UtcTime
    actor: str


class Suppression(Record):
    """Keeps an erased subject from coming back in."""

    tenant_id: str
    subject: str
    since: UtcTime
    request_id: str


class Verdict(Record):
    """Allow or deny, with reasons, for a subject and a purpose at a time. Derived, replayable, never edited."""

    allowed: bool
    purpose: Purpose
    reasons: tuple[Reason, ...]
    basis: Basis | None = None
    as_of: UtcTime
    policy_version: str
