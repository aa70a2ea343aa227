"""The public summary of training content that Art. 53(1)(d) of the EU AI Act asks for, in the AI Office's sections.

The template (Commission communication of 24 July 2025) has three parts: general information, the list of data sources,
and relevant data processing aspects. It is about general-purpose models; for an adapter it tells of what the adapter
was trained on, and names the base that has a summary of its own. Who provides the model, when it was placed on the
market and under which licence is in no table, so it is said as missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from governance.documents.dataset_facts import DatasetFacts
from governance.documents.page import Document, Field, section
from governance.records.release import ReleaseBundle

ROWS, LINES = ("dataset_rows",), ("dataset_lines",)
NOT_HELD = "no table holds it"


def training_summary(bundle: ReleaseBundle, facts: Sequence[DatasetFacts], now: datetime) -> Document:
    """The summary of a release's adapter."""
    fields = [*_general(bundle, facts), *_sources(facts), *_processing(facts)]
    release = bundle.release
    return Document(
        kind="training-summary",
        title=f"Summary of the training content of {release.name}",
        about=release.digest(),
        as_of=now,
        fields=tuple(fields),
    )


def _general(bundle: ReleaseBundle, facts: Sequence[DatasetFacts]) -> list[Field]:
    release = bundle.release
    spans = [one.span for one in facts if one.span]
    tokens = sum(one.tokens for one in facts)
    return section(
        "1 General information",
        [
            ("1.1 provider", None, (), NOT_HELD),
            ("1.2 model", {"release": release.digest(), "name": release.name}, ("releases",)),
            (
                "1.2 model dependencies",
                {"base": release.base.name, "digest": release.base.content_digest},
                ("releases",),
                "the base has a summary of its own",
            ),
            ("1.2 placed on the market", None, (), NOT_HELD),
            ("1.3 modality", "text" if facts else None, ROWS, "" if facts else "the release has no adapter"),
            ("1.3 size of the text", f"less than 1 billion tokens ({tokens})" if tokens else None, ROWS),
            ("1.3 types of content", "conversations of customers with agents" if facts else None, LINES),
            ("1.3 latest date of acquisition", max((one["to"] for one in spans), default=None), ("trajectories",)),
            ("1.3 languages", None, (), NOT_HELD),
        ],
    )


def _sources(facts: Sequence[DatasetFacts]) -> list[Field]:
    none = "every row comes from a tenant's own agents"
    tenants = {tenant: rows for one in facts for tenant, rows in one.counted(lambda line: line.tenant_id).items()}
    user = {
        "tenants": tenants,
        "people": len({person for one in facts for person in one.people}),
        "origin": [one.counted(lambda line: line.origin) for one in facts],
        "contracts": sorted({name for one in facts for name in one.contracts}),
    }
    return section(
        "2 List of data sources",
        [
            ("2.1 publicly available datasets", "none", LINES, none),
            ("2.2 private datasets of third parties", "none", LINES, none),
            ("2.3 data crawled and scraped online", "none", LINES, none),
            ("2.4 user data", user if facts else None, (*LINES, "contracts"), "interactions with the tenants' agents"),
            ("2.5 synthetic data", None, (), NOT_HELD),
            ("2.6 other sources", "none", LINES, none),
        ],
    )


def _processing(facts: Sequence[DatasetFacts]) -> list[Field]:
    exclusions = {one.root: one.version.exclusions for one in facts}
    risk = {one.root: {name: one.risk[name] for name in ("value", "sample", "rows")} for one in facts}
    return section(
        "3 Relevant data processing aspects",
        [
            ("3.1 reservation of rights (text and data mining)", None, (), "nothing is mined; no table holds opt-outs"),
            ("3.2 removal of content", exclusions, ("dataset_versions",), "left out before training, by reason"),
            ("3.3 legal bases", {one.root: one.bases for one in facts}, LINES),
            ("3.3 residual personal data", risk, ("row_reviews",), "leak rate of masked rows with its sample"),
        ],
    )
