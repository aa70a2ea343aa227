"""Tables of what was measured of adapters' memory."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy.orm import Mapped, mapped_column

from governance.records.retention import RetentionClass
from governance.store.base import Base, Json, Utc


class LeakReportRow(Base):
    """A leak test of an adapter."""

    __tablename__ = "leak_reports"
    retention_class = RetentionClass.EVIDENCE
    subject_path = "none: ranks of canaries, which are nobody's"
    digest: Mapped[str] = mapped_column(primary_key=True)
    adapter_digest: Mapped[str] = mapped_column(index=True)
    at: Mapped[datetime] = mapped_column(Utc)
    body: Mapped[Any] = mapped_column(Json)
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)


class MembershipReportRow(Base):
    """A membership test of an adapter."""

    __tablename__ = "membership_reports"
    retention_class = RetentionClass.EVIDENCE
    subject_path = "none: a rate over many people"
    digest: Mapped[str] = mapped_column(primary_key=True)
    adapter_digest: Mapped[str] = mapped_column(index=True)
    at: Mapped[datetime] = mapped_column(Utc)
    body: Mapped[Any] = mapped_column(Json)
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)


class AnonymityFileRow(Base):
    """Who answers for it that an adapter holds no personal data."""

    __tablename__ = "anonymity_files"
    retention_class = RetentionClass.EVIDENCE
    subject_path = "none: digests and rates"
    id: Mapped[str] = mapped_column(primary_key=True)
    adapter_digest: Mapped[str] = mapped_column(index=True)
    at: Mapped[datetime] = mapped_column(Utc)
    body: Mapped[Any] = mapped_column(Json)
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)
