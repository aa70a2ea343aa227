"""The page of a dataset version: where it came from, by which rights, what is left out, what was made of it."""

from __future__ import annotations

from governance.documents.dataset_facts import DatasetFacts
from governance.documents.page import Document, Field, section
from governance.records.rights import PURPOSE_IRI

LINES = ("dataset_lines",)
VERSION = ("dataset_versions",)


def dataset_card(facts: DatasetFacts) -> Document:
    """The card of a version."""
    fields = [*_origin(facts), *_rights(facts), *_exclusions(facts), *_risk(facts), *_forward(facts), *_signed(facts)]
    return Document(
        kind="dataset-card",
        title=f"Dataset card {facts.root[:12]}",
        about=facts.root,
        as_of=facts.now,
        fields=tuple(fields),
    )


def _origin(facts: DatasetFacts) -> list[Field]:
    version = facts.version
    return section(
        "Origin and preparation",
        [
            ("scope", version.scope, VERSION),
            ("made", {"at": version.at.isoformat(), "for": version.made_for.value, "parent": version.parent}, VERSION),
            ("Merkle root", version.merkle_root, VERSION),
            ("rows", len(version.leaves), VERSION),
            ("origin", facts.counted(lambda line: line.origin), LINES, "takeover: a person's demonstration"),
            ("tenants", facts.counted(lambda line: line.tenant_id), LINES),
            ("time of the runs", facts.span, ("trajectories",), "of the runs that are still held"),
            ("original purpose", facts.contracts, ("contracts",), "what people were told when it was collected"),
            ("preparation", version.preparation, VERSION, "digests and settings that rows were made with"),
        ],
    )


def _rights(facts: DatasetFacts) -> list[Field]:
    purposes = {one.verdict.purpose for one in facts.lines.values()}
    return section(
        "People and rights",
        [
            ("subjects", len(facts.people), LINES),
            ("jurisdictions", facts.jurisdictions, ("rights_facts",)),
            ("purpose", {one.value: PURPOSE_IRI[one] for one in sorted(purposes)}, LINES),
            ("legal bases", facts.bases, LINES),
            ("verdicts", facts.counted(lambda line: ", ".join(line.verdict.reasons)), LINES),
            ("policy version", version_counts(facts), LINES),
            ("earliest expiry", facts.ends, ("dataset_rows", "trajectories", "consent_events", "contracts")),
            ("holds", facts.holds, ("rights_facts",), "" if facts.holds else "no legal hold stands over it"),
        ],
    )


def version_counts(facts: DatasetFacts) -> dict[str, int]:
    """Policy version to the rows that it admitted."""
    return facts.counted(lambda line: line.verdict.policy_version)


def _exclusions(facts: DatasetFacts) -> list[Field]:
    unreviewed = facts.risk["rows"] - facts.risk["sample"]
    unknown = facts.jurisdictions.get("unknown", 0)
    return section(
        "Exclusions and gaps",
        [
            ("exclusions by reason", facts.version.exclusions, VERSION),
            ("lines that left with their person", facts.left, ("dataset_versions", "dataset_lines")),
            ("people without a known jurisdiction", unknown, ("rights_facts",)),
            ("rows that no reviewer looked at", unreviewed, ("row_reviews",)),
        ],
    )


def _risk(facts: DatasetFacts) -> list[Field]:
    risk = facts.risk
    note = "" if risk["sample"] else "no row was looked at; see: tidemill pii risk"
    return section(
        "Residual PII risk",
        [
            ("leak rate", risk["value"], ("row_reviews",), note),
            ("sample size", risk["sample"], ("row_reviews",)),
            ("interval", risk["interval"] if risk["sample"] else None, ("row_reviews",), note),
            ("leaks by type", risk["leaks"], ("row_reviews",), note or ("" if risk["leaks"] else "none was seen")),
        ],
    )


def _forward(facts: DatasetFacts) -> list[Field]:
    tables = ("lineage_edges",)
    return section(
        "What was made of it",
        [
            ("adapters", facts.descendants.get("adapter"), tables),
            ("releases", facts.descendants.get("release"), tables),
            ("gate reports", facts.descendants.get("gate_report"), tables),
            ("live releases", facts.live, ("lineage_edges", "deployments"), "" if facts.live else "none serves now"),
            (
                "recipients of exports",
                {one.target: one.as_of.isoformat() for one in facts.exports},
                ("dataset_uses",),
                "" if facts.exports else "it was exported to nobody",
            ),
        ],
    )


def _signed(facts: DatasetFacts) -> list[Field]:
    approved = "" if facts.last_approved else "no earlier version of this scope is approved"
    signed = [
        {"decision": one.decision.value, "by": one.approver, "role": one.role.value, "at": one.at.isoformat(),
         "until": one.until.isoformat(), "reason": one.reason}
        for one in facts.decisions()
    ]  # fmt: skip
    return section(
        "Sign-off",
        [
            ("diff to the last approved version", facts.difference, ("dataset_lines", "approvals"), approved),
            (
                "sign-off",
                signed,
                ("approvals",),
                "" if signed else "nobody decided; see: tidemill approval give",
            ),
        ],
    )
