"""Every command, asset and route is an act of the table; who does it is decided first and written down."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from fastapi import FastAPI
from fastapi.routing import APIRoute

from governance.acting import INSTALLATION, acting
from governance.keys import DerivedKeyProvider
from governance.policy.acts import ASSETS, COMMANDS, ROUTES
from governance.ports.clock import RandomIds, SystemClock
from governance.records.audit import AuditEvent
from governance.records.rights_request import RequestKind, RightsRequest
from ingestion.intake import Intake
from ingestion.receiver import app_of
from ingestion.spool import Spool
from pipelines import authority
from pipelines.cli import main
from pipelines.ground import Ground
from pipelines.settings import TOKEN, child_environment, load_settings
from pipelines.tenant_keys import TenantKeys


def commands(command: click.Command, words: tuple[str, ...] = ()) -> dict[str, click.Command]:
    if not isinstance(command, click.Group):
        return {" ".join(words): command}
    context = click.Context(command)
    found: dict[str, click.Command] = {}
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        assert inner is not None
        found |= commands(inner, (*words, name))
    return found


def test_every_command_has_an_entry_and_every_entry_a_command() -> None:
    assert commands(main).keys() == COMMANDS.keys()


def test_every_asset_has_an_entry() -> None:
    from pipelines.definitions import definitions

    keys = definitions.resolve_asset_graph().get_all_asset_keys()
    assert {f"asset {key.to_user_string()}" for key in keys} == ASSETS.keys()


def routes(app: FastAPI) -> set[str]:
    return {f"{method} {one.path}" for one in app.routes if isinstance(one, APIRoute) for method in one.methods}


def test_every_route_has_an_entry(tmp_path: Path) -> None:
    from serving.gateway import create_app

    spool = Spool(tmp_path, DerivedKeyProvider("acts"), SystemClock(), RandomIds())
    nothing: Any = None
    gateway = create_app(
        deployments=nothing, releases=nothing, scopes=tuple, upstream_url="http://127.0.0.1:9",
        clock=SystemClock(), tenant_keys=dict, surrogates=nothing,
    )  # fmt: skip
    assert routes(app_of(Intake(spool, {}))) | routes(gateway) == ROUTES.keys()
    spool.close()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TIDEMILL_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TIDEMILL_AGENT", raising=False)
    monkeypatch.delenv(TOKEN, raising=False)
    TenantKeys(load_settings().keys / "tenants.json").of("t")
    return tmp_path / "home"


def call(*words: str, said: str = "", code: int = 0) -> Any:
    result = CliRunner().invoke(main, [*words, "--json"], input=said)
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def events(tenant: str) -> list[AuditEvent]:
    with Ground(load_settings()) as ground:
        return list(ground.store.audit.list(tenant))


def test_on_a_fresh_install_the_owner_acts_by_name_in_the_fitting_role(home: Path) -> None:
    call("rights", "grant", "--tenant", "t", said="C-1\n")
    event = events("t")[0]
    assert event.actor.startswith("local-owner-")
    assert (event.role, event.action, event.target) == ("reviewer", "act", "act:rights grant")
    assert "C-1" not in event.model_dump_json()


def test_a_failure_is_written_down_as_one(home: Path) -> None:
    call("rights", "fact", "end", "none", "--tenant", "t", code=1)
    assert [(one.action, one.detail) for one in events("t")] == [("act", {}), ("act_failed", {"error": "NotFound"})]


def test_asking_leaves_no_data_home_behind(home: Path) -> None:
    call("doctor")
    call("status")
    assert not home.exists()


def test_with_a_principal_each_act_needs_a_token_of_the_fitting_role(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin = call("principal", "add", "a-1", "--role", "admin")["token"]
    told = call("rights", "grant", "--tenant", "t", said="C-1\n", code=1)
    assert (told["kind"], "TIDEMILL_TOKEN" in told["error"]) == ("TokenRefused", True)
    monkeypatch.setenv(TOKEN, admin)
    engineer = call("principal", "add", "e-1", "--role", "engineer", "--days", "3")["token"]
    monkeypatch.setenv(TOKEN, engineer)
    assert call("rights", "grant", "--tenant", "t", said="C-1\n", code=1)["kind"] == "RoleDenied"
    refused = [
        (one.actor, one.target.removeprefix("act:")) for one in events(INSTALLATION) if one.action == "act_refused"
    ]
    assert refused == [("nobody", "rights grant"), ("e-1", "rights grant")]
    assert events("t") == []


def test_a_token_can_come_on_standard_input_before_what_the_command_reads(home: Path) -> None:
    admin = call("principal", "add", "a-1", "--role", "admin", "--role", "reviewer")["token"]
    call("--token-stdin", "rights", "withdraw", "--tenant", "t", said=f"{admin}\nC-1\n")
    assert [(one.actor, one.role) for one in events("t")] == [("a-1", "reviewer")]
    told = call("--token-stdin", "rights", "withdraw", "--tenant", "t", said="C-1\n", code=1)
    assert told["kind"] == "TokenRefused"


def test_a_principal_is_listed_rotated_and_revoked_and_no_token_is_shown_twice(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin = call("principal", "add", "a-1", "--role", "admin")["token"]
    monkeypatch.setenv(TOKEN, admin)
    old = call("principal", "add", "r-1", "--role", "reviewer", "--only-tenant", "t")["token"]
    new = call("principal", "rotate", "r-1")["token"]
    listed = call("principal", "list")
    assert (listed["r-1"]["roles"], listed["r-1"]["tenants"], len(listed["r-1"]["tokens"])) == (["reviewer"], ["t"], 1)
    assert not any(secret in json.dumps(listed) for secret in (admin, old, new))
    assert len(call("principal", "revoke", "r-1")["revoked"]) == 1
    assert call("principal", "revoke", "a-1", code=1)["kind"] == "RecordError"


def test_who_has_a_token_is_not_written_down_as_another(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN, call("principal", "add", "a-1", "--role", "admin", "--role", "reviewer")["token"])
    words = ("pii", "list", "add", "--tenant", "t", "--list", "deny", "--type", "PERSON", "--owner", "o", "--reason",
             "case 7", "--days", "3")  # fmt: skip
    assert call(*words, "--by", "r-2", said="Zorblax\n", code=1)["kind"] == "RoleDenied"
    assert call(*words, said="Zorblax\n")["actor"] == "a-1"


def test_a_child_process_gets_no_token(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN, "tmp_x")
    assert TOKEN not in child_environment(load_settings())


def test_an_asset_is_made_by_the_service_or_by_whose_command_turns_the_loop(home: Path) -> None:
    from contextvars import Context

    with Ground(load_settings()) as ground:
        Context().run(lambda: _make(ground))
        with authority.doing("cycle", ground.settings, tenant=None, token=None):
            _make(ground)
        made = [
            (one.actor[:11], one.role, one.target.removeprefix("act:")) for one in ground.store.audit.list(INSTALLATION)
        ]
    assert made == [
        ("tidemill", "service", "asset dataset"),
        ("local-owner", "engineer", "cycle"),
        ("local-owner", "engineer", "asset dataset"),
    ]


def _make(ground: Ground) -> None:
    with authority.asset(ground, "dataset"):
        assert acting().act


def test_an_approval_is_given_listed_and_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN, call("principal", "add", "a-1", "--role", "admin")["token"])
    with Ground(load_settings()) as ground:
        now = ground.clock.now()
        for by in ("a-1", "r-9"):
            ground.store.requests.put(
                RightsRequest(
                    id=f"request-{by}", tenant_id="t", subject="0" * 64, kind=RequestKind.ERASURE, requested_at=now,
                    due_at=now, actor=by,
                )
            )  # fmt: skip
    about = ("--tenant", "t", "--reason", "case 7")
    assert call("approval", "give", "erasure", "request-a-1", *about, code=1)["kind"] == "RoleDenied"
    made = call("approval", "give", "erasure", "request-r-9", *about)
    assert (made["decision"], made["builder"]) == ("approved", "r-9")
    assert call("approval", "give", "erasure", "nothing", *about, code=1)["kind"] == "NotFound"
    assert call("approval", "refuse", "erasure", "request-r-9", *about)["decision"] == "refused"
    assert [one["decision"] for one in call("approval", "list", "--tenant", "t")["approvals"]] == [
        "approved",
        "refused",
    ]


def test_what_must_be_approved_is_a_setting_that_is_checked(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEMILL_APPROVAL_REQUIRED", "erasure, promotion")
    assert sorted(load_settings().to_approve) == ["erasure", "promotion"]
    monkeypatch.setenv("TIDEMILL_APPROVAL_REQUIRED", "lunch")
    with pytest.raises(ValueError, match="lunch"):
        load_settings()
