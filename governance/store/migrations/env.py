"""Alembic's environment: runs on the connection that ``governance.store.migrate`` hands over."""

from __future__ import annotations

from alembic import context

from governance.store.schema import METADATA

# No batch: SQLite would rebuild the table, and dropping the old one deletes what cascades from it.
context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    compare_type=True,
)
context.run_migrations()
