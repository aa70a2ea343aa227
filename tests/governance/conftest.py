"""Fixtures of governance's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from governance.store import Store
from tests.support.clock import ManualClock
from tests.support.ids import SeededIds


def block_key(tenant_id: str) -> bytes:
    return f"key of {tenant_id}".encode()


@pytest.fixture
def store(database_url: str, clock: ManualClock, ids: SeededIds) -> Iterator[Store]:
    """An empty store: every test that takes it runs on SQLite and on PostgreSQL."""
    opened = Store.open(database_url, clock=clock, block_key=block_key, ids=ids)
    yield opened
    opened.close()
