"""``tidemill trajectories``: what the agents did, in canonical form."""

from __future__ import annotations

import click

from pipelines.commands.output import Result, reports


@click.group()
def trajectories() -> None:
    """List and show what the agents did. Read for debugging: what may not be debugged is not shown."""


@trajectories.command("list", epilog="Example: tidemill trajectories list --tenant harbor --json")
@click.option("--tenant", required=True, help="Tenant whose agents' runs are listed.")
@click.option("--most", default=20, show_default=True, type=click.IntRange(1, 10_000), help="How many, at most.")
@reports
def list_(tenant: str, most: int) -> Result:
    """List a tenant's newest trajectories, and how many may not be shown, by reason."""
    from governance.records.rights import Purpose
    from pipelines.canonical import listing
    from pipelines.commands.person import known_tenant
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        return listing(mill.store, known_tenant(mill, tenant), Purpose.DEBUG, mill.clock.now(), most)


@trajectories.command(epilog="Example: tidemill trajectories show harbor/5b8efff798038103d269b633813fc60c --json")
@click.argument("id_", metavar="ID")
@reports
def show(id_: str) -> Result:
    """Show one trajectory: turns, tool calls, usage, flags, signals, release, and whose it is by keyed hash.

    ID is `tenant/trace`, as `tidemill trajectories list` and `tidemill ingest` print it.
    """
    from governance.records.rights import Purpose
    from pipelines.canonical import show as canonical
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        return canonical(mill.store, id_, Purpose.DEBUG, mill.clock.now())
