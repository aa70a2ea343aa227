"""What people ask for about their data, with deadlines."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, DateTime, Index, MetaData, String, Table

from governance.store.base import NAMING

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

TIME = DateTime(timezone=True)
TABLES = MetaData(naming_convention=NAMING)

Table(
    "rights_requests",
    TABLES,
    Column("id", String, primary_key=True),
    Column("tenant_id", String, nullable=False),
    Column("subject", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("requested_at", TIME, nullable=False),
    Column("due_at", TIME, nullable=False),
    Column("actor", String, nullable=False),
    Column("closed_at", TIME),
    Column("outcome", String, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Index("ix_rights_requests_tenant_id_subject", "tenant_id", "subject"),
    Index("ix_rights_requests_due_at", "due_at"),
    Index("ix_rights_requests_expires_at", "expires_at"),
)


def upgrade() -> None:
    """Create the table."""
    TABLES.create_all(op.get_bind(), checkfirst=False)


def downgrade() -> None:
    """Drop it."""
    TABLES.drop_all(op.get_bind(), checkfirst=False)
