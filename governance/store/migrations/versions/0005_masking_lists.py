"""The allow-lists and deny-lists of masking, frozen as they were at this revision."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, DateTime, Index, Integer, MetaData, String, Table

from governance.store.base import NAMING

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

TIME = DateTime(timezone=True)
TABLES = MetaData(naming_convention=NAMING)

Table(
    "masking_list_events",
    TABLES,
    Column("tenant_id", String, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("list_name", String, nullable=False),
    Column("act", String, nullable=False),
    Column("entity_type", String, nullable=False),
    Column("mention", String, nullable=False),
    Column("words", Integer, nullable=False),
    Column("subject", String, nullable=False),
    Column("owner", String, nullable=False),
    Column("reason", String, nullable=False),
    Column("actor", String, nullable=False),
    Column("at", TIME, nullable=False),
    Column("until", TIME, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Index("ix_masking_list_events_expires_at", "expires_at"),
    Index("ix_masking_list_events_tenant_id_subject", "tenant_id", "subject"),
)


def upgrade() -> None:
    """Create the table."""
    TABLES.create_all(op.get_bind(), checkfirst=False)


def downgrade() -> None:
    """Drop the table."""
    TABLES.drop_all(op.get_bind(), checkfirst=False)
