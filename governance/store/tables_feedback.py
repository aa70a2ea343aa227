"""Tables of what people said about runs: feedback, the people named in it, words that wait for their person.

Nothing here points at a row of another table: feedback may come before the trace that it is about, or without it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKeyConstraint, Index
from sqlalchemy.orm import Mapped, mapped_column

from governance.records.retention import RetentionClass
from governance.store.base import Base, Hex, Json, Name, Utc


class FeedbackRow(Base):
    """One statement. Rows of one key are the versions of one feedback; none is ever changed in what it says."""

    __tablename__ = "feedback"
    __table_args__ = (
        Index(None, "tenant_id", "subject"),
        Index(None, "tenant_id", "trace_id"),
        Index(None, "tenant_id", "response_id"),
        Index(None, "tenant_id", "session_id"),
        Index(None, "tenant_id", "at"),
    )
    retention_class = RetentionClass.CONTENT
    subject_path = "subject"
    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[str] = mapped_column(primary_key=True)
    subject: Mapped[str]
    """``unknown`` belongs to the person of what it is about."""
    trace_id: Mapped[str | None]
    response_id: Mapped[Any] = mapped_column(Name, nullable=True)
    session_id: Mapped[str | None]
    at: Mapped[datetime] = mapped_column(Utc)
    body: Mapped[Any] = mapped_column(Json)
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)


class FeedbackMentionRow(Base):
    """A person named in the words of a statement, by keyed identifier."""

    __tablename__ = "feedback_mentions"
    __table_args__ = (
        Index(None, "tenant_id", "mention"),
        ForeignKeyConstraint(
            ["tenant_id", "key", "version"],
            ["feedback.tenant_id", "feedback.key", "feedback.version"],
            ondelete="CASCADE",
        ),
    )
    retention_class = RetentionClass.CONTENT
    subject_path = "mention"
    no_expiry = "dies with its statement"
    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[str] = mapped_column(primary_key=True)
    mention: Mapped[str] = mapped_column(primary_key=True)


class FeedbackSealedRow(Base):
    """The words of a statement whose person is not known yet, sealed; what does not find its person expires."""

    __tablename__ = "feedback_sealed"
    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "key", "version"],
            ["feedback.tenant_id", "feedback.key", "feedback.version"],
            ondelete="CASCADE",
        ),
    )
    retention_class = RetentionClass.SPOOL
    subject_path = "none: sealed; nothing in it can be searched before its own expiry, and the door checks it again"
    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[str] = mapped_column(primary_key=True)
    sealed: Mapped[bytes]
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)


class ResponseRow(Base):
    """Which trace a response id is in, so that feedback that names only the response finds it."""

    __tablename__ = "responses"
    __table_args__ = (Index(None, "tenant_id", "trace_id"), {"sqlite_with_rowid": False})
    retention_class = RetentionClass.CONTENT
    subject_path = "none: ids of model calls"
    no_expiry = "dies with its trace"
    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    response_id: Mapped[Any] = mapped_column(Name, primary_key=True)
    trace_id: Mapped[str] = mapped_column(Hex, primary_key=True)
