"""Tables of dataset versions, their uses, and assessments, frozen as they were at this revision."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, DateTime, Index, Integer, MetaData, String, Table, Text

from governance.store.base import NAMING

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

TIME = DateTime(timezone=True)
TABLES = MetaData(naming_convention=NAMING)

Table(
    "dataset_versions",
    TABLES,
    Column("root", String, primary_key=True),
    Column("scope", String, nullable=False),
    Column("parent", String),
    Column("at", TIME, nullable=False),
    Column("body", Text, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Index("ix_dataset_versions_scope", "scope"),
    Index("ix_dataset_versions_expires_at", "expires_at"),
)
Table(
    "dataset_lines",
    TABLES,
    Column("root", String, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("tenant_id", String, nullable=False),
    Column("subject", String, nullable=False),
    Column("trajectory_id", String, nullable=False),
    Column("body", Text, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Index("ix_dataset_lines_tenant_id_subject", "tenant_id", "subject"),
    Index("ix_dataset_lines_trajectory_id", "trajectory_id"),
    Index("ix_dataset_lines_expires_at", "expires_at"),
)
Table(
    "dataset_uses",
    TABLES,
    Column("id", String, primary_key=True),
    Column("kind", String, nullable=False),
    Column("root", String, nullable=False),
    Column("version", String, nullable=False),
    Column("target", String, nullable=False),
    Column("as_of", TIME, nullable=False),
    Column("body", Text, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Index("ix_dataset_uses_root", "root"),
    Index("ix_dataset_uses_version", "version"),
    Index("ix_dataset_uses_expires_at", "expires_at"),
)
Table(
    "assessments",
    TABLES,
    Column("id", String, primary_key=True),
    Column("tenant_id", String, nullable=False),
    Column("assessment", String, nullable=False),
    Column("recorded_at", TIME, nullable=False),
    Column("body", Text, nullable=False),
    Index("ix_assessments_tenant_id_assessment", "tenant_id", "assessment"),
)


def upgrade() -> None:
    """Create the tables."""
    TABLES.create_all(op.get_bind(), checkfirst=False)


def downgrade() -> None:
    """Drop the tables."""
    TABLES.drop_all(op.get_bind(), checkfirst=False)
