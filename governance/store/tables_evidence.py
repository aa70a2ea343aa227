"""Tables of evidence: ledger, drained segments, lineage, cycles, steps, erasure reports, quarantine."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from governance.records.retention import RetentionClass
from governance.store.base import Base, Json, Utc


class LedgerRow(Base):
    """What became of one segment's spans of one tenant and day. One row per segment makes recording idempotent."""

    __tablename__ = "ledger"
    __table_args__ = (Index(None, "tenant_id", "day"),)
    retention_class = RetentionClass.EVIDENCE
    subject_path = "none: counts by reason"
    segment_id: Mapped[str] = mapped_column(primary_key=True)
    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    day: Mapped[str] = mapped_column(primary_key=True)
    received: Mapped[int]
    withheld: Mapped[int]
    fates: Mapped[Any] = mapped_column(Json)
    findings: Mapped[Any] = mapped_column(Json, server_default="{}")
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)


class SegmentRow(Base):
    """A spool segment that has been drained."""

    __tablename__ = "segments"
    retention_class = RetentionClass.EVIDENCE
    subject_path = "none: ids of spool segments"
    segment_id: Mapped[str] = mapped_column(primary_key=True)
    finished_at: Mapped[datetime] = mapped_column(Utc)
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)


class LineageRow(Base):
    """``derived`` was made from ``source``."""

    __tablename__ = "lineage_edges"
    __table_args__ = (Index(None, "source_kind", "source_id"),)
    retention_class = RetentionClass.EVIDENCE
    subject_path = "refs"
    no_expiry = "says what is made from whom for as long as either exists; edges that name a person leave with them"
    derived_kind: Mapped[str] = mapped_column(primary_key=True)
    derived_id: Mapped[str] = mapped_column(primary_key=True)
    source_kind: Mapped[str] = mapped_column(primary_key=True)
    source_id: Mapped[str] = mapped_column(primary_key=True)


class CycleRow(Base):
    """One turn of the loop."""

    __tablename__ = "cycles"
    retention_class = RetentionClass.EVIDENCE
    subject_path = "none: windows and outcomes"
    id: Mapped[str] = mapped_column(primary_key=True)
    scope: Mapped[str] = mapped_column(index=True)
    window_start: Mapped[datetime] = mapped_column(Utc)
    body: Mapped[Any] = mapped_column(Json)
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)


class StepRow(Base):
    """The recorded result of one step of a cycle."""

    __tablename__ = "steps"
    retention_class = RetentionClass.EVIDENCE
    subject_path = "none: digests, counts and paths that steps hand on"
    cycle_id: Mapped[str] = mapped_column(primary_key=True)
    step: Mapped[str] = mapped_column(primary_key=True)
    input_digest: Mapped[str] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(Utc)
    body: Mapped[Any] = mapped_column(Json)
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)


class ErasureRow(Base):
    """What an erasure did: the certificate that stays."""

    __tablename__ = "erasures"
    retention_class = RetentionClass.EVIDENCE
    subject_path = "subject"
    no_expiry = "proof that a duty was met"
    request_id: Mapped[str] = mapped_column(primary_key=True)
    tenant_id: Mapped[str]
    subject: Mapped[str]
    at: Mapped[datetime] = mapped_column(Utc)
    body: Mapped[Any] = mapped_column(Json)


class ErasureNoteRow(Base):
    """What an erasure under way did in one place."""

    __tablename__ = "erasure_notes"
    retention_class = RetentionClass.EVIDENCE
    subject_path = "none: ids of what is deleted; gone when the certificate says it"
    no_expiry = "goes with the certificate of its request"
    request_id: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    place: Mapped[str]
    artifacts: Mapped[Any] = mapped_column(Json)


class QuarantineRow(Base):
    """A record that masking could not read, or that a person must judge, sealed."""

    __tablename__ = "quarantine"
    retention_class = RetentionClass.SPOOL
    subject_path = "none: sealed; nothing in it can be searched before its own expiry, and the door checks it again"
    id: Mapped[str] = mapped_column(primary_key=True)
    tenant_id: Mapped[str]
    sealed: Mapped[bytes]
    reason: Mapped[str]
    types: Mapped[str | None]
    """The special categories in it, with spaces between them."""
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)
    day: Mapped[str]
    spans: Mapped[int]
    since: Mapped[datetime] = mapped_column(Utc)
    attempts: Mapped[int]
    retry_at: Mapped[datetime] = mapped_column(Utc)
