"""Leak tests, membership tests and anonymity files of adapters."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, DateTime, Index, MetaData, String, Table, Text

from governance.store.base import NAMING

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

TABLES = MetaData(naming_convention=NAMING)

for name, key in (("leak_reports", "digest"), ("membership_reports", "digest"), ("anonymity_files", "id")):
    Table(
        name,
        TABLES,
        Column(key, String, primary_key=True),
        Column("adapter_digest", String, nullable=False),
        Column("at", DateTime(timezone=True), nullable=False),
        Column("body", Text, nullable=False),
        Column("expires_at", DateTime(timezone=True), nullable=False),
        Index(f"ix_{name}_adapter_digest", "adapter_digest"),
        Index(f"ix_{name}_expires_at", "expires_at"),
    )


def upgrade() -> None:
    """Create the tables."""
    TABLES.create_all(op.get_bind(), checkfirst=False)


def downgrade() -> None:
    """Drop them."""
    TABLES.drop_all(op.get_bind(), checkfirst=False)
