"""``tidemill feedback``: what people said about runs."""

from __future__ import annotations

import sys

import click

from pipelines.commands.output import Result, reports


@click.group()
def feedback() -> None:
    """List, show and add what people said of runs. Read for debugging: what may not be debugged is not shown."""


@feedback.command("list", epilog="Example: tidemill feedback list --tenant harbor --json")
@click.option("--tenant", required=True, help="Tenant whose feedback is listed.")
@click.option("--most", default=20, show_default=True, type=click.IntRange(1, 10_000), help="How many, at most.")
@reports
def list_(tenant: str, most: int) -> Result:
    """List a tenant's newest feedback with the runs that it is joined to, and how much may not be shown, by reason."""
    from governance.records.rights import Purpose
    from pipelines.commands.person import known_tenant
    from pipelines.feedback import listing
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        return listing(mill, known_tenant(mill, tenant), Purpose.DEBUG, most)


@feedback.command(epilog="Example: tidemill feedback show vote-81 --tenant harbor --json")
@click.argument("id_", metavar="ID")
@click.option("--tenant", required=True, help="Tenant whose feedback it is.")
@reports
def show(id_: str, tenant: str) -> Result:
    """Show one feedback: what holds now, what was said before and when, and the runs that it is joined to.

    ID is the sender's id, or an id or the beginning of a key as `tidemill feedback list` prints them.
    """
    from governance.records.rights import Purpose
    from pipelines.commands.person import known_tenant
    from pipelines.feedback import show as shown
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        return shown(mill, known_tenant(mill, tenant), id_, Purpose.DEBUG)


@feedback.command(epilog="Example: tidemill feedback add --tenant harbor < feedback.json")
@click.option("--tenant", required=True, help="Tenant whose runs it is about.")
@reports
def add(tenant: str) -> Result:
    """Add what stands on standard input: one item as JSON, or a list of them, as POST /v1/feedback takes it.

    Fails when an item is refused, naming its field, and adds the others.
    """
    from pipelines.commands.person import known_tenant
    from pipelines.feedback import add as added
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        return added(mill, known_tenant(mill, tenant), sys.stdin.buffer.read(8 * 2**20))
