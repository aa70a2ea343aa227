"""Under which version of the masking policy spans were masked."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, String

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_INDEX = "ix_spans_tenant_id_masked_under_trace_id"


def upgrade() -> None:
    """Add it; of what is there already it is not known, nor where surrogates stand in it."""
    op.add_column("spans", Column("masked_under", String, nullable=False, server_default="unrecorded"))
    op.create_index(_INDEX, "spans", ["tenant_id", "masked_under", "trace_id"])


def downgrade() -> None:
    """Drop it."""
    op.drop_index(_INDEX, "spans")
    op.drop_column("spans", "masked_under")
