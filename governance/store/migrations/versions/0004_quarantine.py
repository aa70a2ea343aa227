"""What a quarantined record holds, since when, and how often it was tried to release it.

Records sealed before this revision are of another form: they stay until their expiry and hold 0 spans by the books.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, DateTime, Integer, String

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

LONG_AGO = "1970-01-01 00:00:00"
COLUMNS = (
    ("day", String(), ""),
    ("spans", Integer(), "0"),
    ("since", DateTime(timezone=True), LONG_AGO),
    ("attempts", Integer(), "0"),
    ("retry_at", DateTime(timezone=True), LONG_AGO),
)


def upgrade() -> None:
    """Add the columns."""
    for name, kind, default in COLUMNS:
        op.add_column("quarantine", Column(name, kind, nullable=False, server_default=default))


def downgrade() -> None:
    """Remove them."""
    for name, _, _ in COLUMNS:
        op.drop_column("quarantine", name)
