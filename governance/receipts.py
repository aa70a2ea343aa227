"""Consent receipts: what a person said on a purpose, as a record that they and others can read.

The form is the W3C's profile of ISO/IEC TS 27560:2023 (https://w3id.org/dpv/guides/consent-27560, "DPV-27560"), as
JSON-LD with the terms of DPV 2.3; the short names stand beside the IRIs. The receipt holds every event on record, each
with the notice that it was given to: the exact text where it is kept, and its SHA-256 in any case, so that anyone can
hold their own copy against it. Pure: it is made from records alone.

What only the company knows (who controls the data, where it lies, how to withdraw) comes from its own table of
controllers. A mandatory field that nothing fills is left out and named in ``missing``, never made up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from governance.records.base import digest_json
from governance.records.controller import Controller
from governance.records.retention import RETENTION, RetentionClass
from governance.records.rights import (
    BASIS_IRI,
    CONSENT_IRI,
    NO_NOTICE,
    PURPOSE_IRI,
    Basis,
    ConsentEvent,
    ConsentStatus,
    Purpose,
)

PROFILE: Final = "https://w3id.org/dpv/schema/dpv-27560"
CONTEXT: Final = {
    "dpv": "https://w3id.org/dpv#",
    "ai": "https://w3id.org/dpv/ai#",
    "eu-gdpr": "https://w3id.org/dpv/legal/eu/gdpr#",
    "dct": "http://purl.org/dc/terms/",
    "loc": "https://w3id.org/dpv/loc#",
    "tidemill": "urn:tidemill:term:",
}
MANDATORY: Final = {
    "dpv:hasDataController": "the controller",
    "dpv:hasJurisdiction": "the jurisdiction",
    "dpv:hasConsentControl": "the way to withdraw",
    "dct:language": "the language of the notice",
    "tidemill:storageLocation": "where the data lies",
}
"""Fields of the profile that only a table of controllers fills."""


def receipt(  # noqa: PLR0917 - a receipt is made of these
    tenant_id: str,
    purpose: Purpose,
    status: ConsentStatus | None,
    events: Sequence[ConsentEvent],
    notices: Mapping[str, str],
    controller: Controller | None,
    at: datetime,
    basis: Basis = Basis.CONSENT,
) -> dict[str, Any]:
    """The receipt of one person and purpose; ``events`` are theirs on that purpose, ``notices`` texts by digest.

    ``basis``: under which law their consent counts.
    """
    subject = events[0].subject
    record = {
        "@type": "dpv:ConsentRecord",
        "dct:conformsTo": f"{PROFILE}#record",
        "dct:identifier": digest_json([tenant_id, subject, purpose]),
        "dpv:hasDataSubject": {"@id": f"urn:tidemill:subject:{subject}", "@type": "dpv:DataSubject"},
        "dpv:hasProcess": _process(purpose, controller, basis),
        "dpv:hasConsentStatus": _term(CONSENT_IRI.get(status) if status else None, status),
        "dpv:hasStatus": [_event(event, notices, controller) for event in events],
    } | _party(tenant_id, controller)
    said = {
        "@context": CONTEXT,
        "@type": "dpv:ConsentReceipt",
        "dct:conformsTo": f"{PROFILE}#receipt",
        "dct:created": at.isoformat(),
        "dpv:hasRecordOfActivity": record,
    }
    named = digest_json(said)
    missing = [] if controller else list(MANDATORY)
    return {"@id": f"urn:tidemill:receipt:{named}", "dct:identifier": named, **said, "tidemill:missing": missing}


def _process(purpose: Purpose, controller: Controller | None, basis: Basis) -> dict[str, Any]:
    days = RETENTION[RetentionClass.CONTENT].days
    stored = [{"@type": "dpv:StorageDuration", "dpv:hasDuration": f"P{days}D"}]
    recipients = [] if controller is None else list(controller.recipients)
    where = [] if controller is None else controller.storage_locations
    stored += [{"@type": "dpv:StorageLocation", "dpv:hasLocation": f"loc:{code}"} for code in where]
    found: dict[str, Any] = {
        "@type": "dpv:Process",
        "dpv:hasPurpose": _term(PURPOSE_IRI[purpose], purpose),
        "dpv:hasLegalBasis": _term(BASIS_IRI[basis], basis),
        "dpv:hasPersonalData": {"@id": "dpv:PseudonymisedData", "dct:description": "masked words of runs of an agent"},
        "dpv:hasStorageCondition": stored,
        "dpv:hasRecipient": recipients,
    }
    if controller is not None:
        found["dpv:hasConsentControl"] = {"@type": "dpv:WithdrawConsent", "dct:description": controller.withdrawal}
    return found


def _party(tenant_id: str, controller: Controller | None) -> dict[str, Any]:
    if controller is None:
        return {}
    return {
        "dpv:hasDataController": {
            "@id": f"urn:tidemill:tenant:{tenant_id}",
            "@type": "dpv:DataController",
            "dct:identifier": tenant_id,
            "dpv:hasName": controller.name,
            "dpv:hasAddress": controller.address,
            "dpv:hasContact": controller.contact,
        },
        "dpv:hasJurisdiction": [f"loc:{code}" for code in controller.jurisdictions],
    }


def _event(event: ConsentEvent, notices: Mapping[str, str], controller: Controller | None) -> dict[str, Any]:
    text = notices.get(event.notice_digest)
    shown = event.notice_digest != NO_NOTICE
    notice = {
        "@id": f"urn:sha256:{event.notice_digest}",
        "@type": "dpv:ConsentNotice",
        **({"dct:description": text} if text is not None else {}),
        **({"dct:language": controller.language} if controller else {}),
    }
    return {
        "@id": f"urn:tidemill:event:{event.id}",
        "@type": CONSENT_IRI[event.status],
        "tidemill:status": event.status.value,
        "dct:date": event.valid_from.isoformat(),
        "dct:valid": None if event.valid_to is None else event.valid_to.isoformat(),
        "dct:dateSubmitted": event.recorded_at.isoformat(),
        "dpv:isIndicatedBy": {"@id": f"urn:tidemill:subject:{event.subject}"},
        **({"dpv:hasNotice": notice} if shown else {"tidemill:missing": ["dpv:hasNotice"]}),
    }


def _term(iri: str | None, short: str | None) -> dict[str, Any] | None:
    return None if iri is None or short is None else {"@id": iri, "tidemill:name": str(short)}
