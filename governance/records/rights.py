"""Training rights: purposes, legal bases, contracts, consent events, verdicts.

Terms are those of the GDPR and of the W3C Data Privacy Vocabulary (DPV 2.3); each short name carries its IRI.
Records are append-only and bitemporal: ``valid_from``/``valid_to`` say when something holds, ``recorded_at`` when
it was known. A verdict is a pure function of these records (``governance.policy.rights``).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, Self

from pydantic import StringConstraints, model_validator

from governance.records.base import Record, UtcTime, digest_bytes


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
    """Legal basis: those of the GDPR, and those of Korea's Personal Information Protection Act (PIPA)."""

    CONSENT = "consent"
    CONTRACT = "contract"
    LEGITIMATE_INTEREST = "legitimate_interest"
    PIPA_15_1_1 = "pipa_15_1_1"
    """Consent."""
    PIPA_15_1_4 = "pipa_15_1_4"
    """To conclude or perform a contract with the person."""
    PIPA_15_1_6 = "pipa_15_1_6"
    """A legitimate interest that clearly takes precedence over the person's rights."""
    PIPA_15_3 = "pipa_15_3"
    """Further use in the reasonable scope of the purpose of collection: needs a compatibility assessment."""
    PIPA_28_2 = "pipa_28_2"
    """Pseudonymised information for statistics, scientific research or records in the public interest: needs a
    declaration (``governance.records.pseudonymised``)."""


CONSENT_BASES: Final = frozenset({Basis.CONSENT, Basis.PIPA_15_1_1})
"""Bases that are nothing without the person's word."""
KOREA: Final = "KR"
KOREAN_BASES: Final = frozenset(basis for basis in Basis if basis.value.startswith("pipa_"))
"""Bases of Korean law, which stand in terms for Korea alone."""
BASIS_IRI: dict[Basis, str] = {
    Basis.CONSENT: "https://w3id.org/dpv/legal/eu/gdpr#A6-1-a",
    Basis.CONTRACT: "https://w3id.org/dpv/legal/eu/gdpr#A6-1-b",
    Basis.LEGITIMATE_INTEREST: "https://w3id.org/dpv/legal/eu/gdpr#A6-1-f",
    # DPV has no terms for PIPA: these are the project's own.
    Basis.PIPA_15_1_1: "urn:tidemill:term:pipa:A15-1-1",
    Basis.PIPA_15_1_4: "urn:tidemill:term:pipa:A15-1-4",
    Basis.PIPA_15_1_6: "urn:tidemill:term:pipa:A15-1-6",
    Basis.PIPA_15_3: "urn:tidemill:term:pipa:A15-3",
    Basis.PIPA_28_2: "urn:tidemill:term:pipa:A28-2",
}


class ConsentStatus(StrEnum):
    """What a subject said about a purpose. Only ``given`` and ``renewed`` allow on the basis of consent."""

    GIVEN = "given"
    RENEWED = "renewed"
    WITHDRAWN = "withdrawn"
    REFUSED = "refused"
    EXPIRED = "expired"
    OBJECTED = "objected"
    """GDPR Art. 21: ends the use on every basis."""


CONSENT_IRI: dict[ConsentStatus, str] = {
    ConsentStatus.GIVEN: "https://w3id.org/dpv#ConsentGiven",
    ConsentStatus.RENEWED: "https://w3id.org/dpv#RenewedConsentGiven",
    ConsentStatus.WITHDRAWN: "https://w3id.org/dpv#ConsentWithdrawn",
    ConsentStatus.REFUSED: "https://w3id.org/dpv#ConsentRefused",
    ConsentStatus.EXPIRED: "https://w3id.org/dpv#ConsentExpired",
    ConsentStatus.OBJECTED: "https://w3id.org/dpv#LegitimateInterestObjected",
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
    OBJECTED = "objected"
    RESTRICTED = "restricted"
    MINOR = "minor"
    REGION_FORBIDDEN = "region_forbidden"
    NO_COMPATIBILITY_ASSESSMENT = "no_compatibility_assessment"
    NO_DECLARATION = "no_declaration"
    """The basis is pseudonymised processing, and no declaration of it covers the purpose and the row's categories."""
    SPECIAL_CATEGORY = "special_category"
    CONTESTED = "contested"
    UNLAWFUL_SOURCE = "unlawful_source"
    CONTENT_WITHHELD = "content_withheld"
    HELD = "held"
    EVIDENCE_EXPIRED = "evidence_expired"
    """What decided then is not kept any more: nobody can say what the verdict was."""


NO_NOTICE: Final = digest_bytes(b"")
"""What an event names that was recorded without the text that was shown."""


class PurposeTerm(Record):
    """A contract's word on one purpose: whether allowed, and on which basis a person's data may be used for it."""

    purpose: Purpose
    basis: Basis
    """``consent`` needs a consent event of the subject; the other bases hold unless the person withdrew."""
    jurisdiction: Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}(-[A-Z0-9]{1,3})?$")] | None = None
    """The ISO 3166 code of the people whom it is about; None: everybody for whom no other term of the purpose is."""

    @model_validator(mode="after")
    def _korean_bases_are_for_korea(self) -> Self:
        if self.basis in KOREAN_BASES and (self.jurisdiction or "").partition("-")[0] != KOREA:
            raise ValueError(f"{self.basis} is a basis of Korean law: its term is for the jurisdiction {KOREA}")
        return self


