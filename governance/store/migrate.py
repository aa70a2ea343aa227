"""Schema migrations: Alembic, driven from code, without a configuration file.

Opening a store brings its schema to this code's head inside one transaction under a lock, so processes that start
together migrate once. A database that is ahead of the code is refused.
"""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util.exc import CommandError
from sqlalchemy import Connection, Engine

from governance.errors import MigrationNeeded
from governance.store import dialect

SCRIPTS = Path(__file__).parent / "migrations"


def config(connection: Connection | None = None) -> Config:
    """Alembic's configuration for one connection."""
    made = Config()
    made.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    made.attributes["connection"] = connection
    return made


def head() -> str | None:
    """The revision that this code was written for."""
    return ScriptDirectory.from_config(config()).get_current_head()


def current(connection: Connection) -> str | None:
    """The revision that the database is at; None when it is empty."""
    return MigrationContext.configure(connection).get_current_revision()


def upgrade(engine: Engine, revision: str = "head") -> None:
    """Bring the schema up to ``revision``.

    Raises:
        MigrationNeeded: when the database is at a revision that this code does not know.

    """
    with engine.connect() as connection:
        at = current(connection)
    if revision == "head" and at == head():
        return
    with engine.connect().execution_options(**{dialect.WRITER: True}) as connection, connection.begin():
        dialect.lock_names(connection, ["schema"])
        try:
            command.upgrade(config(connection), revision)
        except CommandError as error:
            raise MigrationNeeded(f"store: the database is at revision {at}, unknown to this code") from error


def downgrade(engine: Engine, revision: str) -> None:
    """Take the schema back to ``revision`` (``base``: empty)."""
    with engine.connect().execution_options(**{dialect.WRITER: True}) as connection, connection.begin():
        command.downgrade(config(connection), revision)
