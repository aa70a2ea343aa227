"""``tidemill principal``: who may act, and their tokens. A token is printed once, when it is made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click

from governance.errors import RecordError
from governance.records.principal import HUMAN_ROLES, Role
from pipelines.commands.output import Result, reports

if TYPE_CHECKING:
    from governance.authority import Authority
    from governance.records.principal import Token
    from pipelines.ground import Ground

ROLES = click.Choice([role.value for role in HUMAN_ROLES])
NOTE = "this token is not shown again; pass it as TIDEMILL_TOKEN, or as the first line of --token-stdin"
_days = click.option("--days", type=click.IntRange(1, 3650), help="How long the token lasts; no end when not given.")


@click.group()
def principal() -> None:
    """Make and end principals. While there is none, the owner of the data home acts in every role."""


@contextmanager
def _opened() -> Iterator[tuple[Ground, Authority]]:
    from governance.authority import Authority
    from pipelines.ground import Ground
    from pipelines.settings import load_settings

    with Ground(load_settings()) as ground:
        yield ground, Authority(ground.store, ground.clock, ground.ids)


@principal.command(epilog="Example: tidemill principal add r-17 --role reviewer --only-tenant harbor --days 90")
@click.argument("name")
@click.option("--role", "roles", multiple=True, required=True, type=ROLES, help="May be repeated.")
@click.option("--only-tenant", "tenants", multiple=True, help="May be repeated; all tenants when not given.")
@_days
@reports
def add(name: str, roles: tuple[str, ...], tenants: tuple[str, ...], days: int | None) -> Result:
    """Make a principal and print their token. NAME is a handle such as r-17, never a person's real name.

    From the first one on every act needs a token, so the first has to be an admin of all tenants.
    """
    with _opened() as (ground, authority):
        until = None if days is None else ground.clock.now() + timedelta(days=days)
        made, secret = authority.enrol(name, tuple(map(Role, roles)), tenants or None, until)
    return {"principal": made.name, "roles": list(roles), "tenants": _tenants(tenants or None), **_token(secret, until)}


@principal.command("list", epilog="Example: tidemill principal list --json")
@reports
def list_() -> Result:
    """Say who there is, in which roles, and which of their tokens are in force; never a token."""
    with _opened() as (ground, _):
        now, tokens = ground.clock.now(), ground.store.principals.tokens()
        return {
            one.name: {
                "roles": [role.value for role in one.roles],
                "tenants": _tenants(one.tenants),
                "tokens": [_shown(token) for token in tokens if token.principal == one.name and token.in_force(now)],
            }
            for one in ground.store.principals.list()
        } or {"principals": "none: the owner of the data home acts in every role"}


@principal.command(epilog="Example: tidemill principal rotate r-17 --until 2026-12-31")
@click.argument("name")
@click.option("--until", type=click.DateTime(), help="When the old tokens end (UTC); at once when not given.")
@click.option("--days", type=click.IntRange(1, 3650), help="How long the new token lasts; as long as the old ones did.")
@reports
def rotate(name: str, until: datetime | None, days: int | None) -> Result:
    """Print a new token and let the old ones end."""
    with _opened() as (ground, authority):
        now = ground.clock.now()
        old_ends = now if until is None else until.replace(tzinfo=UTC)
        if old_ends < now:
            raise RecordError(f"--until {old_ends.isoformat()} is over; leave it out to end the old tokens at once")
        ends = authority.term(name) if days is None else now + timedelta(days=days)
        secret = authority.rotate(name, old_ends, ends)
    return {"principal": name, **_token(secret, ends)}


@principal.command(epilog="Example: tidemill principal revoke r-17")
@click.argument("name")
@click.option("--token", "token_id", help="Only the token whose id begins so; all when not given.")
@reports
def revoke(name: str, token_id: str | None) -> Result:
    """End a principal's tokens at once. They stay on record, since the audit names them."""
    with _opened() as (_, authority):
        ended = authority.revoke(name, token_id)
    return {"principal": name, "revoked": [token.id for token in ended]}


def _token(secret: str, until: datetime | None) -> Result:
    return {"token": secret, "until": None if until is None else until.isoformat(), "note": NOTE}


def _shown(token: Token) -> Result:
    return {"id": token.id, "until": None if token.until is None else token.until.isoformat()}


def _tenants(tenants: tuple[str, ...] | None) -> list[str] | str:
    return "all" if tenants is None else list(tenants)
