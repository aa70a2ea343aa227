"""Tables of masking: what people decided about values, kept as keyed identifiers."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from governance.records.retention import RetentionClass
from governance.store.base import Base, Json, Utc


class MaskingListRow(Base):
    """One act on an allow-list or deny-list. Append-only."""

    __tablename__ = "masking_list_events"
    __table_args__ = (Index(None, "tenant_id", "subject"),)
    retention_class = RetentionClass.EVIDENCE
    subject_path = "subject"
    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    list_name: Mapped[str]
    act: Mapped[str]
    entity_type: Mapped[str]
    mention: Mapped[str]
    words: Mapped[int]
    subject: Mapped[str]
    owner: Mapped[str]
    reason: Mapped[str]
    actor: Mapped[str]
    at: Mapped[datetime] = mapped_column(Utc)
    until: Mapped[datetime] = mapped_column(Utc)
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)


class ReviewRow(Base):
    """Something that a person should judge; what it is about is sealed."""

    __tablename__ = "reviews"
    __table_args__ = (Index(None, "tenant_id", "kind"), Index(None, "tenant_id", "subject"))
    retention_class = RetentionClass.SPOOL
    subject_path = "subject"
    id: Mapped[str] = mapped_column(primary_key=True)
    tenant_id: Mapped[str]
    kind: Mapped[str]
    subject: Mapped[str]
    trace_id: Mapped[str]
    span_id: Mapped[str]
    spots: Mapped[Any] = mapped_column(Json)
    sealed: Mapped[bytes]
    since: Mapped[datetime] = mapped_column(Utc)
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)


class ReviewedRow(Base):
    """A decision of a reviewer."""

    __tablename__ = "review_decisions"
    __table_args__ = (Index(None, "tenant_id", "at"),)
    retention_class = RetentionClass.EVIDENCE
    subject_path = "none: what was decided of which types, and counts"
    id: Mapped[str] = mapped_column(primary_key=True)
    tenant_id: Mapped[str]
    kind: Mapped[str]
    decision: Mapped[str]
    types: Mapped[Any] = mapped_column(Json)
    found: Mapped[int]
    missed: Mapped[int]
    reviewer: Mapped[str]
    at: Mapped[datetime] = mapped_column(Utc)
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)
