"""Tables of evidence, frozen as they were at this revision."""

from __future__ import annotations

from alembic import op
from sqlalchemy import (
    Column,
    DateTime,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
)

from governance.store.base import NAMING

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TIME = DateTime(timezone=True)
TABLES = MetaData(naming_convention=NAMING)

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
    "erasures",
    TABLES,
    Column("request_id", String, primary_key=True),
    Column("tenant_id", String, nullable=False),
    Column("subject", String, nullable=False),
    Column("at", TIME, nullable=False),
    Column("body", Text, nullable=False),
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
    "quarantine",
    TABLES,
    Column("id", String, primary_key=True),
    Column("tenant_id", String, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Column("reason", String, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Index("ix_quarantine_expires_at", "expires_at"),
    Column("day", String, nullable=False),
    Column("spans", Integer, nullable=False),
    Column("since", TIME, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("retry_at", TIME, nullable=False),
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


def upgrade() -> None:
    """Create the tables."""
    TABLES.create_all(op.get_bind(), checkfirst=False)


def downgrade() -> None:
    """Drop the tables."""
    TABLES.drop_all(op.get_bind(), checkfirst=False)
