"""Tables of learning and of releases, frozen as they were at this revision."""

from __future__ import annotations

from alembic import op
from sqlalchemy import (
    Column,
    DateTime,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
)

from governance.store.base import NAMING

revision = "0002"
down_revision = "0001"
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


def upgrade() -> None:
    """Create the tables."""
    TABLES.create_all(op.get_bind(), checkfirst=False)


def downgrade() -> None:
    """Drop the tables."""
    TABLES.drop_all(op.get_bind(), checkfirst=False)
