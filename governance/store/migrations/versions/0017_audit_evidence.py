"""Where each audit chain stands, the audit's salts and checkpoints, policies of rights, notes of erasures under way.

The chains that are there stand where their last event stands.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, DateTime, Integer, MetaData, String, Table, Text, text

from governance.store.base import NAMING

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

TIME = DateTime(timezone=True)
TABLES = MetaData(naming_convention=NAMING)

Table(
    "audit_heads",
    TABLES,
    Column("tenant_id", String, primary_key=True),
    Column("size", Integer, nullable=False),
    Column("root", String, nullable=False),
)
Table(
    "audit_salts",
    TABLES,
    Column("tenant_id", String, primary_key=True),
    Column("subject", String, primary_key=True),
    Column("salt", String, nullable=False),
)
Table(
    "audit_checkpoints",
    TABLES,
    Column("tenant_id", String, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("signed", String, nullable=False),
    Column("anchored_at", TIME),
)
Table(
    "rights_policies",
    TABLES,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("version", String, nullable=False, index=True),
    Column("since", TIME, nullable=False),
    Column("body", Text, nullable=False),
)
Table(
    "erasure_notes",
    TABLES,
    Column("request_id", String, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("place", String, nullable=False),
    Column("artifacts", Text, nullable=False),
)

HEADS = """
INSERT INTO audit_heads (tenant_id, size, root)
SELECT e.tenant_id, e.position, e.chain FROM audit_events e
WHERE e.position = (SELECT max(l.position) FROM audit_events l WHERE l.tenant_id = e.tenant_id)
"""


def upgrade() -> None:
    """Create the tables, and say where the chains stand."""
    TABLES.create_all(op.get_bind(), checkfirst=False)
    op.execute(text(HEADS))


def downgrade() -> None:
    """Drop the tables."""
    TABLES.drop_all(op.get_bind(), checkfirst=False)
