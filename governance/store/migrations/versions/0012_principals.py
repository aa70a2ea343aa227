"""Principals, digests of their tokens, approvals, and the texts of notices."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, DateTime, Index, MetaData, String, Table, Text

from governance.store.base import NAMING

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

TIME = DateTime(timezone=True)
TABLES = MetaData(naming_convention=NAMING)

Table(
    "principals",
    TABLES,
    Column("name", String, primary_key=True),
    Column("roles", Text, nullable=False),
    Column("tenants", Text),
    Column("made_at", TIME, nullable=False),
)
Table(
    "principal_tokens",
    TABLES,
    Column("secret_digest", String, primary_key=True),
    Column("principal", String, nullable=False),
    Column("made_at", TIME, nullable=False),
    Column("until", TIME),
    Column("revoked_at", TIME),
    Index("ix_principal_tokens_principal", "principal"),
)
Table(
    "approvals",
    TABLES,
    Column("id", String, primary_key=True),
    Column("tenant_id", String, nullable=False),
    Column("act", String, nullable=False),
    Column("target", String, nullable=False),
    Column("builder", String, nullable=False),
    Column("approver", String, nullable=False),
    Column("role", String, nullable=False),
    Column("decision", String, nullable=False),
    Column("reason", String, nullable=False),
    Column("at", TIME, nullable=False),
    Column("until", TIME, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Index("ix_approvals_expires_at", "expires_at"),
    Index("ix_approvals_tenant_id_act_target", "tenant_id", "act", "target"),
)
Table(
    "notices",
    TABLES,
    Column("tenant_id", String, primary_key=True),
    Column("digest", String, primary_key=True),
    Column("text", Text, nullable=False),
    Column("recorded_at", TIME, nullable=False),
)


def upgrade() -> None:
    """Create them."""
    TABLES.create_all(op.get_bind(), checkfirst=False)


def downgrade() -> None:
    """Drop them."""
    TABLES.drop_all(op.get_bind(), checkfirst=False)
