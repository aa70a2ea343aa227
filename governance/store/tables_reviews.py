"""The table of reviews of dataset rows."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy.orm import Mapped, mapped_column

from governance.records.retention import RetentionClass
from governance.store.base import Base, Json, Utc


class RowReviewRow(Base):
    """What one reviewer saw in one row of a dataset."""

    __tablename__ = "row_reviews"
    retention_class = RetentionClass.EVIDENCE
    subject_path = "none: digests of rows and counts by type"
    root: Mapped[str] = mapped_column(primary_key=True)
    row: Mapped[str] = mapped_column(primary_key=True)
    reviewer: Mapped[str] = mapped_column(primary_key=True)
    tenant_id: Mapped[str]
    leaks: Mapped[Any] = mapped_column(Json)
    at: Mapped[datetime] = mapped_column(Utc)
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)
