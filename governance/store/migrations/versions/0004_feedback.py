"""Tables of feedback, frozen as they were at this revision."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, DateTime, ForeignKeyConstraint, Index, LargeBinary, MetaData, String, Table, Text

from governance.store.base import NAMING

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

TIME = DateTime(timezone=True)
TABLES = MetaData(naming_convention=NAMING)

Table(
    "feedback",
    TABLES,
    Column("tenant_id", String, primary_key=True),
    Column("key", String, primary_key=True),
    Column("version", String, primary_key=True),
    Column("subject", String, nullable=False),
    Column("trace_id", String),
    Column("response_id", LargeBinary),
    Column("session_id", String),
    Column("at", TIME, nullable=False),
    Column("body", Text, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Index("ix_feedback_expires_at", "expires_at"),
    Index("ix_feedback_tenant_id_at", "tenant_id", "at"),
    Index("ix_feedback_tenant_id_response_id", "tenant_id", "response_id"),
    Index("ix_feedback_tenant_id_session_id", "tenant_id", "session_id"),
    Index("ix_feedback_tenant_id_subject", "tenant_id", "subject"),
    Index("ix_feedback_tenant_id_trace_id", "tenant_id", "trace_id"),
)
Table(
    "feedback_mentions",
    TABLES,
    Column("tenant_id", String, primary_key=True),
    Column("key", String, primary_key=True),
    Column("version", String, primary_key=True),
    Column("mention", String, primary_key=True),
    ForeignKeyConstraint(
        ["tenant_id", "key", "version"],
        ["feedback.tenant_id", "feedback.key", "feedback.version"],
        ondelete="CASCADE",
    ),
    Index("ix_feedback_mentions_tenant_id_mention", "tenant_id", "mention"),
)
Table(
    "feedback_sealed",
    TABLES,
    Column("tenant_id", String, primary_key=True),
    Column("key", String, primary_key=True),
    Column("version", String, primary_key=True),
    Column("sealed", LargeBinary, nullable=False),
    Column("expires_at", TIME, nullable=False),
    ForeignKeyConstraint(
        ["tenant_id", "key", "version"],
        ["feedback.tenant_id", "feedback.key", "feedback.version"],
        ondelete="CASCADE",
    ),
    Index("ix_feedback_sealed_expires_at", "expires_at"),
)
Table(
    "responses",
    TABLES,
    Column("tenant_id", String, primary_key=True),
    Column("response_id", LargeBinary, primary_key=True),
    Column("trace_id", LargeBinary, primary_key=True),
    Index("ix_responses_tenant_id_trace_id", "tenant_id", "trace_id"),
    sqlite_with_rowid=False,
)


def upgrade() -> None:
    """Create the tables."""
    TABLES.create_all(op.get_bind(), checkfirst=False)


def downgrade() -> None:
    """Drop the tables."""
    TABLES.drop_all(op.get_bind(), checkfirst=False)
