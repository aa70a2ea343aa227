"""A key that is issued, rotated or revoked counts in a process that serves, without a restart."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from governance.errors import KeyMaterialError
from governance.keys import DerivedKeyProvider
from governance.ports.clock import RandomIds, SystemClock
from ingestion.otlp_decode import JSON
from ingestion.receiver import create_app
from ingestion.spool import Spool
from pipelines.tenant_keys import RECHECK_S, LiveTenantKeys, TenantKeys
from tests.ingestion.otlp_bodies import body, serving, span_json


class Served:
    """An intake over a key file, and a time that moves only when told."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seconds = 100.0
        self.keys = TenantKeys(path)
        self.url = ""

    def live(self) -> LiveTenantKeys:
        return LiveTenantKeys(self.keys, lambda: self.seconds)

    def write(self, text: str) -> None:
        self.path.touch(mode=0o600)
        self.path.write_text(text)

    def later(self) -> None:
        self.seconds += RECHECK_S

    def status(self, key: str) -> int:
        headers = {"x-tidemill-key": key, "content-type": JSON}
        return httpx.post(f"{self.url}/v1/traces", content=body(span_json(1)), headers=headers).status_code


@pytest.fixture
def served(tmp_path: Path, free_port: int) -> Iterator[Served]:
    served = Served(tmp_path / "tenants.json")
    served.keys.of("acme")
    spool = Spool(tmp_path / "spool", DerivedKeyProvider("live keys"), SystemClock(), RandomIds())
    with serving(create_app(spool, served.live()), free_port) as served.url:
        yield served
    spool.close()


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "pipelines.tenant_keys"]


def test_an_issued_key_opens_the_intake_within_the_bound(served: Served) -> None:
    made = served.keys.of("bolt")
    assert served.status(made) == 403
    served.later()
    assert served.status(made) == 200
    assert served.status(served.keys.of("acme")) == 200


def test_a_revoked_key_stops_working_and_its_successor_works(served: Served) -> None:
    old = served.keys.of("acme")
    served.write(json.dumps({old: "acme", "tm_new": "acme"}))
    served.later()
    assert (served.status(old), served.status("tm_new")) == (200, 200)
    served.write(json.dumps({"tm_new": "acme"}))
    served.later()
    assert (served.status(old), served.status("tm_new")) == (403, 200)


@pytest.mark.parametrize(
    "text",
    [
        "",
        '{"tm_new": "ac',
        "[1]",
        '{"tm_new": 1}',
        '{"": "acme"}',
        "[" * 100_000,
        "\x00",
        '{"bad\\ud800": "acme"}',
        '{"cl\u00e9": "acme"}',
    ],
)
def test_a_malformed_file_leaves_the_last_good_keys_in_force(
    served: Served, caplog: pytest.LogCaptureFixture, text: str
) -> None:
    key = served.keys.of("acme")
    served.write(text)
    for _ in range(3):
        served.later()
        assert (served.status(key), served.status("tm_new")) == (200, 403)
    (warning,) = warnings(caplog)
    assert str(served.path) in warning
    assert "stay in force" in warning
    served.write('{"tm_new": "acme"}')
    served.later()
    assert (served.status(key), served.status("tm_new")) == (403, 200)


def test_a_file_open_to_others_is_not_taken(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    key = served.keys.of("acme")
    served.write('{"tm_new": "acme"}')
    served.path.chmod(0o644)
    served.later()
    assert (served.status(key), served.status("tm_new")) == (200, 403)
    assert "chmod 600" in warnings(caplog)[0]


def test_a_file_that_cannot_be_read_leaves_the_last_good_keys_in_force(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    key = served.keys.of("acme")
    served.path.unlink()
    served.path.mkdir(mode=0o700)
    served.later()
    assert served.status(key) == 200
    assert str(served.path) in warnings(caplog)[0]


@pytest.mark.parametrize("gone", [True, False])
def test_no_key_is_said_and_refuses_everything(served: Served, caplog: pytest.LogCaptureFixture, gone: bool) -> None:
    key = served.keys.of("acme")
    served.path.unlink() if gone else served.write("{}")
    served.later()
    assert served.status(key) == 403
    (warning,) = warnings(caplog)
    assert "every span will be refused until `tidemill up` issues one" in warning
    made = served.keys.of("acme")
    served.later()
    assert served.status(made) == 200


def test_a_start_without_a_key_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    assert Served(tmp_path / "tenants.json").live()() == {}
    (warning,) = warnings(caplog)
    assert "tenants.json: no tenant key; every span will be refused until `tidemill up`" in warning


def test_a_start_on_a_malformed_file_fails(tmp_path: Path) -> None:
    served = Served(tmp_path / "tenants.json")
    served.write("{")
    with pytest.raises(KeyMaterialError, match=r"tenants\.json"):
        served.live()


def test_nothing_new_is_the_same_object_and_the_file_is_not_read(tmp_path: Path) -> None:
    served = Served(tmp_path / "tenants.json")
    served.keys.of("acme")
    live = served.live()
    first = live()
    served.later()
    assert live() is first
    served.path.unlink()
    served.seconds += RECHECK_S / 2
    assert live() is first
