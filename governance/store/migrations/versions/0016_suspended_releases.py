"""Why a release was suspended: it stays champion and answers nobody."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, String

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add it; nothing is suspended."""
    op.add_column("releases", Column("suspended_reason", String))


def downgrade() -> None:
    """Drop it."""
    op.drop_column("releases", "suspended_reason")
