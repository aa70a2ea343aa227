"""Tables of dataset versions: what each holds line by line, what was done with it, and assessments of training."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from governance.records.retention import RetentionClass
from governance.store.base import Base, Json, Utc


class DatasetVersionRow(Base):
    """A dataset version: leaves, Merkle root, counts."""

    __tablename__ = "dataset_versions"
    retention_class = RetentionClass.EVIDENCE
    subject_path = "none: salted digests of lines and counts by reason"
    root: Mapped[str] = mapped_column(primary_key=True)
    scope: Mapped[str] = mapped_column(index=True)
    parent: Mapped[str | None]
    at: Mapped[datetime] = mapped_column(Utc)
    body: Mapped[Any] = mapped_column(Json)
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)


class DatasetLineRow(Base):
    """One line of a version's manifest: whose row, from where, by which right."""

    __tablename__ = "dataset_lines"
    __table_args__ = (Index(None, "tenant_id", "subject"), Index(None, "trajectory_id"))
    retention_class = RetentionClass.EVIDENCE
    subject_path = "subject"
    root: Mapped[str] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    tenant_id: Mapped[str]
    subject: Mapped[str]
    trajectory_id: Mapped[str]
    body: Mapped[Any] = mapped_column(Json)
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)


class DatasetUseRow(Base):
    """A use of a version, with what was found when rights were asked again."""

    __tablename__ = "dataset_uses"
    __table_args__ = (Index(None, "root"), Index(None, "version"))
    retention_class = RetentionClass.EVIDENCE
    subject_path = "refs"
    id: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    root: Mapped[str]
    version: Mapped[str]
    target: Mapped[str]
    as_of: Mapped[datetime] = mapped_column(Utc)
    body: Mapped[Any] = mapped_column(Json)
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)


class AssessmentRow(Base):
    """A word on an assessment of training: proposed, approved or ended."""

    __tablename__ = "assessments"
    __table_args__ = (Index(None, "tenant_id", "assessment"),)
    retention_class = RetentionClass.EVIDENCE
    subject_path = "none: a document about a purpose"
    no_expiry = "what training rested on must stay answerable"
    id: Mapped[str] = mapped_column(primary_key=True)
    tenant_id: Mapped[str]
    assessment: Mapped[str]
    recorded_at: Mapped[datetime] = mapped_column(Utc)
    body: Mapped[Any] = mapped_column(Json)