class Contract(Record):
    """What a tenant agreed to. A purpose without a term is forbidden."""

    id: str
    tenant_id: str
    terms: tuple[PurposeTerm, ...]
    shared_adapter: bool = False
    """Whether rows of this tenant may go into an adapter that other tenants use."""
    collected_for: tuple[Purpose, ...] | None = None
    """The purposes that people were told when their data was collected; None: those of the terms. Any other purpose
    needs consent or a compatibility assessment (GDPR Art. 6(4))."""
    regions: tuple[str, ...] | None = None
    """ISO 3166 codes of the jurisdictions whose people's data may be used beyond the service; None: all."""
    valid_from: UtcTime
    valid_to: UtcTime | None = None
    recorded_at: UtcTime

    @model_validator(mode="after")
    def _one_basis_for_a_purpose(self) -> Self:
        named = [(term.purpose, term.jurisdiction) for term in self.terms]
        if len(set(named)) < len(named):
            raise ValueError("a contract names one basis for a purpose and jurisdiction")
        return self


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


class ConsentState(Record):
    """What counts of a person's words on a purpose at a moment, and the notice to which it was said."""

    status: ConsentStatus | None
    """None: they never said anything."""
    event_id: str | None = None
    notice_digest: str | None = None
    """SHA-256 of the exact notice text."""
    since: UtcTime | None = None
    as_of: UtcTime


class FactKind(StrEnum):
    """What else decides a verdict."""

    HOLD = "hold"
    """A legal hold: what it covers is neither deleted nor learned from."""
    RESTRICTION = "restriction"
    """GDPR Art. 18: kept, and used for nothing."""
    MINOR = "minor"
    JURISDICTION = "jurisdiction"
    """``value`` is an ISO 3166 code."""
    COMPATIBILITY = "compatibility"
    """An approved assessment that a further purpose is compatible with the one that data was collected for."""
    SPECIAL_CATEGORY = "special_category"
    """What was said tells of a special category (GDPR Art. 9)."""
    SPECIAL_BASIS = "special_basis"
    """A basis of its own for special categories (GDPR Art. 9(2))."""
    CONTESTED = "contested"
    """The person contested the decision: it is no label to learn from."""
    UNLAWFUL = "unlawful"
    """The source was found unlawful."""
    PSEUDONYMISED = "pseudonymised"
    """A declared processing of pseudonymised information stands (PIPA 28-2); ``value`` lists its data categories."""
    HIGH_RISK = "high_risk"
    """Logs of a high-risk system, which have a minimum age (AI Act Art. 19, 26(6)); decides retention, no verdict."""


class RightsFact(Record):
    """Something that decides verdicts: about a run, a person, or everybody of a tenant.

    Append-only: a fact is changed or ended by one that ``supersedes`` it.
    """

    id: str
    tenant_id: str
    kind: FactKind
    subject: str | None = None
    """None: everybody of the tenant."""
    trajectory_id: str | None = None
    """``tenant/trace``; None: all of the subject's."""
    purpose: Purpose | None = None
    """None: every purpose."""
    value: str = ""
    reason: str
    """A case or a document by its number; never personal data."""
    valid_from: UtcTime
    valid_to: UtcTime | None = None
    recorded_at: UtcTime
    supersedes: str | None = None
    """The fact that this one takes the place of, from ``recorded_at`` on."""
    actor: str

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if self.trajectory_id is not None and not self.trajectory_id.startswith(f"{self.tenant_id}/"):
            raise ValueError("the id of a run is its tenant, a slash and its trace")
        if self.supersedes is not None and self.valid_from > self.recorded_at:
            raise ValueError("what takes the place of a fact holds from now on or from before, not from later")
        return self


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


class Replay(Record):
    """A verdict of a past moment, judged again from what is stored."""

    verdict: Verdict | None
    """None where the evidence has expired: neither allowed nor denied."""
    reason: Reason
    as_of: UtcTime
    policy_version: str
    """The policy that was in force then, or that was asked for."""
