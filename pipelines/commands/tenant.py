"""``tidemill tenant keys``: the API keys that open intake and gateway.

A key is printed once, when it is made. A process that serves takes a change up within a second.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click

from governance.errors import RecordError
from ingestion.credentials import KeyUse
from pipelines.commands.output import Result, reports

if TYPE_CHECKING:
    from pipelines.tenant_keys import TenantKey, TenantKeys

TENANT = click.option("--tenant", required=True, help="Whose key it is.")
USE = click.option(
    "--for", "use", type=click.Choice([use.value for use in KeyUse]), default=KeyUse.TELEMETRY.value, show_default=True,
    help="What it opens: spans, feedback and the gateway, or only what people allow.",
)  # fmt: skip


@click.group()
def tenant() -> None:
    """What belongs to a tenant."""


@tenant.group()
def keys() -> None:
    """List, add, rotate and revoke the API keys of tenants. A key is printed when it is made and never again."""


@keys.command("list", epilog="Example: tidemill tenant keys list --json")
@click.option("--tenant", "only", help="Only this tenant's.")
@reports
def list_(only: str | None) -> Result:
    """Name each key by its id and its first signs, and say whose it is and until when it opens anything."""
    now = datetime.now(UTC)
    found = [entry for entry in _keys().entries() if only in (None, entry.tenant)]
    if only is not None and not found:
        raise RecordError(f"tenant {only!r} has no key; make one: tidemill tenant keys add --tenant {only}")
    return {**{entry.id: _row(entry, now) for entry in found}, "keys": len(found)}


@keys.command(epilog="Example: tidemill tenant keys add --tenant harbor --json")
@TENANT
@USE
@reports
def add(tenant: str, use: str) -> Result:
    """Make a further key. A tenant that had none can send from now on."""
    return _made(_keys().add(tenant, KeyUse(use)))


@keys.command(epilog="Example: tidemill tenant keys rotate --tenant harbor --until 2026-12-31")
@TENANT
@click.option("--until", type=click.DateTime(), help="When the old keys end (UTC); a week from now when not given.")
@USE
@reports
def rotate(tenant: str, until: datetime | None, use: str) -> Result:
    """Make a new key and let the others end: until then both open, so senders change over without a gap."""
    now = datetime.now(UTC)
    ends = now + timedelta(days=7) if until is None else until.replace(tzinfo=UTC)
    if ends < now:
        raise RecordError(f"--until {ends.isoformat()} is over; to close keys at once: tidemill tenant keys revoke")
    held = _keys()
    made = held.rotate(tenant, ends, KeyUse(use))
    mine = [entry for entry in held.entries() if entry.is_for(tenant, KeyUse(use)) and entry.id != made.id]
    others = {entry.id: _row(entry, now) for entry in mine}
    return {**_made(made), "old_keys": others}


@keys.command(epilog="Example: tidemill tenant keys revoke 3f9a01c2d4e5 --tenant harbor")
@click.argument("id_", metavar="ID")
@TENANT
@reports
def revoke(id_: str, tenant: str) -> Result:
    """Close a key at once, by its id."""
    gone = _keys().revoke(tenant, id_)
    return {"revoked": gone.id, "tenant": gone.tenant, "keys_left": _left(tenant)}


def _keys() -> TenantKeys:
    from pipelines.settings import load_settings
    from pipelines.tenant_keys import TenantKeys

    return TenantKeys(load_settings().keys / "tenants.json")


def _left(tenant_id: str) -> int:
    now = datetime.now(UTC)
    return sum(entry.tenant == tenant_id and entry.in_force(now) for entry in _keys().entries())


def _row(entry: TenantKey, now: datetime) -> Result:
    return {
        "tenant": entry.tenant,
        "for": entry.use.value,
        "key": entry.shown,
        "in_force": entry.in_force(now),
        "until": None if entry.until is None else entry.until.isoformat(),
        "made": None if entry.made is None else entry.made.isoformat(),
    }


def _made(entry: TenantKey) -> Result:
    note = "this key is not shown again; send it as x-tidemill-key or Authorization: Bearer"
    return {"tenant": entry.tenant, "for": entry.use.value, "id": entry.id, "key": entry.key, "note": note}
