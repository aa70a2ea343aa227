"""A data home: its keys apart, its agent fixed, every place claimed by someone who can erase."""

from __future__ import annotations

import gzip
import json
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from governance.errors import KeyMaterialError
from governance.rescan.needles import Needles
from governance.rescan.search import search
from pipelines.errors import ProductError
from pipelines.home import HomeFiles
from pipelines.product import choose, load_product
from pipelines.settings import Settings, load_settings
from pipelines.tenant_keys import TenantKeys
from pipelines.wiring import Mill

SHOP = "examples.shop.product:build"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(data_home=tmp_path / "home", agent=SHOP)


def test_every_table_and_folder_is_claimed(settings: Settings) -> None:
    """Promise 6: a place that nobody answers for would survive an erasure."""
    choose(settings, {"sessions": 21, "real_sessions": 0})
    with Mill(settings) as mill:
        claims = frozenset().union(*(place.claims for place in mill.erasables()))
        assert set(mill.store.tables()) <= claims
        mill.supervisor, mill.recording, mill.spool, mill.shelf  # noqa: B018 - made by asking
        made = {path.name for path in settings.home.iterdir()}
        journals = {name for name in made if name.startswith("tidemill.db-")}
        assert made - journals <= claims


def test_keys_lie_beside_the_home_and_are_private(settings: Settings) -> None:
    choose(settings, {"sessions": 21, "real_sessions": 0})
    with Mill(settings) as mill:
        mill.door.subject("harbor", "C-1")
    assert settings.home not in settings.keys.parents
    files = [path for path in settings.keys.iterdir() if path.is_file()]
    assert files
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in files if path.suffix != ".lock")


def test_a_home_speaks_of_one_agent(settings: Settings) -> None:
    choose(settings, {"seed": 1})
    choose(settings, {"seed": 1})
    with pytest.raises(ProductError, match="use another TIDEMILL_DATA_HOME"):
        choose(settings, {"seed": 2})


@pytest.mark.parametrize(
    ("agent", "words"),
    [("nowhere:build", "No module named"), ("json:loads", "examples"), ("examples.shop.product:nothing", "nothing")],
)
def test_a_wrong_agent_is_named(tmp_path: Path, agent: str, words: str) -> None:
    with pytest.raises(ProductError, match="TIDEMILL_AGENT"):
        load_product(load_settings(data_home=tmp_path, agent=agent))


def test_a_log_that_holds_a_person_is_found_and_removed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    subject = "ab" * 32
    (home / "run").mkdir(parents=True)
    (home / "run" / "control.log").write_text("x" * (1 << 20) + subject)
    place = HomeFiles(home, keys=tmp_path / "keys")
    assert place.count("t", subject) == 1
    assert len(place.erase("t", subject)) == 1
    assert place.count("t", subject) == 0


def test_every_claimed_folder_is_searched_and_purged(settings: Settings) -> None:
    """A file with a person's surrogate in it, whatever it is, is found in each place that holds files in clear."""
    needles = Needles(subject="ab" * 32, surrogates=("user-0123456789ab@example.com",))
    folders = {"run", "dagster", "report", "played", "adapters"}
    for name in folders:
        (settings.home / name / "deep").mkdir(parents=True)
        (settings.home / name / "deep" / "old.gz").write_bytes(gzip.compress(b"to user-0123456789ab@example.com"))
    with Mill(settings) as mill:
        places = mill.erasables()
        found = [search(place.name, place.contents(), needles) for place in places]
        assert {where.split("/")[0] for one in found if one.place != "adapters" for where in one.found} == folders - {
            "adapters"
        }
        assert [one.total for one in found if one.place == "adapters"] == [1]
        ended = [node.node.id for place in places for node in place.purge(needles)]
        assert sorted(ended) == sorted(f"file/{name}/deep/old.gz" for name in folders - {"adapters"})


def test_only_the_rows_of_a_database_that_name_the_person_go(tmp_path: Path) -> None:
    """A service may have the file open, and other runs are in it."""
    home = tmp_path / "home"
    (home / "dagster").mkdir(parents=True)
    subject = "ab" * 32
    with closing(sqlite3.connect(home / "dagster" / "runs.db")) as events:
        events.execute("CREATE TABLE event_logs (id INTEGER PRIMARY KEY, event TEXT)")
        events.executemany("INSERT INTO event_logs (event) VALUES (?)", [("start",), (f"of {subject}",), ("end",)])
        events.commit()
        place = HomeFiles(home, keys=tmp_path / "keys")
        assert (place.count("t", subject), len(place.erase("t", subject)), place.count("t", subject)) == (1, 1, 0)
        assert events.execute("SELECT event FROM event_logs").fetchall() == [("start",), ("end",)]
    assert search("home", place.contents(), Needles(subject=subject)).total == 0


def test_tenant_keys_are_made_once_and_private(tmp_path: Path) -> None:
    keys = TenantKeys(tmp_path / "keys" / "tenants.json")
    first = keys.of("a")
    assert keys.of("a") == first != keys.of("b")
    assert keys.by_key() == {first: "a", keys.of("b"): "b"}
    (tmp_path / "keys" / "tenants.json").chmod(0o644)
    with pytest.raises(KeyMaterialError, match="chmod 600"):
        keys.by_key()


def test_a_broken_key_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "tenants.json"
    path.touch(mode=0o600)
    path.write_text(json.dumps(["not", "a", "table"]))
    with pytest.raises(KeyMaterialError, match=r"tenants\.json"):
        TenantKeys(path).by_key()


def test_a_file_that_nobody_claims_is_searched_and_purged(settings: Settings) -> None:
    """A copy that somebody put there is found wherever it lies; another place's folder stays that place's."""
    subject = "ab" * 32
    for name in ("stray.jsonl", "copies/deep/old.jsonl", "adapters/x/sources.json"):
        file = settings.home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'{{"subject": "{subject}"}}')
    with Mill(settings) as mill:
        (place,) = [one for one in mill.erasables() if isinstance(one, HomeFiles)]
        assert place.count("t", subject) == 2
        assert {one.node.id for one in place.erase("t", subject)} == {"file/stray.jsonl", "file/copies/deep/old.jsonl"}
        assert place.count("t", subject) == 0
    assert (settings.home / "adapters/x/sources.json").exists()
