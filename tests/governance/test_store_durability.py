"""A transaction that is asked to be durable is synced to the disk when it ends; SQLite leaves others to its log."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import text

from governance.store.database import Database

NORMAL, FULL = 1, 2
"""Values of SQLite's ``PRAGMA synchronous``."""


@pytest.mark.parametrize(("durable", "level"), [(True, FULL), (False, NORMAL)])
def test_what_must_be_durable_is_synced(tmp_path: Path, durable: bool, level: int) -> None:
    database = Database(f"sqlite:///{tmp_path / 'a.db'}")
    with database.write(durable=not durable):  # the connection comes back from the pool with the other setting
        pass
    with database.write(durable=durable) as connection:
        assert connection.scalar(text("PRAGMA synchronous")) == level
    database.close()
