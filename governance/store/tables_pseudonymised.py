"""Tables of pseudonymised processing: what was declared, and who used how many rows under it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy.orm import Mapped, mapped_column

from governance.records.retention import RetentionClass
from governance.store.base import Base, Json, Utc


class DeclarationRow(Base):
    """A word on a declared processing: recorded, or ended."""

    __tablename__ = "pseudonymised_declarations"
    retention_class = RetentionClass.EVIDENCE
    subject_path = "none: a document about a purpose"
    no_expiry = "what a use rested on must stay answerable"
    id: Mapped[str] = mapped_column(primary_key=True)
    tenant_id: Mapped[str] = mapped_column(index=True)
    recorded_at: Mapped[datetime] = mapped_column(Utc)
    body: Mapped[Any] = mapped_column(Json)


class PseudonymisedUseRow(Base):
    """A use of rows under this basis."""

    __tablename__ = "pseudonymised_uses"
    retention_class = RetentionClass.EVIDENCE
    subject_path = "none: who used how many rows, and what for"
    id: Mapped[str] = mapped_column(primary_key=True)
    tenant_id: Mapped[str] = mapped_column(index=True)
    at: Mapped[datetime] = mapped_column(Utc)
    body: Mapped[Any] = mapped_column(Json)
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)
