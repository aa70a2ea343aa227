"""The 22 fields of the Data & Trust Alliance's Data Provenance Standards: source, provenance, use."""

from __future__ import annotations

from governance.documents.dataset_facts import DatasetFacts
from governance.documents.page import Document, Field, section
from governance.records.rights import PURPOSE_IRI

VERSION, LINES = ("dataset_versions",), ("dataset_lines",)
NOT_HELD = "no table holds it"
STANDARD = "Data Provenance Standards 1.0.0"


def provenance(facts: DatasetFacts) -> Document:
    """The fields of a dataset version."""
    return Document(
        kind="provenance",
        title=f"Data provenance of dataset {facts.root[:12]}",
        about=facts.root,
        as_of=facts.now,
        fields=(*_source(facts), *_provenance(facts), *_use(facts)),
    )


def _source(facts: DatasetFacts) -> list[Field]:
    rows = len(facts.version.leaves)
    return section(
        "Source",
        [
            ("Standards version used", STANDARD, ()),
            ("Dataset title/name", f"{facts.version.scope} {facts.root[:12]}", VERSION),
            ("Unique metadata identifier", facts.version.merkle_root, VERSION),
            ("Metadata location", f"tidemill dataset show {facts.root}", VERSION),
            ("Dataset issuer", None, (), NOT_HELD),
            (
                "Description of the dataset",
                f"{rows} runs of agents of {facts.version.scope}, to train weights",
                VERSION,
            ),
        ],
    )


def _provenance(facts: DatasetFacts) -> list[Field]:
    before = facts.last_approved
    issued = None if before is None else facts.store.manifests.version(before).at.isoformat()
    earlier = "" if issued else "no earlier version is approved"
    regions = {name: count for name, count in facts.jurisdictions.items() if name != "unknown"}
    return section(
        "Provenance",
        [
            ("Source metadata for dataset", facts.version.parent, VERSION, "" if facts.version.parent else "no parent"),
            ("Source (if different from issuer)", facts.tenants, LINES, "the tenants"),
            ("Data origin geography", regions, ("rights_facts",), "" if regions else "no fact says it"),
            ("Dataset issue date", facts.version.at.isoformat(), VERSION),
            ("Date of previously issued version of the dataset", issued, ("dataset_versions", "approvals"), earlier),
            ("Range of dates for data generation", facts.span, ("trajectories",)),
            ("Method", facts.counted(lambda line: line.origin), LINES, "recorded in use: OpenTelemetry spans"),
            ("Data format", "token ids with a mask, as JSON lines", ("dataset_rows",)),
        ],
    )


def _use(facts: DatasetFacts) -> list[Field]:
    purposes = {one.verdict.purpose for one in facts.lines.values()}
    return section(
        "Use",
        [
            ("Confidentiality classification", None, (), NOT_HELD),
            ("Consent documentation location", _consents(facts), ("dataset_lines", "consent_events")),
            ("Privacy enhancing technologies (PETs) or tools applied", _tools(facts), ("row_reviews", "ledger")),
            ("Data processing geography inclusion/exclusion", None, (), NOT_HELD),
            ("Data storage geography inclusion/exclusion", None, (), NOT_HELD),
            ("License to use", facts.contracts, ("contracts",)),
            ("Intended data use", {one.value: PURPOSE_IRI[one] for one in sorted(purposes)}, LINES),
            ("Proprietary data presence", None, (), NOT_HELD),
        ],
    )


def _consents(facts: DatasetFacts) -> dict[str, object] | None:
    """How many rows rest on consent, and where each notice's digest stands."""
    consent = facts.bases.get("consent")
    return None if consent is None else {**consent, "where": "consent_events.notice_digest"}


def _tools(facts: DatasetFacts) -> dict[str, object]:
    masked = sum(
        count
        for line in facts.store.ledger.lines()
        if line.tenant_id in facts.tenants
        for types in line.findings.values()
        for count in types.values()
    )
    return {"values masked in the tenants' spans": masked, "leak rate": facts.risk["value"], "rows": facts.risk["rows"]}
