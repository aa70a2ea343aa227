"""A data home: its keys apart, its agent fixed, every place claimed by someone who can erase."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from governance.errors import KeyMaterialError
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
