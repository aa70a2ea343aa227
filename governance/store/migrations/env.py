"""Alembic's environment: runs on the connection that ``governance.store.migrate`` hands over."""

from __future__ import annotations

from alembic import context

from governance.store.schema import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    render_as_batch=True,
    compare_type=True,
)
context.run_migrations()
