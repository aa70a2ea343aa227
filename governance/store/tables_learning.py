"""Tables of learning: patterns, proposals, tasks, datasets, grades, gate reports."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKeyConstraint, Index
from sqlalchemy.orm import Mapped, mapped_column

from governance.records.retention import RetentionClass
from governance.store.base import Base, Json, Utc


class PatternRow(Base):
    """Failures that belong together, in a cycle."""

    __tablename__ = "patterns"
    retention_class = RetentionClass.DERIVED
    subject_path = "refs"
    cycle_id: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    position: Mapped[int]
    scope: Mapped[str]
    body: Mapped[Any] = mapped_column(Json)
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)


class PatternSourceRow(Base):
    """A trajectory that a pattern rests on, and whose it is."""

    __tablename__ = "pattern_sources"
    __table_args__ = (
        ForeignKeyConstraint(["cycle_id", "key"], ["patterns.cycle_id", "patterns.key"], ondelete="CASCADE"),
        Index(None, "tenant_id", "subject"),
        Index(None, "trajectory_id"),
    )
    retention_class = RetentionClass.DERIVED
    subject_path = "subject"
    no_expiry = "dies with its pattern"
    cycle_id: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    trajectory_id: Mapped[str] = mapped_column(primary_key=True)
    tenant_id: Mapped[str]
    subject: Mapped[str]


class ProposalRow(Base):
    """One change to one lever."""

    __tablename__ = "proposals"
    retention_class = RetentionClass.DERIVED
    subject_path = "refs"
    cycle_id: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(primary_key=True)
    position: Mapped[int]
    pattern_key: Mapped[str]
    scope: Mapped[str]
    body: Mapped[Any] = mapped_column(Json)
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)


class TaskRow(Base):
    """One thing to get done, built from a person's trajectories."""

    __tablename__ = "tasks"
    __table_args__ = (Index(None, "tenant_id", "subject"), Index(None, "digest"))
    retention_class = RetentionClass.DERIVED
    subject_path = "subject"
    cycle_id: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(primary_key=True)
    tenant_id: Mapped[str]
    subject: Mapped[str]
    split: Mapped[str]
    at: Mapped[datetime] = mapped_column(Utc)
    body: Mapped[Any] = mapped_column(Json)
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)


class DatasetRowTable(Base):
    """One training row: the tokens, and whose they are."""

    __tablename__ = "dataset_rows"
    __table_args__ = (Index(None, "tenant_id", "subject"),)
    retention_class = RetentionClass.DERIVED
    subject_path = "subject"
    root: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(primary_key=True)
    position: Mapped[int]
    tenant_id: Mapped[str]
    subject: Mapped[str]
    trajectory_id: Mapped[str]
    body: Mapped[Any] = mapped_column(Json)
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)


class DatasetTable(Base):
    """The manifest of a dataset: digests and counts."""

    __tablename__ = "datasets"
    retention_class = RetentionClass.EVIDENCE
    subject_path = "none: digests of rows and counts by reason"
    root: Mapped[str] = mapped_column(primary_key=True)
    scope: Mapped[str]
    body: Mapped[Any] = mapped_column(Json)
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)


class DatasetExclusionRow(Base):
    """A trajectory that was considered for a dataset and left out."""

    __tablename__ = "dataset_exclusions"
    __table_args__ = (Index(None, "trajectory_id"), Index(None, "tenant_id", "subject"))
    retention_class = RetentionClass.DERIVED
    subject_path = "subject"
    root: Mapped[str] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    tenant_id: Mapped[str]
    subject: Mapped[str]
    trajectory_id: Mapped[str]
    reason: Mapped[str]
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)


class GradeRow(Base):
    """What the verifiers said of one rollout of a release on a task, with the rollout."""

    __tablename__ = "grades"
    __table_args__ = (Index(None, "tenant_id", "subject"),)
    retention_class = RetentionClass.DERIVED
    subject_path = "subject"
    release_digest: Mapped[str] = mapped_column(primary_key=True)
    task_digest: Mapped[str] = mapped_column(primary_key=True)
    cycle_id: Mapped[str]
    arm: Mapped[str]
    tenant_id: Mapped[str]
    subject: Mapped[str]
    grade: Mapped[Any] = mapped_column(Json)
    rollout: Mapped[Any] = mapped_column(Json)
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)


class GateReportRow(Base):
    """The evidence that a candidate may or may not go on."""

    __tablename__ = "gate_reports"
    __table_args__ = (Index(None, "scope", "at"),)
    retention_class = RetentionClass.EVIDENCE
    subject_path = "none: rates and counts over many people's tasks"
    digest: Mapped[str] = mapped_column(primary_key=True)
    cycle_id: Mapped[str]
    scope: Mapped[str]
    at: Mapped[datetime] = mapped_column(Utc)
    body: Mapped[Any] = mapped_column(Json)
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)
