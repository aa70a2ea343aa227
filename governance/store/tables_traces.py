"""Tables of what the agents did: spans, trajectories, signals, and the blocks that hold every word of them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKeyConstraint, Index
from sqlalchemy.orm import Mapped, mapped_column

from governance.records.retention import RetentionClass
from governance.store.base import Base, Json, Utc


class BlockRow(Base):
    """One masked message body, tool argument or tool result of a tenant, under its keyed digest."""

    __tablename__ = "blocks"
    retention_class = RetentionClass.CONTENT
    subject_path = "refs"
    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(primary_key=True)
    body: Mapped[Any] = mapped_column(Json)
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)


class BlockRefRow(Base):
    """Who still needs a block. The block dies with its last reference, in one transaction."""

    __tablename__ = "block_refs"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "digest"], ["blocks.tenant_id", "blocks.digest"]),
        Index(None, "tenant_id", "subject"),
        Index(None, "tenant_id", "digest"),
    )
    retention_class = RetentionClass.CONTENT
    subject_path = "subject"
    no_expiry = "dies with the row that it belongs to"
    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    owner_kind: Mapped[str] = mapped_column(primary_key=True)
    owner_id: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(primary_key=True)
    subject: Mapped[str]
    role: Mapped[str]


class SpanRow(Base):
    """A span after the door, its words replaced by references to blocks."""

    __tablename__ = "spans"
    __table_args__ = (Index(None, "tenant_id", "subject"),)
    retention_class = RetentionClass.CONTENT
    subject_path = "subject"
    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    trace_id: Mapped[str] = mapped_column(primary_key=True)
    span_id: Mapped[str] = mapped_column(primary_key=True)
    subject: Mapped[str]
    start_unix_nano: Mapped[str]
    """Zero-padded digits: OTLP's unsigned 64-bit number does not fit a signed column."""
    body: Mapped[Any] = mapped_column(Json)
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)


class MentionRow(Base):
    """A person named in the content of a span, by keyed identifier."""

    __tablename__ = "mentions"
    __table_args__ = (
        Index(None, "tenant_id", "mention"),
        ForeignKeyConstraint(
            ["tenant_id", "trace_id", "span_id"],
            ["spans.tenant_id", "spans.trace_id", "spans.span_id"],
            ondelete="CASCADE",
        ),
    )
    retention_class = RetentionClass.CONTENT
    subject_path = "mention"
    no_expiry = "dies with its span"
    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    trace_id: Mapped[str] = mapped_column(primary_key=True)
    span_id: Mapped[str] = mapped_column(primary_key=True)
    mention: Mapped[str] = mapped_column(primary_key=True)


class TraceVersionRow(Base):
    """How often a trace changed, and up to which change it has been assembled."""

    __tablename__ = "trace_versions"
    retention_class = RetentionClass.CONTENT
    subject_path = "none: counters of a trace, deleted with its last span"
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)
    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    trace_id: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[int]
    clean: Mapped[int]


class TrajectoryRow(Base):
    """One agent run, its words replaced by references to blocks."""

    __tablename__ = "trajectories"
    __table_args__ = (Index(None, "tenant_id", "started_at"), Index(None, "tenant_id", "subject"))
    retention_class = RetentionClass.CONTENT
    subject_path = "subject"
    id: Mapped[str] = mapped_column(primary_key=True)
    tenant_id: Mapped[str]
    trace_id: Mapped[str]
    session_id: Mapped[str]
    subject: Mapped[str]
    started_at: Mapped[datetime] = mapped_column(Utc)
    body: Mapped[Any] = mapped_column(Json)
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)


class SignalRow(Base):
    """One piece of evidence about a trajectory."""

    __tablename__ = "signals"
    __table_args__ = (
        Index(None, "tenant_id", "at"),
        Index(None, "tenant_id", "subject"),
        Index(None, "trajectory_id"),
    )
    retention_class = RetentionClass.CONTENT
    subject_path = "subject"
    id: Mapped[str] = mapped_column(primary_key=True)
    tenant_id: Mapped[str]
    subject: Mapped[str]
    trajectory_id: Mapped[str]
    at: Mapped[datetime] = mapped_column(Utc)
    body: Mapped[Any] = mapped_column(Json)
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)
