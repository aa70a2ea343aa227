"""Schema migrations: Alembic, driven from code, without a configuration file.

Opening a store brings its schema to this code's head inside one transaction under a lock, so processes that start
together migrate once. A database that is ahead of the code is refused.

Most openings find nothing to do, so the question "is it at head?" is answered without Alembic, which is slow to
import: each script's name begins with its revision, revisions are numbered in order, and the database holds its own in
Alembic's one-row table.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, inspect, text

from governance.errors import MigrationNeeded
from governance.store import dialect

if TYPE_CHECKING:
    from alembic.config import Config

SCRIPTS = Path(__file__).parent / "migrations"
VERSION_TABLE = "alembic_version"


def config(connection: Connection | None = None) -> Config:
    """Alembic's configuration for one connection."""
    from alembic.config import Config

    made = Config()
    made.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    made.attributes["connection"] = connection
    return made


def head() -> str:
    """The revision that this code was written for."""
    return max(path.name.partition("_")[0] for path in (SCRIPTS / "versions").glob("[0-9]*_*.py"))


def current(connection: Connection) -> str | None:
    """The revision that the database is at; None when it is empty."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    revision: str | None = connection.scalar(text(f"SELECT version_num FROM {VERSION_TABLE}"))  # noqa: S608 - a constant
    return revision


def upgrade(engine: Engine, revision: str = "head") -> None:
    """Bring the schema up to ``revision``.

    Raises:
        MigrationNeeded: when the database is at a revision that this code does not know.

    """
    with engine.connect() as connection:
        at = current(connection)
    if revision == "head" and at == head():
        return
    from alembic import command
    from alembic.util.exc import CommandError

    with engine.connect().execution_options(**{dialect.WRITER: True}) as connection, connection.begin():
        dialect.lock_names(connection, ["schema"])
        try:
            command.upgrade(config(connection), revision)
        except CommandError as error:
            raise MigrationNeeded(f"store: the database is at revision {at}, unknown to this code") from error


def downgrade(engine: Engine, revision: str) -> None:
    """Take the schema back to ``revision`` (``base``: empty)."""
    from alembic import command

    with engine.connect().execution_options(**{dialect.WRITER: True}) as connection, connection.begin():
        command.downgrade(config(connection), revision)
