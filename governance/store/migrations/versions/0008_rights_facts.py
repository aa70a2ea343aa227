"""The table of facts that decide verdicts, frozen as it was at this revision."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, DateTime, Index, MetaData, String, Table

from governance.store.base import NAMING

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

TIME = DateTime(timezone=True)
TABLES = MetaData(naming_convention=NAMING)

Table(
    "rights_facts",
    TABLES,
    Column("id", String, primary_key=True),
    Column("tenant_id", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("subject", String),
    Column("trajectory_id", String),
    Column("purpose", String),
    Column("value", String, nullable=False),
    Column("reason", String, nullable=False),
    Column("valid_from", TIME, nullable=False),
    Column("valid_to", TIME),
    Column("recorded_at", TIME, nullable=False),
    Column("supersedes", String),
    Column("actor", String, nullable=False),
    Index("ix_rights_facts_tenant_id_subject", "tenant_id", "subject"),
)


def upgrade() -> None:
    """Create the table."""
    TABLES.create_all(op.get_bind(), checkfirst=False)


def downgrade() -> None:
    """Drop the table."""
    TABLES.drop_all(op.get_bind(), checkfirst=False)
