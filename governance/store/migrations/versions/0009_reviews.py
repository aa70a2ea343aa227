"""What people should judge about masking, their decisions, and the types of a record in quarantine."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, DateTime, Index, Integer, LargeBinary, MetaData, String, Table, Text

from governance.store.base import NAMING

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

TIME = DateTime(timezone=True)
TABLES = MetaData(naming_convention=NAMING)

Table(
    "reviews",
    TABLES,
    Column("id", String, primary_key=True),
    Column("tenant_id", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("subject", String, nullable=False),
    Column("trace_id", String, nullable=False),
    Column("span_id", String, nullable=False),
    Column("spots", Text, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Column("since", TIME, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Index("ix_reviews_expires_at", "expires_at"),
    Index("ix_reviews_tenant_id_kind", "tenant_id", "kind"),
    Index("ix_reviews_tenant_id_subject", "tenant_id", "subject"),
)
Table(
    "review_decisions",
    TABLES,
    Column("id", String, primary_key=True),
    Column("tenant_id", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("decision", String, nullable=False),
    Column("types", Text, nullable=False),
    Column("found", Integer, nullable=False),
    Column("missed", Integer, nullable=False),
    Column("reviewer", String, nullable=False),
    Column("at", TIME, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Index("ix_review_decisions_expires_at", "expires_at"),
    Index("ix_review_decisions_tenant_id_at", "tenant_id", "at"),
)


def upgrade() -> None:
    """Create the tables and add the column, empty for what was set aside before."""
    TABLES.create_all(op.get_bind(), checkfirst=False)
    op.add_column("quarantine", Column("types", String))


def downgrade() -> None:
    """Drop them."""
    op.drop_column("quarantine", "types")
    TABLES.drop_all(op.get_bind(), checkfirst=False)
