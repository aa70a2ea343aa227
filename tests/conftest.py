"""Fixtures that every package's tests share; what they are made of stands in tests/support.

A test that takes ``database_url`` runs on SQLite and on a real PostgreSQL, each time in a fresh database. Where a
needed service is missing the test is skipped with the reason, except in continuous integration (``CI=true``) or with
``TIDEMILL_REQUIRE_SERVICES=1``: there it fails.

Property tests draw the same examples in every run, so that a failure is of the change that brought it; with ``--long``
they draw new ones each time.
"""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from governance.acting import Acting, acts_as
from governance.records.principal import Principal, PrincipalKind, Role
from tests.support.clock import ManualClock
from tests.support.ids import SeededIds
from tests.support.postgres import PostgresMissing, PostgresServer, start

ROOT = Path(__file__).resolve().parent.parent
TESTER = Principal(name="tester", kind=PrincipalKind.PERSON, roles=(Role.REVIEWER,))
OFF = {"", "0", "false", "no"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also run the tests marked long")


def pytest_configure(config: pytest.Config) -> None:
    slow = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}  # a busy machine is no fault of a test
    settings.register_profile("same", derandomize=True, **slow)
    settings.register_profile("new", print_blob=True, **slow)
    settings.load_profile("new" if config.getoption("--long") else "same")


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes are named by their argument: what a packer writes differs from process to process (the time in a gzip
    header), and every worker has to collect the same names."""
    return argname if isinstance(val, bytes) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--long"):
        return
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(pytest.mark.skip(reason="long: runs with --long"))


def services_required() -> bool:
    """Whether a missing service is an error."""
    return any(os.environ.get(name, "").lower() not in OFF for name in ("CI", "TIDEMILL_REQUIRE_SERVICES"))


@pytest.fixture(autouse=True)
def _environment() -> Iterator[None]:
    """A command that adopts its settings into the environment leaves none of them to the next test."""
    before = dict(os.environ)
    yield
    for name in os.environ.keys() - before.keys():
        del os.environ[name]
    os.environ.update(before)


@pytest.fixture(autouse=True)
def _reviewer() -> Iterator[None]:
    """A test acts as a reviewer, as somebody who asks for `comply` has to; tests of roles bind who acts themselves."""
    with acts_as(Acting(TESTER, Role.REVIEWER)):
        yield


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout's folder."""
    return ROOT


@pytest.fixture(scope="session")
def cases_dir() -> Path:
    """Real cases from elsewhere, laid beside the checkout; they are not part of it."""
    folder = ROOT.parent / "shared" / "cases"
    if not folder.is_dir():
        pytest.skip("no folder ../shared/cases beside the checkout: the shared cases are not here")
    return folder


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """One PostgreSQL server for the session (for each worker under ``-n``)."""
    try:
        server = start()
    except PostgresMissing as error:
        if services_required():
            pytest.fail(f"PostgreSQL is required here and missing: {error}")
        pytest.skip(f"PostgreSQL is missing: {error}")
    yield server
    server.stop()


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a fresh, empty database."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'tidemill.db'}"
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    with server.database() as url:
        yield url


@pytest.fixture
def clock() -> ManualClock:
    """Time that moves only when the test moves it."""
    return ManualClock()


@pytest.fixture
def ids() -> SeededIds:
    """Identifiers that repeat from one run to the next."""
    return SeededIds()


@pytest.fixture
def free_port() -> int:
    """A loopback port that nothing listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
    return port


@pytest.fixture(scope="session")
def base_model_dir() -> Path:
    """The packaged base model as a folder that transformers and vLLM load; made once per checkout (about a minute).

    Tests that take it carry the marker ``model``.
    """
    from serving.base_model import prepare

    target = ROOT / "data" / "cache" / "base-model"
    target.parent.mkdir(parents=True, exist_ok=True)
    with (target.parent / "base-model.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # workers of one run meet here; prepare() itself is idempotent
        prepare(None, target)
    return target
