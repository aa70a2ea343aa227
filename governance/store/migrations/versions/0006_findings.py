"""Counts of what masking replaced, in the ledger."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, Text

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add them, empty for what was counted before."""
    op.add_column("ledger", Column("findings", Text, nullable=False, server_default="{}"))


def downgrade() -> None:
    """Drop them."""
    op.drop_column("ledger", "findings")
