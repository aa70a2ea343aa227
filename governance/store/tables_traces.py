"""Tables of what the agents did: spans, trajectories, signals, and the blocks that hold every word of them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from governance.records.retention import RetentionClass
from governance.store.base import Base, Json, Packed, Utc


class BlockPackRow(Base):
    """The blocks that a trace brought: message bodies, tool arguments and results, each in a slot of its own."""

    __tablename__ = "block_packs"
    retention_class = RetentionClass.CONTENT
    subject_path = "refs"
    no_expiry = "dies with the last trace that needs a block of it"
    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    trace_id: Mapped[str] = mapped_column(primary_key=True)
    first: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    """The slot of its first block; slots count through all packs of a trace."""
    size: Mapped[int]
    """How many slots it has; a block that nobody needs any more leaves its slot empty."""
    body: Mapped[Any] = mapped_column(Packed)


class BlockNameRow(Base):
    """Where the block of a keyed digest is, so that another trace that says the same refers to it."""

    __tablename__ = "block_names"
    __table_args__ = ({"sqlite_with_rowid": False},)
    retention_class = RetentionClass.CONTENT
    subject_path = "refs"
    no_expiry = "dies with its block"
    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[bytes] = mapped_column(primary_key=True)
    trace_id: Mapped[str]
    slot: Mapped[int]


class BlockRefRow(Base):
    """A trace that needs a block of another trace's pack."""

    __tablename__ = "block_refs"
    __table_args__ = (Index(None, "tenant_id", "home_trace_id"), {"sqlite_with_rowid": False})
    retention_class = RetentionClass.CONTENT
    subject_path = "refs"
    no_expiry = "dies with the trace that refers"
    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    trace_id: Mapped[str] = mapped_column(primary_key=True)
    home_trace_id: Mapped[str] = mapped_column(primary_key=True)
    slot: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)


class SpansRow(Base):
    """Some spans of one trace and one person, their words replaced by references to blocks."""

    __tablename__ = "spans"
    __table_args__ = (Index(None, "tenant_id", "subject"), Index(None, "tenant_id", "masked_under", "trace_id"))
    retention_class = RetentionClass.CONTENT
    subject_path = "subject"
    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    trace_id: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    subject: Mapped[str]
    size: Mapped[int]
    """How many spans."""
    masked_under: Mapped[str]
    """The version of the masking policy that its spans were masked under; empty where it is not one."""
    body: Mapped[Any] = mapped_column(Packed)
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)


class MentionRow(Base):
    """A person named in the content of a trace, by keyed identifier."""

    __tablename__ = "mentions"
    __table_args__ = (Index(None, "tenant_id", "mention"),)
    retention_class = RetentionClass.CONTENT
    subject_path = "mention"
    no_expiry = "dies with its trace"
    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    trace_id: Mapped[str] = mapped_column(primary_key=True)
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
    body: Mapped[Any] = mapped_column(Packed)
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
