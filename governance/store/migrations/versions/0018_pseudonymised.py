"""Declared processing of pseudonymised information, and the history of its uses."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, DateTime, MetaData, String, Table, Text

from governance.store.base import NAMING

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

TIME = DateTime(timezone=True)
TABLES = MetaData(naming_convention=NAMING)

Table(
    "pseudonymised_declarations",
    TABLES,
    Column("id", String, primary_key=True),
    Column("tenant_id", String, nullable=False, index=True),
    Column("recorded_at", TIME, nullable=False),
    Column("body", Text, nullable=False),
)
Table(
    "pseudonymised_uses",
    TABLES,
    Column("id", String, primary_key=True),
    Column("tenant_id", String, nullable=False, index=True),
    Column("at", TIME, nullable=False),
    Column("body", Text, nullable=False),
    Column("expires_at", TIME, nullable=False, index=True),
)


def upgrade() -> None:
    """Create the tables."""
    TABLES.create_all(op.get_bind(), checkfirst=False)


def downgrade() -> None:
    """Drop them."""
    TABLES.drop_all(op.get_bind(), checkfirst=False)
