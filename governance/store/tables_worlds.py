"""Tables of worlds: masked snapshots, whose rows they hold, and which snapshot took the place of which."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKeyConstraint, Index
from sqlalchemy.orm import Mapped, mapped_column

from governance.records.retention import RetentionClass
from governance.store.base import Base, Json, Utc


class WorldRow(Base):
    """A masked snapshot of a tenant."""

    __tablename__ = "worlds"
    __table_args__ = (Index(None, "tenant_id", "source_digest", unique=True),)
    retention_class = RetentionClass.ARTIFACT
    subject_path = "refs"
    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    masked_digest: Mapped[str] = mapped_column(primary_key=True)
    source_digest: Mapped[str]
    epoch: Mapped[str]
    """Of the surrogate key under which it was masked; empty where that was not recorded."""
    at: Mapped[datetime] = mapped_column(Utc)
    body: Mapped[Any] = mapped_column(Json)
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)


class WorldSubjectRow(Base):
    """One row of a snapshot that holds a person's data."""

    __tablename__ = "world_subjects"
    __table_args__ = (
        Index(None, "tenant_id", "subject"),
        ForeignKeyConstraint(
            ["tenant_id", "masked_digest"], ["worlds.tenant_id", "worlds.masked_digest"], ondelete="CASCADE"
        ),
    )
    retention_class = RetentionClass.ARTIFACT
    subject_path = "subject"
    no_expiry = "dies with its world"
    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    masked_digest: Mapped[str] = mapped_column(primary_key=True)
    subject: Mapped[str] = mapped_column(primary_key=True)
    table: Mapped[str] = mapped_column(primary_key=True)
    key_field: Mapped[str] = mapped_column(primary_key=True)
    row_key: Mapped[str] = mapped_column(primary_key=True)


class WorldSuccessorRow(Base):
    """A snapshot that was replaced by one with fewer people in it. Tasks keep naming the old digest."""

    __tablename__ = "world_successors"
    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "successor"],
            ["worlds.tenant_id", "worlds.masked_digest"],
            ondelete="CASCADE",
        ),
    )
    retention_class = RetentionClass.ARTIFACT
    subject_path = "none: two digests"
    no_expiry = "dies with the world that took over"
    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    masked_digest: Mapped[str] = mapped_column(primary_key=True)
    successor: Mapped[str]
