"""Tables of who acts: principals, digests of their tokens, approvals; and the notices that people were shown."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from governance.records.retention import RetentionClass
from governance.store.base import Base, Json, Utc


class PrincipalRow(Base):
    """Somebody who acts by a token."""

    __tablename__ = "principals"
    retention_class = RetentionClass.EVIDENCE
    subject_path = "none: staff, by the handle that the installation gave them"
    no_expiry = "the audit names them for as long as it stands"
    name: Mapped[str] = mapped_column(primary_key=True)
    roles: Mapped[Any] = mapped_column(Json)
    tenants: Mapped[Any | None] = mapped_column(Json)
    made_at: Mapped[datetime] = mapped_column(Utc)


class TokenRow(Base):
    """A token, by its digest."""

    __tablename__ = "principal_tokens"
    __table_args__ = (Index(None, "principal"),)
    retention_class = RetentionClass.EVIDENCE
    subject_path = "none: digests of secrets of staff"
    no_expiry = "says who could act when; the secret itself is nowhere"
    secret_digest: Mapped[str] = mapped_column(primary_key=True)
    principal: Mapped[str]
    made_at: Mapped[datetime] = mapped_column(Utc)
    until: Mapped[datetime | None] = mapped_column(Utc)
    revoked_at: Mapped[datetime | None] = mapped_column(Utc)


class ApprovalRow(Base):
    """A person's decision on one act."""

    __tablename__ = "approvals"
    __table_args__ = (Index(None, "tenant_id", "act", "target"),)
    retention_class = RetentionClass.EVIDENCE
    subject_path = "none: names acts and artifacts by id, and staff by handle"
    id: Mapped[str] = mapped_column(primary_key=True)
    tenant_id: Mapped[str]
    act: Mapped[str]
    target: Mapped[str]
    builder: Mapped[str]
    approver: Mapped[str]
    role: Mapped[str]
    decision: Mapped[str]
    reason: Mapped[str]
    at: Mapped[datetime] = mapped_column(Utc)
    until: Mapped[datetime] = mapped_column(Utc)
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)


class NoticeRow(Base):
    """The exact text of a notice, by its digest."""

    __tablename__ = "notices"
    retention_class = RetentionClass.EVIDENCE
    subject_path = "none: the text that everybody was shown"
    no_expiry = "a consent is only as good as the text that it was given to"
    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(primary_key=True)
    text: Mapped[Any] = mapped_column(Json)
    recorded_at: Mapped[datetime] = mapped_column(Utc)
