"""The epoch of the surrogate key under which a world was masked."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, String

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add it; of what is there already it is not known."""
    op.add_column("worlds", Column("epoch", String, nullable=False, server_default=""))


def downgrade() -> None:
    """Drop it."""
    op.drop_column("worlds", "epoch")
