"""What holds for every table: its declarations, its migrations, its sweep."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, MetaData, func, inspect, select, text

from governance.errors import MigrationNeeded, StoreError
from governance.records.retention import RETENTION, RetentionClass
from governance.records.rights import FactKind, Purpose
from governance.store import Store, dialect, findings, migrate, schema
from governance.store.holds import RENEWAL
from tests.governance.store_records import (
    T0,
    T1,
    adapter,
    bundle,
    manifest,
    person,
    rights_fact,
    row,
    signal,
    span,
    trajectory,
)  # fmt: skip
from tests.governance.store_workers import latest
from tests.support.clock import ManualClock

TABLES = schema.table_info()


@pytest.mark.parametrize("name", TABLES)
def test_each_table_says_its_class_its_way_to_a_person_and_its_expiry(name: str) -> None:
    info = TABLES[name]
    assert isinstance(info.retention_class, RetentionClass)
    cls = next(m.class_ for m in schema.mappers() if m.class_.__tablename__ == name)
    path = info.subject_path
    assert path == "refs" or path.startswith("none: ") or path in cls.__table__.columns
    assert ("subject" in cls.__table__.columns) <= (path == "subject"), "a subject column that the path does not name"
    assert info.expiry == "expires_at" or len(info.expiry) > len("none: ")
    if path not in {"refs"} and not path.startswith("none: "):
        assert name in findings.subject_columns()


def test_a_table_that_declares_nothing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class Bare:
        class_ = type("Bare", (), {"__tablename__": "bare", "no_expiry": ""})
        columns: tuple[str, ...] = ()

    monkeypatch.setattr(schema, "mappers", lambda: [Bare])
    with pytest.raises(StoreError, match="no retention class"):
        schema.table_info()
    declared = {"retention_class": RetentionClass.CONTENT, "subject_path": "none: test"}
    monkeypatch.setattr(Bare, "class_", type("Bare", (Bare.class_,), declared))
    with pytest.raises(StoreError, match="neither an expiry"):
        schema.table_info()


def test_migrations_go_up_and_down_and_equal_the_models(database_url: str) -> None:
    engine = dialect.open_engine(database_url)
    migrate.upgrade(engine)
    migrate.upgrade(engine)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, schema.METADATA) == []
        assert set(inspect(connection).get_table_names()) == {*TABLES, "alembic_version"}
    migrate.downgrade(engine, "base")
    with engine.connect() as connection:
        assert inspect(connection).get_table_names() == ["alembic_version"]
    migrate.upgrade(engine)
    with engine.begin() as connection:
        connection.execute(text("update alembic_version set version_num = 'from-the-future'"))
    with pytest.raises(MigrationNeeded):
        migrate.upgrade(engine)
    engine.dispose()


def filled(engine: Engine) -> dict[str, int]:
    """One row in every table, each of them the parent or the child of the others."""
    held = MetaData()
    held.reflect(engine)
    samples = {str: "x", int: 1, float: 1.0, bool: True, bytes: b"x", datetime: T0}
    with engine.begin() as connection:
        for table in held.sorted_tables:
            if table.name != migrate.VERSION_TABLE:
                row = {column.name: samples[column.type.python_type] for column in table.columns}
                connection.execute(table.insert().values(row))
    return counts(engine)


def counts(engine: Engine) -> dict[str, int]:
    """Table to the number of its rows."""
    held = MetaData()
    held.reflect(engine)
    with engine.connect() as connection:
        return {
            table.name: connection.scalar(select(func.count()).select_from(table)) or 0
            for table in held.tables.values()
        }


def test_going_down_and_up_again_keeps_the_rows_of_every_table_that_stays(database_url: str) -> None:
    """Those of a table that loses a column, and those that are deleted with them."""
    engine = dialect.open_engine(database_url)
    migrate.upgrade(engine)
    before = filled(engine)
    assert set(before.values()) == {1}
    migrate.downgrade(engine, "0004")
    below = counts(engine)
    assert {"worlds", "world_subjects", "world_successors", "spans", "ledger", "quarantine"} <= below.keys()
    assert set(below.values()) == {1}
    migrate.upgrade(engine)
    made_anew = {"audit_heads"}  # from the chains that stayed
    assert counts(engine) == {name: int(name in below or name in made_anew) for name in before}
    engine.dispose()


def test_whether_a_schema_is_at_head_is_told_as_alembic_tells_it(database_url: str) -> None:
    assert migrate.head() == ScriptDirectory.from_config(migrate.config()).get_current_head()
    engine = dialect.open_engine(database_url)
    for revision in (None, "0001", "head"):
        if revision:
            migrate.upgrade(engine, revision)
        with engine.connect() as connection:
            assert migrate.current(connection) == MigrationContext.configure(connection).get_current_revision()
    migrate.downgrade(engine, "base")
    with engine.connect() as connection:
        assert migrate.current(connection) is None
    engine.dispose()


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "mysql://localhost/x"])
def test_databases_that_the_store_does_not_run_on(url: str) -> None:
    with pytest.raises(StoreError):
        dialect.open_engine(url)


def test_sqlite_is_set_up_for_many_writers(tmp_path: Path) -> None:
    engine = dialect.open_engine(f"sqlite:///{tmp_path / 'x.db'}")
    with engine.connect() as connection:
        pragmas = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "foreign_keys", "busy_timeout")
        }
    assert pragmas == {"journal_mode": "wal", "foreign_keys": 1, "busy_timeout": dialect.BUSY_TIMEOUT_MS}
    engine.dispose()


def test_a_row_dies_with_its_last_lawful_clock(store: Store, clock: ManualClock) -> None:
    store.spans.merge([span(1, subject=person(1))], latest)
    store.trajectories.put(trajectory(1, subject=person(1)))
    store.signals.put_all([signal(trajectory(1, subject=person(1)))])
    soon = clock.now() + timedelta(hours=1)
    store.quarantine.put("q", "acme", b"sealed", "detector failed", soon, day="2026-03-02", spans=1)
    assert store.overdue(clock.now()) == {}
    until = clock.now() + RETENTION[RetentionClass.CONTENT]
    clock.set(until)
    assert store.overdue(until).keys() >= {"spans", "trajectories", "signals", "quarantine"}
    swept = store.sweep(until)
    assert (swept["spans"], swept["trajectories"], swept["signals"], swept["quarantine"]) == (1, 1, 1, 1)
    assert store.overdue(until) == {}
    assert store.sweep(until) == {}
    assert store.erasable().count("acme", person(1)) == 0


@pytest.mark.parametrize("whole", [False, True])
def test_what_a_hold_covers_outlives_its_clock_and_goes_when_the_hold_ends(
    store: Store, clock: ManualClock, whole: bool
) -> None:
    for number in (1, 2):
        store.spans.merge([span(number, subject=person(number)), span(number, 1, subject="unknown")], latest)
        store.trajectories.put(trajectory(number, subject=person(number)))
        store.signals.put_all([signal(trajectory(number, subject=person(number)))])
    hold = rights_fact(FactKind.HOLD, None if whole else person(1), id="h")
    store.rights.add_facts([hold])
    until = clock.now() + RETENTION[RetentionClass.CONTENT]
    clock.set(until)
    swept = store.sweep(until)
    assert swept.get("trajectories", 0) == (0 if whole else 1)
    assert store.overdue(until) == {}
    assert store.erasable().count("acme", person(1)) >= 4, "the spans of the trace that name nobody are theirs"
    ended = hold.model_copy(update={"id": "e", "supersedes": "h", "valid_to": until, "recorded_at": until})
    store.rights.add_facts([ended])
    later = clock.advance(RENEWAL)
    assert store.sweep(later)["trajectories"] == (2 if whole else 1)
    assert store.overdue(later) == {}


def test_putting_again_does_not_prolong_a_life(store: Store, clock: ManualClock) -> None:
    store.trajectories.put(trajectory(1, subject=person(1)))
    until = clock.now() + RETENTION[RetentionClass.CONTENT]
    clock.advance(days=100)
    store.trajectories.put(trajectory(1, subject=person(1), text="changed"))
    assert store.sweep(until)["trajectories"] == 1


def test_what_production_stands_on_lives_on(store: Store, clock: ManualClock) -> None:
    verdict = store.rights.verdict(Purpose.COMPLY, "acme", person(1), T1)
    rows = [row(trajectory(1, subject=person(1)), verdict)]
    roots = []
    for number, version in ((1, 0), (2, 1)):
        made = manifest([rows[0].model_copy(update={"step": number})])
        store.datasets.put(made, rows, [])
        weights = adapter(made.root, number)
        store.adapters.put(weights, f"adapters/{number}", {})
        release = bundle(weights=weights)
        store.releases.put(release, None, "test")
        store.deployments.switch("shop@acme", version, release.release.digest(), "better", "manager")
        roots.append(made.root)
    now = clock.advance(RETENTION[RetentionClass.ARTIFACT])
    store.sweep(now)
    assert [ref.content_digest for ref in store.adapters.list()] == [adapter(roots[1], 2).content_digest]
    assert len(store.releases.list()) == 1
    assert store.overdue(now) == {}
    assert now > T0
