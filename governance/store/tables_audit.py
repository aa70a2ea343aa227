"""Tables of the audit: its events, where each chain stands, its salts, its checkpoints."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from governance.records.retention import RetentionClass
from governance.store.base import Base, Json, Utc


class AuditRow(Base):
    """An audit event in its tenant's hash chain."""

    __tablename__ = "audit_events"
    __table_args__ = (Index(None, "id", unique=True),)
    retention_class = RetentionClass.EVIDENCE
    subject_path = "none: names acts and artifacts, and people by commitments whose salts leave with them"
    no_expiry = "a hash chain cannot lose a link"
    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    id: Mapped[str]
    at: Mapped[datetime] = mapped_column(Utc)
    body: Mapped[Any] = mapped_column(Json)
    chain: Mapped[str]
    """SHA-256 over the previous link and this event's digest."""


class AuditHeadRow(Base):
    """Where a tenant's chain stands: a chain that lost its end is shorter than this says."""

    __tablename__ = "audit_heads"
    retention_class = RetentionClass.EVIDENCE
    subject_path = "none: a length and a digest"
    no_expiry = "belongs to a chain that has none"
    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    size: Mapped[int]
    root: Mapped[str]


class AuditSaltRow(Base):
    """The salt of a person's commitments in the audit; the empty subject is the tenant itself."""

    __tablename__ = "audit_salts"
    retention_class = RetentionClass.EVIDENCE
    subject_path = "subject"
    no_expiry = "leaves with its person"
    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    subject: Mapped[str] = mapped_column(primary_key=True)
    salt: Mapped[str]


class CheckpointRow(Base):
    """A signed checkpoint, as it is anchored outside of the database."""

    __tablename__ = "audit_checkpoints"
    retention_class = RetentionClass.EVIDENCE
    subject_path = "none: lengths and digests"
    no_expiry = "vouches for a chain that has none"
    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    signed: Mapped[str]
    """Its bytes, as they are anchored."""
    anchored_at: Mapped[datetime | None] = mapped_column(Utc)
    """None until the anchor has taken it."""
