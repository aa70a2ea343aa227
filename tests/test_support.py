"""The fixtures themselves: what other tests lean on."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from tests.support.clock import ManualClock
from tests.support.ids import SeededIds
from tests.support.postgres import PostgresServer


def count_tables(url: str) -> int:
    engine = create_engine(url)
    with engine.begin() as connection:
        table = (
            "sqlite_master WHERE type = 'table'"
            if engine.dialect.name == "sqlite"
            else "pg_tables WHERE schemaname = 'public'"
        )
        found: int = connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one()
        connection.execute(text("CREATE TABLE left_behind (id INTEGER)"))
    engine.dispose()
    return found


@pytest.mark.parametrize("turn", [1, 2])
def test_each_test_gets_an_empty_database(database_url: str, turn: int) -> None:
    assert count_tables(database_url) == 0


def test_two_databases_of_one_server_do_not_meet(postgres_server: PostgresServer) -> None:
    with postgres_server.database() as one, postgres_server.database() as other:
        assert one != other
        assert count_tables(one) == 0
        assert count_tables(other) == 0


def test_a_database_goes_even_with_a_connection_open(postgres_server: PostgresServer) -> None:
    with postgres_server.database() as url:
        engine = create_engine(url)
        connection = engine.connect()
        connection.execute(text("SELECT 1"))
    with pytest.raises(Exception, match=r"terminating connection|closed"):
        connection.execute(text("SELECT 1"))
    connection.close()
    engine.dispose()


def test_clock_moves_only_when_told(clock: ManualClock) -> None:
    before = clock.now()
    assert clock.now() == before
    assert clock.advance(hours=2) - before == timedelta(hours=2)
    assert clock.advance(timedelta(days=1)) == clock.now()
    with pytest.raises(ValueError, match="backwards"):
        clock.advance(seconds=-1)
    clock.set(datetime(2025, 1, 1, tzinfo=UTC))
    assert clock.now().year == 2025


def test_ids_repeat_for_a_seed_and_differ_between_seeds() -> None:
    def draw(seed: str) -> list[str]:
        ids = SeededIds(seed)
        return [ids.hex(8) for _ in range(100)]

    assert draw("a") == draw("a")
    assert not set(draw("a")) & set(draw("b"))
    assert len(set(draw("a"))) == 100
    assert all(len(each) == 16 for each in draw("a"))


@pytest.mark.parametrize(("ci", "outcome"), [("true", "1 error"), ("", "1 skipped")])
def test_a_missing_server_fails_only_where_services_are_required(
    root: Path, tmp_path: Path, ci: str, outcome: str
) -> None:
    (tmp_path / "conftest.py").write_text(
        "from tests.conftest import *\n"
        "from tests.support import postgres\n"
        "postgres.BINARIES = ()\n"  # as on a machine without the packages
    )
    (tmp_path / "test_one.py").write_text("def test_one(postgres_server): pass\n")
    environment = {"PATH": str(tmp_path), "PYTHONPATH": str(root), "CI": ci}
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert outcome in done.stdout, done.stdout + done.stderr
    assert "PostgreSQL is" in done.stdout
