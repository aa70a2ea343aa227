"""Who acted when a release was made: who may not approve it."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, String

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add it; of releases that are there it is not known."""
    op.add_column("releases", Column("made_by", String))


def downgrade() -> None:
    """Drop it."""
    op.drop_column("releases", "made_by")
