"""Tables of rights, traces and worlds, frozen as they were at this revision."""

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
    "block_names",
    TABLES,
    Column("tenant_id", String, primary_key=True),
    Column("digest", LargeBinary, primary_key=True),
    Column("trace_id", String, nullable=False),
    Column("slot", Integer, nullable=False),
    sqlite_with_rowid=False,
)
Table(
    "block_packs",
    TABLES,
    Column("tenant_id", String, primary_key=True),
    Column("trace_id", String, primary_key=True),
    Column("first", Integer, primary_key=True, autoincrement=False),
    Column("size", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False),
)
Table(
    "block_refs",
    TABLES,
    Column("tenant_id", String, primary_key=True),
    Column("trace_id", String, primary_key=True),
    Column("home_trace_id", String, primary_key=True),
    Column("slot", Integer, primary_key=True, autoincrement=False),
    Index("ix_block_refs_tenant_id_home_trace_id", "tenant_id", "home_trace_id"),
    sqlite_with_rowid=False,
)
Table(
    "mentions",
    TABLES,
    Column("tenant_id", String, primary_key=True),
    Column("trace_id", String, primary_key=True),
    Column("mention", String, primary_key=True),
    Index("ix_mentions_tenant_id_mention", "tenant_id", "mention"),
)
Table(
    "spans",
    TABLES,
    Column("tenant_id", String, primary_key=True),
    Column("trace_id", String, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("subject", String, nullable=False),
    Column("size", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Index("ix_spans_expires_at", "expires_at"),
    Index("ix_spans_tenant_id_subject", "tenant_id", "subject"),
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
    "suppressions",
    TABLES,
    Column("tenant_id", String, primary_key=True),
    Column("subject", String, primary_key=True),
    Column("since", TIME, nullable=False),
    Column("request_id", String, nullable=False),
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
    Column("body", LargeBinary, nullable=False),
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
