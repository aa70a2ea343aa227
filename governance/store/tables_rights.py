"""Tables of rights: contracts, consent events, facts, suppressions. Append-only and bitemporal."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from governance.records.retention import RetentionClass
from governance.store.base import Base, Json, Utc


class ContractRow(Base):
    """A contract of a tenant."""

    __tablename__ = "contracts"
    retention_class = RetentionClass.EVIDENCE
    subject_path = "none: a contract is with an organisation"
    no_expiry = "a verdict must be replayable for as long as anything rests on it"
    id: Mapped[str] = mapped_column(primary_key=True)
    tenant_id: Mapped[str] = mapped_column(index=True)
    recorded_at: Mapped[datetime] = mapped_column(Utc)
    body: Mapped[Any] = mapped_column(Json)


class ConsentEventRow(Base):
    """What a person said about a purpose."""

    __tablename__ = "consent_events"
    __table_args__ = (Index(None, "tenant_id", "purpose", "subject"), Index(None, "tenant_id", "subject"))
    retention_class = RetentionClass.EVIDENCE
    subject_path = "subject"
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)
    id: Mapped[str] = mapped_column(primary_key=True)
    tenant_id: Mapped[str]
    subject: Mapped[str]
    purpose: Mapped[str]
    status: Mapped[str]
    restraint: Mapped[int]
    """Which of two simultaneous events counts; see the policy."""
    notice_digest: Mapped[str]
    valid_from: Mapped[datetime] = mapped_column(Utc)
    valid_to: Mapped[datetime | None] = mapped_column(Utc)
    recorded_at: Mapped[datetime] = mapped_column(Utc)
    actor: Mapped[str]


class RightsFactRow(Base):
    """What else decides verdicts about a run, a person, or everybody of a tenant."""

    __tablename__ = "rights_facts"
    __table_args__ = (Index(None, "tenant_id", "subject"),)
    retention_class = RetentionClass.EVIDENCE
    subject_path = "subject"
    no_expiry = "what forbids a use forbids it for good; facts about a person leave with them"
    id: Mapped[str] = mapped_column(primary_key=True)
    tenant_id: Mapped[str]
    kind: Mapped[str]
    subject: Mapped[str | None]
    trajectory_id: Mapped[str | None]
    purpose: Mapped[str | None]
    value: Mapped[str]
    reason: Mapped[str]
    valid_from: Mapped[datetime] = mapped_column(Utc)
    valid_to: Mapped[datetime | None] = mapped_column(Utc)
    recorded_at: Mapped[datetime] = mapped_column(Utc)
    supersedes: Mapped[str | None]
    actor: Mapped[str]


class SuppressionRow(Base):
    """Keeps an erased person from coming back in."""

    __tablename__ = "suppressions"
    retention_class = RetentionClass.EVIDENCE
    subject_path = "subject"
    no_expiry = "an erased person stays out for as long as the store lives"
    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    subject: Mapped[str] = mapped_column(primary_key=True)
    since: Mapped[datetime] = mapped_column(Utc)
    request_id: Mapped[str]


class RightsRequestRow(Base):
    """What a person asked for, until when it is due, and what came of it."""

    __tablename__ = "rights_requests"
    __table_args__ = (Index(None, "tenant_id", "subject"),)
    retention_class = RetentionClass.EVIDENCE
    subject_path = "subject"
    id: Mapped[str] = mapped_column(primary_key=True)
    tenant_id: Mapped[str]
    subject: Mapped[str]
    kind: Mapped[str]
    requested_at: Mapped[datetime] = mapped_column(Utc)
    due_at: Mapped[datetime] = mapped_column(Utc, index=True)
    actor: Mapped[str]
    closed_at: Mapped[datetime | None] = mapped_column(Utc)
    outcome: Mapped[str]
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)
