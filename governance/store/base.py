"""The ground of every table: names of constraints, column types, and what each table must declare.

A table class declares its ``retention_class``, its ``subject_path`` and its expiry. ``subject_path`` says how a person
is found in it: the name of the column that holds the keyed hash, ``refs`` (through another table's reference), or
``none: reason``. The expiry is a column ``expires_at``, or ``no_expiry`` gives the reason why it has none.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar

from sqlalchemy import DateTime, Dialect, LargeBinary, MetaData, Text
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.types import TypeDecorator

from governance.errors import StoreError
from governance.records.retention import RetentionClass

LEVEL = 3
"""Of compression: bodies are long runs of near copies, where higher levels gain little and cost much."""
NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class Utc(TypeDecorator[datetime]):
    """An aware time in UTC: ``timestamptz`` on PostgreSQL, sortable text on SQLite. A naive time is refused."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """To UTC; SQLite keeps no zone."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise StoreError(f"store: a naive time {value!r} was given where an aware one is due")
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Back to an aware UTC time."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def dump_json(value: Any) -> str:
    """JSON as ASCII text, so that NUL and lone surrogates survive in every database."""
    return _ENCODER.encode(value)


class JsonText(str):
    """The JSON text of a value."""

    __slots__ = ()


class Json(TypeDecorator[Any]):
    """A JSON value as text, the same bytes in every database."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002
        """To text; None is SQL's NULL."""
        return None if value is None else dump_json(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:  # noqa: ARG002
        """Back to a JSON value."""
        return None if value is None else json.loads(value)


class Packed(TypeDecorator[Any]):
    """A JSON value, compressed (RFC 1950): the same bytes in every database."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> bytes | None:  # noqa: ARG002
        """To bytes; None is SQL's NULL. A ``JsonText`` is JSON already."""
        if value is None:
            return None
        return zlib.compress((value if isinstance(value, JsonText) else dump_json(value)).encode(), LEVEL)

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> Any:  # noqa: ARG002
        """Back to a JSON value."""
        return None if value is None else json.loads(zlib.decompress(value))


class Name(TypeDecorator[str]):
    """A text of which only equality matters: the first eight bytes of its SHA-256. It goes in and does not come out."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:  # noqa: ARG002
        """To bytes; None is SQL's NULL."""
        return None if value is None else name_bytes(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002
        """The bytes, as ``name_bytes`` gives them."""
        return value if value is None else bytes(value)


def name_bytes(text: str) -> bytes:
    """What stands for a text in a column of ``Name``."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8]


class Hex(TypeDecorator[str]):
    """Hex digits as the bytes that they are."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:  # noqa: ARG002
        """To bytes; None is SQL's NULL."""
        return None if value is None else bytes.fromhex(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002
        """Back to digits."""
        return None if value is None else bytes(value).hex()


class Base(DeclarativeBase):
    """Root of the mapped classes."""

    metadata = MetaData(naming_convention=NAMING)
    retention_class: ClassVar[RetentionClass]
    subject_path: ClassVar[str]
    no_expiry: ClassVar[str] = ""


@dataclass(frozen=True)
class TableInfo:
    """What a table declares."""

    retention_class: RetentionClass
    subject_path: str
    expiry: str
    """``expires_at`` or ``none: reason``."""
