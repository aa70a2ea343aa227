"""The table of policies of rights: by which rules verdicts were judged, since when."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy.orm import Mapped, mapped_column

from governance.records.retention import RetentionClass
from governance.store.base import Base, Json, Utc


class RightsPolicyRow(Base):
    """A policy that came into force."""

    __tablename__ = "rights_policies"
    retention_class = RetentionClass.EVIDENCE
    subject_path = "none: rules"
    no_expiry = "a verdict names its policy by the digest for as long as anything rests on it"
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    version: Mapped[str] = mapped_column(index=True)
    since: Mapped[datetime] = mapped_column(Utc)
    body: Mapped[Any] = mapped_column(Json)
