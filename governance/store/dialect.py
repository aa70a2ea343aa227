"""Everything that PostgreSQL and SQLite say differently, and nothing else.

- Engines: SQLite runs in WAL mode with foreign keys, a busy timeout, and ``BEGIN IMMEDIATE`` for writers, so a writer
  waits for its turn instead of failing half way, and its commits are synced where that is asked for (``DURABLE``);
  PostgreSQL runs at READ COMMITTED and writers lock the rows they decide on. Source: sqlite.org/wal.html,
  lang_transaction.html; PostgreSQL manual, chapter 13.
- What deleting leaves: SQLite overwrites deleted content (``secure_delete``), and ``scrub`` ends what is left of it.
- Upserts, row locks, named locks, and which errors mean "somebody else was first, try again".
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Select, create_engine, event, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError

from governance.errors import StoreError
from governance.store.base import Base

WRITER = "tidemill_writer"
"""Execution option of a connection whose transaction will write."""

DURABLE = "tidemill_durable"
"""Execution option of one whose commit returns when it is on the disk; PostgreSQL's always do."""

BUSY_TIMEOUT_MS = 60_000
CHUNK = 500
"""Keys per statement: below SQLite's limit of bound parameters whatever its build."""

LOCKS = 64
LOCK_SPACE = 0x71DE
"""First key of the advisory locks, apart from what else uses the database."""

RETRY_STATES = {"40001", "40P01"}
"""PostgreSQL: serialization failure, deadlock detected."""

Row = Mapping[str, Any]


def open_engine(url: str) -> Engine:
    """The engine of a database URL.

    Raises:
        StoreError: for a database that the store does not run on.

    """
    parsed = make_url(url)
    if parsed.get_backend_name() == "postgresql":
        return create_engine(parsed.set(drivername="postgresql+psycopg"), pool_size=8, max_overflow=16)
    if parsed.get_backend_name() != "sqlite" or parsed.database in (None, "", ":memory:"):
        raise StoreError(f"store: runs on a SQLite file or on PostgreSQL, not on {parsed.render_as_string()}")
    engine = create_engine(parsed, connect_args={"timeout": BUSY_TIMEOUT_MS / 1000}, pool_size=8, max_overflow=16)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # the "begin" event below starts transactions, not the driver
    timeout = f"busy_timeout={BUSY_TIMEOUT_MS}"
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "secure_delete=ON", timeout):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: Connection) -> None:
    options = connection.get_execution_options()
    writer = options.get(WRITER, False)
    if writer:
        connection.exec_driver_sql(f"PRAGMA synchronous={'FULL' if options.get(DURABLE, False) else 'NORMAL'}")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writer else "BEGIN")


def scrub(engine: Engine, tables: Iterable[str]) -> None:
    """Leave no bytes of deleted rows in the files of the database; outside of any transaction.

    SQLite rewrites the file and empties its write-ahead log; PostgreSQL rewrites the tables (``VACUUM FULL``, which
    locks each while it is rewritten), since a plain ``VACUUM`` leaves the bytes in the page until they are needed.
    """
    if engine.dialect.name == "postgresql":
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            for table in tables:
                connection.exec_driver_sql(f'VACUUM (FULL) "{table}"')
        return
    _raw(engine, ["PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"])


def settle(engine: Engine, tables: Iterable[str]) -> None:
    """The same for a few rows of small tables: SQLite has overwritten them, and only its log still has them."""
    if engine.dialect.name == "postgresql":
        scrub(engine, tables)
    else:
        _raw(engine, ["PRAGMA wal_checkpoint(TRUNCATE)"])


def _raw(engine: Engine, statements: Iterable[str]) -> None:
    """Run statements that stand outside of any transaction."""
    raw = engine.raw_connection()
    try:
        cursor = raw.cursor()
        for statement in statements:
            cursor.execute(statement)
            cursor.fetchall()
        cursor.close()
    finally:
        raw.close()


def file_of(engine: Engine) -> Path | None:
    """The file of a SQLite database; None on PostgreSQL."""
    return Path(str(engine.url.database)) if engine.dialect.name == "sqlite" else None


def is_retryable(error: DBAPIError) -> bool:
    """Whether the same transaction, run again, can succeed: it lost a race and was rolled back whole."""
    if isinstance(error, IntegrityError):
        return True
    state = getattr(error.orig, "sqlstate", None)
    locked = isinstance(error, OperationalError) and "database is locked" in str(error.orig)
    return state in RETRY_STATES or locked


def insert(connection: Connection, table: type[Base], rows: Sequence[Row]) -> None:
    """Insert rows whose keys nobody else can have."""
    if rows:
        connection.execute(table.__table__.insert(), list(rows))  # type: ignore[attr-defined]


def insert_new(connection: Connection, table: type[Base], rows: Sequence[Row]) -> None:
    """Insert the rows whose key is not there yet; leave the others as they are."""
    if not rows:
        return
    if connection.dialect.name == "postgresql":
        connection.execute(postgresql.insert(table).on_conflict_do_nothing(), list(rows))
    else:
        connection.execute(sqlite.insert(table).on_conflict_do_nothing(), list(rows))


def upsert(connection: Connection, table: type[Base], rows: Sequence[Row], update: Sequence[str]) -> None:
    """Insert rows; where the primary key is there already, set the columns of ``update`` and keep the others."""
    if not rows:
        return
    keys = list(table.__table__.primary_key)
    if connection.dialect.name == "postgresql":
        pg = postgresql.insert(table)
        connection.execute(
            pg.on_conflict_do_update(index_elements=keys, set_={name: pg.excluded[name] for name in update}),
            list(rows),
        )
    else:
        lite = sqlite.insert(table)
        connection.execute(
            lite.on_conflict_do_update(index_elements=keys, set_={name: lite.excluded[name] for name in update}),
            list(rows),
        )


def locks_rows(connection: Connection) -> bool:
    """Whether writers lock rows; SQLite's writer holds the file."""
    return connection.dialect.name == "postgresql"


def lock_rows(connection: Connection, statement: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    """The statement with its rows locked to the end of the transaction; SQLite's writer already holds the file."""
    return statement.with_for_update() if connection.dialect.name == "postgresql" else statement


def lock_names(connection: Connection, names: Iterable[str]) -> None:
    """Wait for the locks of those names and hold them to the end of the transaction.

    Names share a fixed number of locks, taken in order, so any number of names costs little and none deadlocks.
    """
    if connection.dialect.name != "postgresql":
        return
    places = sorted({zlib.crc32(name.encode()) % LOCKS for name in names})
    for place in places:
        connection.execute(select(func.pg_advisory_xact_lock(LOCK_SPACE, place)))
