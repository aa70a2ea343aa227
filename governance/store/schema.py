"""Every table in one metadata: importing this module maps them all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy.orm import Mapper

from governance.errors import StoreError
from governance.store import (
    tables_audit,
    tables_datasets,
    tables_evidence,
    tables_feedback,
    tables_leak,
    tables_learning,
    tables_masking,
    tables_policies,
    tables_principals,
    tables_releases,
    tables_reviews,
    tables_rights,
    tables_traces,
    tables_worlds,
)
from governance.store.base import Base, TableInfo

MODULES = (
    tables_audit,
    tables_datasets,
    tables_evidence,
    tables_feedback,
    tables_leak,
    tables_learning,
    tables_masking,
    tables_policies,
    tables_principals,
    tables_releases,
    tables_reviews,
    tables_rights,
    tables_traces,
    tables_worlds,
)
METADATA = Base.metadata


def mappers() -> Iterable[Mapper[Any]]:
    """The mapped classes, by table name."""
    return sorted(Base.registry.mappers, key=lambda mapper: mapper.class_.__tablename__)


def table_info() -> dict[str, TableInfo]:
    """Table name to what its class declares.

    Raises:
        StoreError: for a table whose class declares too little.

    """
    found: dict[str, TableInfo] = {}
    for mapper in mappers():
        cls = mapper.class_
        name = cls.__tablename__
        if not hasattr(cls, "retention_class") or not getattr(cls, "subject_path", ""):
            raise StoreError(f"store: table {name} declares no retention class or no subject path")
        expires = "expires_at" in mapper.columns
        if not expires and not cls.no_expiry:
            raise StoreError(f"store: table {name} has neither an expiry nor a reason for having none")
        found[name] = TableInfo(
            cls.retention_class, cls.subject_path, "expires_at" if expires else f"none: {cls.no_expiry}"
        )
    return found
