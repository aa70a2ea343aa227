"""Tables of what runs in production: adapters, releases, and the append-only history of deployments."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy.orm import Mapped, mapped_column

from governance.records.retention import RetentionClass
from governance.store.base import Base, Json, Utc


class AdapterRow(Base):
    """An adapter: its record, where its files lie, and the log-probabilities that prove which weights answer."""

    __tablename__ = "adapters"
    retention_class = RetentionClass.ARTIFACT
    subject_path = "refs"
    content_digest: Mapped[str] = mapped_column(primary_key=True)
    dataset_digest: Mapped[str] = mapped_column(index=True)
    path: Mapped[str]
    body: Mapped[Any] = mapped_column(Json)
    probe: Mapped[Any] = mapped_column(Json)
    retired_reason: Mapped[str | None]
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)


class ReleaseRow(Base):
    """A release with the records that it names."""

    __tablename__ = "releases"
    retention_class = RetentionClass.ARTIFACT
    subject_path = "refs"
    digest: Mapped[str] = mapped_column(primary_key=True)
    parent: Mapped[str | None]
    reason: Mapped[str]
    made_by: Mapped[str | None]
    """A principal's name; none where it was not recorded."""
    adapter_digest: Mapped[str | None] = mapped_column(index=True)
    tainted_reason: Mapped[str | None]
    suspended_reason: Mapped[str | None]
    recorded_at: Mapped[datetime] = mapped_column(Utc)
    body: Mapped[Any] = mapped_column(Json)
    expires_at: Mapped[datetime] = mapped_column(Utc, index=True)


class DeploymentRow(Base):
    """Which release is champion of a scope, since when, why."""

    __tablename__ = "deployments"
    retention_class = RetentionClass.EVIDENCE
    subject_path = "none: digests of releases"
    no_expiry = "which release answered at a past moment must stay answerable"
    scope: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    release_digest: Mapped[str]
    previous_digest: Mapped[str | None]
    reason: Mapped[str]
    actor: Mapped[str]
    at: Mapped[datetime] = mapped_column(Utc)
