"""``tidemill tenant keys``: a key is shown once, rotates with an overlap, and is revoked by its id."""

from __future__ import annotations

import json
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from governance.errors import KeyMaterialError, NotFound
from ingestion.credentials import KeyUse
from pipelines.cli import main
from pipelines.settings import load_settings
from pipelines.tenant_keys import TenantKeys
from tests.support.clock import ManualClock


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TIDEMILL_DATA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def told(*words: str) -> tuple[int, dict[str, Any], str]:
    result = CliRunner().invoke(main, ["tenant", "keys", *words, "--json"])
    return result.exit_code, json.loads(result.output.splitlines()[-1]), result.output


def opens() -> dict[str, str]:
    return TenantKeys(load_settings().keys / "tenants.json").by_key()


def test_a_key_is_shown_when_it_is_made_and_never_again(home: Path) -> None:
    code, made, _ = told("add", "--tenant", "harbor")
    assert code == 0
    assert opens() == {made["key"]: "harbor"}
    code, listed, output = told("list")
    assert (code, listed["keys"]) == (0, 1)
    assert listed[made["id"]]["tenant"] == "harbor"
    assert made["key"] not in output
    assert made["key"][9:] not in output
    for words in (("rotate", "--tenant", "harbor"), ("revoke", made["id"], "--tenant", "harbor")):
        assert made["key"] not in told(*words)[2]
    assert made["key"] not in opens()


def test_old_and_new_overlap_until_the_date(home: Path) -> None:
    first = told("add", "--tenant", "harbor")[1]
    other = told("add", "--tenant", "bolt")[1]
    code, second, _ = told("rotate", "--tenant", "harbor", "--until", "2999-01-01")
    assert code == 0
    assert second["old_keys"][first["id"]]["until"] == "2999-01-01T00:00:00+00:00"
    assert set(opens()) == {first["key"], second["key"], other["key"]}
    code, refused, _ = told("rotate", "--tenant", "harbor", "--until", "2020-01-01")
    assert (code, "is over" in refused["error"]) == (1, True)
    assert set(opens()) == {first["key"], second["key"], other["key"]}


def test_revoking_names_one_key_of_the_tenant(home: Path) -> None:
    one, two = (told("add", "--tenant", "harbor")[1] for _ in range(2))
    other = told("add", "--tenant", "bolt")[1]
    for id_ in ("", "zz", other["id"]):
        code, answer, _ = told("revoke", id_, "--tenant", "harbor")
        assert (code, answer["kind"]) == (1, "NotFound")
    assert told("revoke", one["id"], "--tenant", "harbor")[1]["keys_left"] == 1
    assert set(opens()) == {two["key"], other["key"]}


@pytest.mark.parametrize("name", ["", "a/b", "a b", "-x", "\u00e9", "x" * 65, "a\n"])
def test_a_name_that_no_tenant_can_have(home: Path, name: str) -> None:
    code, answer, _ = told("add", f"--tenant={name}")
    assert (code, answer["kind"]) == (1, "KeyMaterialError")
    assert opens() == {}


def test_nothing_to_rotate_is_said(home: Path) -> None:
    code, answer, _ = told("rotate", "--tenant", "harbor")
    assert (code, answer["kind"]) == (1, "NotFound")


def test_an_end_comes_without_a_change_of_the_file(tmp_path: Path) -> None:
    clock = ManualClock()
    keys = TenantKeys(tmp_path / "tenants.json", clock)
    first = keys.add("acme")
    second = keys.rotate("acme", clock.now() + timedelta(hours=1))
    assert set(keys.by_key()) == {first.key, second.key}
    third = keys.rotate("acme", clock.now() + timedelta(days=9))
    clock.advance(hours=1)
    assert set(keys.by_key()) == {second.key, third.key}
    assert {entry.key for entry in keys.entries()} == {first.key, second.key, third.key}
    keys.add("bolt")
    assert first.key not in {entry.key for entry in keys.entries()}


def test_own_clients_get_a_key_that_stays(tmp_path: Path) -> None:
    clock = ManualClock()
    keys = TenantKeys(tmp_path / "tenants.json", clock)
    old = keys.of("acme")
    new = keys.rotate("acme", clock.now() + timedelta(hours=1))
    assert keys.of("acme") == new.key != old
    keys.revoke("acme", new.id)
    assert keys.of("acme") not in {old, new.key}


def test_keys_without_more_are_read_as_before(tmp_path: Path) -> None:
    path = tmp_path / "tenants.json"
    path.touch(mode=0o600)
    path.write_text('{"plain": "acme", "short": {"tenant": "bolt", "until": "2026-03-02T10:00:00"}}')
    clock = ManualClock()
    assert TenantKeys(path, clock).by_key() == {"plain": "acme", "short": "bolt"}
    clock.advance(hours=1)
    assert TenantKeys(path, clock).by_key() == {"plain": "acme"}


@pytest.mark.parametrize(
    "value", ["1", "null", "[]", "{}", '{"tenant": 1}', '{"tenant": "a", "until": "soon"}', '{"tenant":"a","until":5}']
)
def test_a_value_that_is_none_is_refused(tmp_path: Path, value: str) -> None:
    path = tmp_path / "tenants.json"
    path.touch(mode=0o600)
    path.write_text(f'{{"key": {value}}}')
    with pytest.raises(KeyMaterialError, match=r"tenants\.json"):
        TenantKeys(path).by_key()


def test_changes_at_once_are_all_kept_and_no_reader_sees_half(tmp_path: Path) -> None:
    path = tmp_path / "tenants.json"
    keys = TenantKeys(path)
    keys.add("acme")
    stop, faults = threading.Event(), []

    def read() -> None:
        while not stop.is_set():
            try:
                assert TenantKeys(path).by_key()
            except (AssertionError, KeyMaterialError) as error:
                faults.append(error)

    reader = threading.Thread(target=read)
    writers = [threading.Thread(target=lambda n=n: TenantKeys(path).add(f"t{n}")) for n in range(12)]
    for thread in (reader, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    stop.set()
    reader.join()
    assert faults == []
    assert len(keys.by_key()) == 13
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(NotFound):
        keys.revoke("t1", "nothing")


def test_keys_for_consent_are_apart_from_those_that_agents_carry(home: Path) -> None:
    sends = told("add", "--tenant", "harbor")[1]
    speaks = told("add", "--tenant", "harbor", "--for", "consent")[1]
    assert (sends["for"], speaks["for"]) == ("telemetry", "consent")
    keys = TenantKeys(load_settings().keys / "tenants.json")
    assert (keys.by_key(), keys.by_key(KeyUse.CONSENT)) == ({sends["key"]: "harbor"}, {speaks["key"]: "harbor"})
    assert keys.of("harbor") == sends["key"]
    code, second, _ = told("rotate", "--tenant", "harbor", "--for", "consent")
    assert (code, list(second["old_keys"])) == (0, [speaks["id"]])
    assert keys.by_key() == {sends["key"]: "harbor"}
    assert set(keys.by_key(KeyUse.CONSENT)) == {speaks["key"], second["key"]}
    assert told("list")[1][second["id"]]["for"] == "consent"
    assert told("rotate", "--tenant", "bolt", "--for", "consent")[0] == 1
