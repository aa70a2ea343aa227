"""The first tables, as they were at this revision: frozen here, whatever the mapped classes become."""

from __future__ import annotations

from alembic import op
from sqlalchemy import (
    Column,
    DateTime,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
)

from governance.store.base import NAMING

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TIME = DateTime(timezone=True)
TABLES = MetaData(naming_convention=NAMING)

Table(
    "adapters",
    TABLES,
    Column("content_digest", String, primary_key=True),
    Column("dataset_digest", String, nullable=False),
    Column("path", String, nullable=False),
    Column("body", Text, nullable=False),
    Column("probe", Text, nullable=False),
    Column("retired_reason", String),
    Column("expires_at", TIME, nullable=False),
    Index("ix_adapters_dataset_digest", "dataset_digest"),
    Index("ix_adapters_expires_at", "expires_at"),
)
Table(
    "audit_events",
    TABLES,
    Column("tenant_id", String, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("id", String, nullable=False),
    Column("at", TIME, nullable=False),
    Column("body", Text, nullable=False),
    Column("chain", String, nullable=False),
    Index("ix_audit_events_id", "id", unique=True),
)
Table(
    "blocks",
    TABLES,
    Column("tenant_id", String, primary_key=True),
    Column("digest", String, primary_key=True),
    Column("body", Text, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Index("ix_blocks_expires_at", "expires_at"),
)
Table(
    "consent_events",
    TABLES,
    Column("expires_at", TIME, nullable=False),
    Column("id", String, primary_key=True),
    Column("tenant_id", String, nullable=False),
    Column("subject", String, nullable=False),
    Column("purpose", String, nullable=False),
    Column("status", String, nullable=False),
    Column("restraint", Integer, nullable=False),
    Column("notice_digest", String, nullable=False),
    Column("valid_from", TIME, nullable=False),
    Column("valid_to", TIME),
    Column("recorded_at", TIME, nullable=False),
    Column("actor", String, nullable=False),
    Index("ix_consent_events_expires_at", "expires_at"),
    Index("ix_consent_events_tenant_id_purpose_subject", "tenant_id", "purpose", "subject"),
    Index("ix_consent_events_tenant_id_subject", "tenant_id", "subject"),
)
Table(
    "contracts",
    TABLES,
    Column("id", String, primary_key=True),
    Column("tenant_id", String, nullable=False),
    Column("recorded_at", TIME, nullable=False),
    Column("body", Text, nullable=False),
    Index("ix_contracts_tenant_id", "tenant_id"),
)
Table(
    "cycles",
    TABLES,
    Column("id", String, primary_key=True),
    Column("scope", String, nullable=False),
    Column("window_start", TIME, nullable=False),
    Column("body", Text, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Index("ix_cycles_expires_at", "expires_at"),
    Index("ix_cycles_scope", "scope"),
)
Table(
    "dataset_exclusions",
    TABLES,
    Column("root", String, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("tenant_id", String, nullable=False),
    Column("subject", String, nullable=False),
    Column("trajectory_id", String, nullable=False),
    Column("reason", String, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Index("ix_dataset_exclusions_expires_at", "expires_at"),
    Index("ix_dataset_exclusions_tenant_id_subject", "tenant_id", "subject"),
    Index("ix_dataset_exclusions_trajectory_id", "trajectory_id"),
)
Table(
    "dataset_rows",
    TABLES,
    Column("root", String, primary_key=True),
    Column("digest", String, primary_key=True),
    Column("position", Integer, nullable=False),
    Column("tenant_id", String, nullable=False),
    Column("subject", String, nullable=False),
    Column("trajectory_id", String, nullable=False),
    Column("body", Text, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Index("ix_dataset_rows_expires_at", "expires_at"),
    Index("ix_dataset_rows_tenant_id_subject", "tenant_id", "subject"),
)
Table(
    "datasets",
    TABLES,
    Column("root", String, primary_key=True),
    Column("scope", String, nullable=False),
    Column("body", Text, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Index("ix_datasets_expires_at", "expires_at"),
)
Table(
    "deployments",
    TABLES,
    Column("scope", String, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("release_digest", String, nullable=False),
    Column("previous_digest", String),
    Column("reason", String, nullable=False),
    Column("actor", String, nullable=False),
    Column("at", TIME, nullable=False),
)
Table(
    "erasures",
    TABLES,
    Column("request_id", String, primary_key=True),
    Column("tenant_id", String, nullable=False),
    Column("subject", String, nullable=False),
    Column("at", TIME, nullable=False),
    Column("body", Text, nullable=False),
)
Table(
    "gate_reports",
    TABLES,
    Column("digest", String, primary_key=True),
    Column("cycle_id", String, nullable=False),
    Column("scope", String, nullable=False),
    Column("at", TIME, nullable=False),
    Column("body", Text, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Index("ix_gate_reports_expires_at", "expires_at"),
    Index("ix_gate_reports_scope_at", "scope", "at"),
)
Table(
    "grades",
    TABLES,
    Column("release_digest", String, primary_key=True),
    Column("task_digest", String, primary_key=True),
    Column("cycle_id", String, nullable=False),
    Column("arm", String, nullable=False),
    Column("tenant_id", String, nullable=False),
    Column("subject", String, nullable=False),
    Column("grade", Text, nullable=False),
    Column("rollout", Text, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Index("ix_grades_expires_at", "expires_at"),
    Index("ix_grades_tenant_id_subject", "tenant_id", "subject"),
)
Table(
    "ledger",
    TABLES,
    Column("segment_id", String, primary_key=True),
    Column("tenant_id", String, primary_key=True),
    Column("day", String, primary_key=True),
    Column("received", Integer, nullable=False),
    Column("withheld", Integer, nullable=False),
    Column("fates", Text, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Index("ix_ledger_expires_at", "expires_at"),
    Index("ix_ledger_tenant_id_day", "tenant_id", "day"),
)
Table(
    "lineage_edges",
    TABLES,
    Column("derived_kind", String, primary_key=True),
    Column("derived_id", String, primary_key=True),
    Column("source_kind", String, primary_key=True),
    Column("source_id", String, primary_key=True),
    Index("ix_lineage_edges_source_kind_source_id", "source_kind", "source_id"),
)
Table(
    "patterns",
    TABLES,
    Column("cycle_id", String, primary_key=True),
    Column("key", String, primary_key=True),
    Column("position", Integer, nullable=False),
    Column("scope", String, nullable=False),
    Column("body", Text, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Index("ix_patterns_expires_at", "expires_at"),
)
Table(
    "proposals",
    TABLES,
    Column("cycle_id", String, primary_key=True),
    Column("digest", String, primary_key=True),
    Column("position", Integer, nullable=False),
    Column("pattern_key", String, nullable=False),
    Column("scope", String, nullable=False),
    Column("body", Text, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Index("ix_proposals_expires_at", "expires_at"),
)
Table(
    "quarantine",
    TABLES,
    Column("id", String, primary_key=True),
    Column("tenant_id", String, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Column("reason", String, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Index("ix_quarantine_expires_at", "expires_at"),
)
Table(
    "releases",
    TABLES,
    Column("digest", String, primary_key=True),
    Column("parent", String),
    Column("reason", String, nullable=False),
    Column("adapter_digest", String),
    Column("tainted_reason", String),
    Column("recorded_at", TIME, nullable=False),
    Column("body", Text, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Index("ix_releases_adapter_digest", "adapter_digest"),
    Index("ix_releases_expires_at", "expires_at"),
)
Table(
    "segments",
    TABLES,
    Column("segment_id", String, primary_key=True),
    Column("finished_at", TIME, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Index("ix_segments_expires_at", "expires_at"),
)
Table(
    "signals",
    TABLES,
    Column("id", String, primary_key=True),
    Column("tenant_id", String, nullable=False),
    Column("subject", String, nullable=False),
    Column("trajectory_id", String, nullable=False),
    Column("at", TIME, nullable=False),
    Column("body", Text, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Index("ix_signals_expires_at", "expires_at"),
    Index("ix_signals_tenant_id_at", "tenant_id", "at"),
    Index("ix_signals_tenant_id_subject", "tenant_id", "subject"),
    Index("ix_signals_trajectory_id", "trajectory_id"),
)
Table(
    "spans",
    TABLES,
    Column("tenant_id", String, primary_key=True),
    Column("trace_id", String, primary_key=True),
    Column("span_id", String, primary_key=True),
    Column("subject", String, nullable=False),
    Column("start_unix_nano", String, nullable=False),
    Column("body", Text, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Index("ix_spans_expires_at", "expires_at"),
    Index("ix_spans_tenant_id_subject", "tenant_id", "subject"),
)
Table(
    "steps",
    TABLES,
    Column("cycle_id", String, primary_key=True),
    Column("step", String, primary_key=True),
    Column("input_digest", String, primary_key=True),
    Column("at", TIME, nullable=False),
    Column("body", Text, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Index("ix_steps_expires_at", "expires_at"),
)
Table(
    "suppressions",
    TABLES,
    Column("tenant_id", String, primary_key=True),
    Column("subject", String, primary_key=True),
    Column("since", TIME, nullable=False),
    Column("request_id", String, nullable=False),
)
Table(
    "tasks",
    TABLES,
    Column("cycle_id", String, primary_key=True),
    Column("digest", String, primary_key=True),
    Column("tenant_id", String, nullable=False),
    Column("subject", String, nullable=False),
    Column("split", String, nullable=False),
    Column("at", TIME, nullable=False),
    Column("body", Text, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Index("ix_tasks_digest", "digest"),
    Index("ix_tasks_expires_at", "expires_at"),
    Index("ix_tasks_tenant_id_subject", "tenant_id", "subject"),
)
Table(
    "trace_versions",
    TABLES,
    Column("expires_at", TIME, nullable=False),
    Column("tenant_id", String, primary_key=True),
    Column("trace_id", String, primary_key=True),
    Column("version", Integer, nullable=False),
    Column("clean", Integer, nullable=False),
    Index("ix_trace_versions_expires_at", "expires_at"),
)
Table(
    "trajectories",
    TABLES,
    Column("id", String, primary_key=True),
    Column("tenant_id", String, nullable=False),
    Column("trace_id", String, nullable=False),
    Column("session_id", String, nullable=False),
    Column("subject", String, nullable=False),
    Column("started_at", TIME, nullable=False),
    Column("body", Text, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Index("ix_trajectories_expires_at", "expires_at"),
    Index("ix_trajectories_tenant_id_started_at", "tenant_id", "started_at"),
    Index("ix_trajectories_tenant_id_subject", "tenant_id", "subject"),
)
Table(
    "worlds",
    TABLES,
    Column("tenant_id", String, primary_key=True),
    Column("masked_digest", String, primary_key=True),
    Column("source_digest", String, nullable=False),
    Column("at", TIME, nullable=False),
    Column("body", Text, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Index("ix_worlds_expires_at", "expires_at"),
    Index("ix_worlds_tenant_id_source_digest", "tenant_id", "source_digest", unique=True),
)
Table(
    "block_refs",
    TABLES,
    Column("tenant_id", String, primary_key=True),
    Column("owner_kind", String, primary_key=True),
    Column("owner_id", String, primary_key=True),
    Column("digest", String, primary_key=True),
    Column("subject", String, nullable=False),
    Column("role", String, nullable=False),
    ForeignKeyConstraint(["tenant_id", "digest"], ["blocks.tenant_id", "blocks.digest"]),
    Index("ix_block_refs_tenant_id_digest", "tenant_id", "digest"),
    Index("ix_block_refs_tenant_id_subject", "tenant_id", "subject"),
)
Table(
    "mentions",
    TABLES,
    Column("tenant_id", String, primary_key=True),
    Column("trace_id", String, primary_key=True),
    Column("span_id", String, primary_key=True),
    Column("mention", String, primary_key=True),
    ForeignKeyConstraint(
        ["tenant_id", "trace_id", "span_id"], ["spans.tenant_id", "spans.trace_id", "spans.span_id"], ondelete="CASCADE"
    ),
    Index("ix_mentions_tenant_id_mention", "tenant_id", "mention"),
)
Table(
    "pattern_sources",
    TABLES,
    Column("cycle_id", String, primary_key=True),
    Column("key", String, primary_key=True),
    Column("trajectory_id", String, primary_key=True),
    Column("tenant_id", String, nullable=False),
    Column("subject", String, nullable=False),
    ForeignKeyConstraint(["cycle_id", "key"], ["patterns.cycle_id", "patterns.key"], ondelete="CASCADE"),
    Index("ix_pattern_sources_tenant_id_subject", "tenant_id", "subject"),
    Index("ix_pattern_sources_trajectory_id", "trajectory_id"),
)
Table(
    "world_subjects",
    TABLES,
    Column("tenant_id", String, primary_key=True),
    Column("masked_digest", String, primary_key=True),
    Column("subject", String, primary_key=True),
    Column("table", String, primary_key=True),
    Column("key_field", String, primary_key=True),
    Column("row_key", String, primary_key=True),
    ForeignKeyConstraint(
        ["tenant_id", "masked_digest"], ["worlds.tenant_id", "worlds.masked_digest"], ondelete="CASCADE"
    ),
    Index("ix_world_subjects_tenant_id_subject", "tenant_id", "subject"),
)
Table(
    "world_successors",
    TABLES,
    Column("tenant_id", String, primary_key=True),
    Column("masked_digest", String, primary_key=True),
    Column("successor", String, nullable=False),
    ForeignKeyConstraint(["tenant_id", "successor"], ["worlds.tenant_id", "worlds.masked_digest"], ondelete="CASCADE"),
)


def upgrade() -> None:
    """Create the tables."""
    TABLES.create_all(op.get_bind(), checkfirst=False)


def downgrade() -> None:
    """Drop the tables."""
    TABLES.drop_all(op.get_bind(), checkfirst=False)
