"""Reviews of dataset rows."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, DateTime, Index, MetaData, String, Table, Text

from governance.store.base import NAMING

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

TIME = DateTime(timezone=True)
TABLES = MetaData(naming_convention=NAMING)

Table(
    "row_reviews",
    TABLES,
    Column("root", String, primary_key=True),
    Column("row", String, primary_key=True),
    Column("reviewer", String, primary_key=True),
    Column("tenant_id", String, nullable=False),
    Column("leaks", Text, nullable=False),
    Column("at", TIME, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Index("ix_row_reviews_expires_at", "expires_at"),
)


def upgrade() -> None:
    """Make the table."""
    TABLES.create_all(op.get_bind(), checkfirst=False)


def downgrade() -> None:
    """Drop it."""
    TABLES.drop_all(op.get_bind(), checkfirst=False)
