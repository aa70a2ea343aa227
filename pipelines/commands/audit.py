"""``tidemill audit``: who did what, when, in which role; checkpoints outside of the database; the verification."""

from __future__ import annotations

from pathlib import Path

import click

from pipelines.commands.output import Result, reports, reports_as, table

TENANT = click.option("--tenant", default=None, help="One tenant's chain; all when not given.")
_SHOWN = ("at", "actor", "role", "action", "target")


@click.group()
def audit() -> None:
    """Show who did what, anchor where each chain stands, and verify that nothing was changed."""


def _rows(result: Result) -> str:
    """One line for each event."""
    return "\n".join("  ".join(str(one[name]) for name in _SHOWN) for one in result["events"]) or "no events"


@audit.command("list", epilog="Example: tidemill audit list --tenant harbor --action erasure_finished")
@TENANT
@click.option("--by", default=None, help="By whom.")
@click.option("--action", default=None, help="Which act.")
@click.option("--last", default=100, type=click.IntRange(1), help="The newest so many of each tenant.")
@reports_as(_rows)
def list_(tenant: str | None, by: str | None, action: str | None, last: int) -> Result:
    """List who did what, when, in which role. People stand in it as salted commitments."""
    from pipelines.auditing import events
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        return {"events": events(mill, tenant, by=by, action=action, last=last)}


@audit.command(epilog="Example: tidemill audit export --out audit.jsonl")
@TENANT
@click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="File to write.")
@reports
def export(tenant: str | None, out: Path) -> Result:
    """Write every event with its position and link, one line of JSON each, for whoever verifies elsewhere."""
    from pipelines.auditing import write_events
    from pipelines.outside import outside
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        return {"file": str(out), "events": write_events(mill, tenant, outside(mill.settings.home, out))}


@audit.command(epilog="Example: tidemill audit checkpoint")
@TENANT
@reports
def checkpoint(tenant: str | None) -> Result:
    """Sign where each chain stands and keep that outside of the database."""
    from governance.signing import public_key
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        made = mill.auditing.checkpoint(tenant)
        return {
            "anchor": mill.settings.anchor,
            "public_key": public_key(mill.keys),
            "checkpoints": [one.plain() for one in made],
        }


def _verdict(result: Result) -> str:
    """The faults, each on a line, or that there is none."""
    lines = [f"{one['tenant_id']}  {one['kind']}  {one['position']}  {one['detail']}" for one in result["faults"]]
    return "\n".join(lines) or table({"whole": True, **result["chains"]})


@audit.command(epilog="Example: tidemill audit verify --json")
@TENANT
@click.option("--key", "keys", multiple=True, help="Public keys to trust, in hex digits; this installation's own ones.")
@reports_as(_verdict)
def verify(tenant: str | None, keys: tuple[str, ...]) -> Result:
    """Find every edit, deletion, insertion, swap, truncation and replacement, and where; fails when there is one."""
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        found = mill.auditing.verify(tenant, keys or None)
        tenants = mill.store.audit.tenants() if tenant is None else (tenant,)
        chains = {one: mill.store.audit.root(one).size for one in tenants}
    return {"ok": not found, "chains": chains, "faults": [one.plain() for one in found]}
